#include "firn/decode/raw/raw_decoder.h"

#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "firn/base/bytes.h"
#include "firn/decode/evolution.h"
#include "firn/decode/reasons.h"
#include "firn/decode/row_decoder.h"

namespace firn::decode {

using iceberg::NestedField;
using iceberg::TypeId;

namespace {

constexpr std::string_view kKey = "key";
constexpr std::string_view kValue = "value";

class RawReader : public RowReader {
 public:
  explicit RawReader(const BoundSchema& bound) : bound_(bound) {}

  Status Bind() {
    root_field_.name = "record";
    root_field_.required = true;
    root_field_.type = bound_.schema->as_struct();
    FIRN_ASSIGN(root_, Column::Make(root_field_, bound_.pool));
    if (bound_.scalar_column.empty()) {
      FIRN_ASSIGN(key_, Find(kKey));
    }
    const std::string value(bound_.scalar_column.empty() ? kValue : std::string_view(bound_.scalar_column));
    FIRN_ASSIGN(value_, Find(value));
    if (value_ != nullptr) return Ok();
    return Error(ErrorKind::kInvalidArgument,
                 fmt::format("format raw: the table has no column '{}' for the records' bytes", value))
        .WithRemedy(
            fmt::format("Add a binary column '{}', or declare a column with from: {}.", value, value));
  }

  RowOutcome Read(const record::RawBatch& raw, size_t i) override {
    const int64_t row = root_->length();
    ignored_ = 0;
    bool good = Append(*value_, raw.values[i], raw.arena, row);
    if (good && bound_.scalar_column.empty()) good = AppendKey(raw, i, row);
    if (good) good = CheckRequired(row);
    if (!good) {
      root_->Truncate(row);
      return RowOutcome::kBad;
    }
    root_->EndStruct();
    return RowOutcome::kRow;
  }

  const BoundSchema& bound() const override { return bound_; }
  Column& root() override { return *root_; }
  int32_t field_count() const override { return CountNamedFields(*root_field_.type); }
  const Failure& failure() const override { return failure_; }
  const Needs& needs() const override { return needs_; }
  int64_t unknown_fields_ignored() const override { return ignored_; }

 private:
  /// The column that takes `name`; null when there is none.
  Result<Column*> Find(std::string_view name) {
    for (const auto& child : root_->children()) {
      const auto mapping = bound_.mappings.find(child->field().id);
      const bool mapped = mapping != bound_.mappings.end() && !mapping->second.from.empty();
      if ((mapped ? mapping->second.from : child->field().name) != name) continue;
      if (mapping != bound_.mappings.end() && mapping->second.bytes_encoding != BytesEncoding::kDefault) {
        return Error(ErrorKind::kInvalidArgument,
                     fmt::format("format raw: column '{}' has an encoding, but bytes are kept as they are",
                                 child->field().name));
      }
      const TypeId type = child->type_id();
      if (type == TypeId::kBinary || type == TypeId::kString) return child.get();
      return Error(ErrorKind::kInvalidArgument,
                   fmt::format("format raw: column '{}' is {}, but bytes go to binary or string",
                               child->field().name, child->type().ToString()));
    }
    return nullptr;
  }

  bool AppendKey(const record::RawBatch& raw, size_t i, int64_t row) {
    if (key_ != nullptr) return Append(*key_, raw.keys[i], raw.arena, row);
    if (raw.keys[i].is_null()) return true;
    if (bound_.unknown_fields != UnknownFields::kDeadLetter) {
      ++ignored_;
      return true;
    }
    failure_ = {reason::kUnknownField, "field 'key': unknown field: no column takes it"};
    return false;
  }

  bool Append(Column& column, const record::Slice& slice, const record::Arena& arena, int64_t row) {
    column.Align(row);
    if (slice.is_null()) {
      if (column.required()) {
        failure_ = {
            reason::kNullRequired,
            fmt::format("field '{}': the column is required, but there are no bytes", column.field().name)};
        return false;
      }
      column.AppendNull();
      return true;
    }
    const std::string_view bytes = arena.View(slice.begin, slice.length);
    if (column.type_id() == TypeId::kString && !IsValidUtf8(bytes)) {
      failure_ = {
          reason::kInvalidUtf8,
          fmt::format("field '{}': not valid UTF-8, which a column of type string needs; binary takes "
                      "any bytes",
                      column.field().name)};
      return false;
    }
    column.AppendBytes(bytes.data(), static_cast<int64_t>(bytes.size()));
    return true;
  }

  bool CheckRequired(int64_t row) {
    for (Column* child : root_->required_children()) {
      if (child->length() == row + 1) continue;
      if (child->has_default()) {
        child->Align(row + 1);
        continue;
      }
      failure_ = {reason::kMissingRequired,
                  fmt::format("field '{}': the column is required, but raw records have only key and value",
                              child->field().name)};
      return false;
    }
    return true;
  }

  const BoundSchema bound_;
  NestedField root_field_;
  std::unique_ptr<Column> root_;
  Column* key_ = nullptr;
  Column* value_ = nullptr;
  Needs needs_;
  Failure failure_;
  int64_t ignored_ = 0;
};

NestedField ColumnOf(int32_t id, std::string_view name, bool is_text) {
  NestedField field;
  field.id = id;
  field.name = name;
  field.type = iceberg::Type::Primitive(is_text ? TypeId::kString : TypeId::kBinary);
  return field;
}

}  // namespace

Result<std::unique_ptr<Decoder>> MakeRawDecoder(const BoundSchema& bound) {
  return BindDecoder(bound, [](const BoundSchema& with_pool) -> Result<std::unique_ptr<Decoder>> {
    auto reader = std::make_unique<RawReader>(with_pool);
    FIRN_TRY(reader->Bind());
    return MakeRowDecoder(std::move(reader));
  });
}

InferredSchema RawSchema(const RawFormat& format) {
  InferredSchema inferred;
  inferred.schema = std::make_shared<const iceberg::Schema>(
      0, std::vector<NestedField>{ColumnOf(1, kKey, format.key_is_text),
                                  ColumnOf(2, kValue, format.value_is_text)});
  return inferred;
}

}  // namespace firn::decode
