#include "firn/decode/avro/avro_key_reader.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

#include "firn/avro/cursor.h"
#include "firn/decode/wanted_fields.h"

namespace firn::decode {

namespace {

constexpr size_t kMaxSchemas = 1000;

/// Walks through one datum up to the last field that is wanted.
class Walk {
 public:
  Walk(avro::Cursor cursor, std::vector<std::optional<std::string_view>>* values,
       std::vector<std::string>* texts)
      : cursor_(std::move(cursor)), values_(*values), texts_(*texts) {}

  bool Record(const avro::Node& record, const WantedField& wanted) {
    for (const avro::Field& field : record.fields) {
      const WantedField* member = Named(field, wanted);
      if (!(member == nullptr ? cursor_.Skip(*field.type) : Value(*field.type, *member))) return false;
    }
    return true;
  }

 private:
  static const WantedField* Named(const avro::Field& field, const WantedField& wanted) {
    const WantedField* found = wanted.Find(field.name);
    for (size_t i = 0; found == nullptr && i < field.aliases.size(); ++i)
      found = wanted.Find(field.aliases[i]);
    return found;
  }

  bool Value(const avro::Node& type, const WantedField& wanted) {
    if (type.kind == avro::Kind::kUnion) {
      size_t branch = 0;
      return cursor_.ReadIndex(type.branches.size(), &branch) && Value(*type.branches[branch], wanted);
    }
    if (type.kind == avro::Kind::kRecord && !wanted.below.empty()) return Record(type, wanted);
    if (!wanted.field) return cursor_.Skip(type);
    switch (type.kind) {
      case avro::Kind::kBoolean: {
        bool value = false;
        return cursor_.ReadBoolean(&value) && Set(*wanted.field, value ? "true" : "false");
      }
      case avro::Kind::kInt:
      case avro::Kind::kLong: {
        int64_t value = 0;
        if (!cursor_.ReadLong(&value)) return false;
        texts_[*wanted.field] = std::to_string(value);
        return Set(*wanted.field, texts_[*wanted.field]);
      }
      case avro::Kind::kString: {
        std::string_view text;
        return cursor_.ReadBytes(&text) && Set(*wanted.field, text);
      }
      case avro::Kind::kEnum: {
        size_t symbol = 0;
        return cursor_.ReadIndex(type.symbols.size(), &symbol) && Set(*wanted.field, type.symbols[symbol]);
      }
      default:
        return cursor_.Skip(type);
    }
  }

  bool Set(size_t field, std::string_view text) {
    values_[field] = text;
    return true;
  }

  avro::Cursor cursor_;
  std::vector<std::optional<std::string_view>>& values_;
  std::vector<std::string>& texts_;
};

class AvroKeyReader final : public KeyReader {
 public:
  AvroKeyReader(const std::vector<std::string>& paths, std::shared_ptr<WriterSchemas> schemas)
      : root_(TreeOf(paths)), schemas_(std::move(schemas)), values_(paths.size()), texts_(paths.size()) {}

  Status Enter(const record::RawBatch& raw) override {
    of_file_ = nullptr;
    if (raw.file != nullptr && !raw.file->schema.empty()) {
      of_file_ = OfFile(raw.file->schema);
      return Ok();
    }
    return schemas_ == nullptr ? Ok() : Prepare(raw);
  }

  const std::vector<std::optional<std::string_view>>& Read(const record::RawBatch& raw,
                                                           size_t record) override {
    std::ranges::fill(values_, std::nullopt);
    if (raw.values[record].is_null()) return values_;
    std::string_view datum = raw.value(record);
    const avro::Schema* schema = of_file_ != nullptr ? of_file_->schema.get() : Find(datum, &datum);
    if (schema == nullptr) return values_;
    if (!Walk(avro::Cursor(datum), &values_, &texts_).Record(schema->root(), root_))
      std::ranges::fill(values_, std::nullopt);
    return values_;
  }

 private:
  WriterSchemaPtr OfFile(const std::string& text) {
    if (by_text_.size() > kMaxSchemas) by_text_.clear();
    WriterSchemaPtr& schema = by_text_[text];
    if (schema == nullptr) schema = MakeWriterSchema(text, {}, "the file's schema");
    return schema;
  }

  /// Has the schema of every record at hand.
  Status Prepare(const record::RawBatch& raw) {
    if (std::exchange(is_prepared_, false)) {
      if (by_key_.size() > kMaxSchemas) by_key_.clear();
      // What cannot be used today may be there tomorrow: it is the cache that remembers for how long.
      std::erase_if(by_key_, [](const auto& entry) { return entry.second->schema == nullptr; });
    }
    for (size_t i = 0; i < raw.size(); ++i) {
      uint64_t key = 0;
      std::string_view datum;
      if (raw.values[i].is_null() || !schemas_->Unframe(raw.value(i), &key, &datum, &unframed_) ||
          by_key_.contains(key))
        continue;
      FIRN_ASSIGN(WriterSchemaPtr schema, schemas_->Find(key));
      by_key_.emplace(key, std::move(schema));
    }
    is_prepared_ = true;
    return Ok();
  }

  const avro::Schema* Find(std::string_view bytes, std::string_view* datum) {
    uint64_t key = 0;
    if (schemas_ == nullptr || !schemas_->Unframe(bytes, &key, datum, &unframed_)) return nullptr;
    const auto found = by_key_.find(key);
    return found == by_key_.end() ? nullptr : found->second->schema.get();
  }

  const WantedField root_;
  const std::shared_ptr<WriterSchemas> schemas_;
  std::unordered_map<uint64_t, WriterSchemaPtr> by_key_;
  std::map<std::string, WriterSchemaPtr> by_text_;
  bool is_prepared_ = true;  ///< false: what was found is kept, as the same records are prepared again
  WriterSchemaPtr of_file_;
  Failure unframed_;
  std::vector<std::optional<std::string_view>> values_;
  std::vector<std::string> texts_;
};

}  // namespace

Result<std::unique_ptr<KeyReader>> MakeAvroKeyReader(const std::vector<std::string>& paths,
                                                     std::shared_ptr<WriterSchemas> schemas) {
  return std::unique_ptr<KeyReader>(std::make_unique<AvroKeyReader>(paths, std::move(schemas)));
}

}  // namespace firn::decode
