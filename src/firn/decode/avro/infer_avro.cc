#include "firn/decode/avro/infer_avro.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "firn/decode/avro/avro_types.h"
#include "firn/decode/decoder.h"
#include "firn/iceberg/model/schema.h"

namespace firn::decode {

using iceberg::NestedField;
using iceberg::Type;
using iceberg::TypeId;
using iceberg::TypePtr;

namespace {

constexpr size_t kMaxColumns = 1000;

/// The type that takes the values of both; null when there is none.
TypePtr Join(const TypePtr& a, const TypePtr& b);

std::vector<NestedField> JoinFields(std::vector<NestedField> fields, const std::vector<NestedField>& more,
                                    bool* good) {
  for (const NestedField& field : more) {
    const auto mine = std::find_if(fields.begin(), fields.end(),
                                   [&](const NestedField& known) { return known.name == field.name; });
    if (mine == fields.end()) {
      fields.push_back(field);
      continue;
    }
    TypePtr joined = Join(mine->type, field.type);
    *good = *good && joined != nullptr;
    if (joined != nullptr) mine->type = std::move(joined);
    if (!field.doc.empty()) mine->doc = field.doc;
  }
  return fields;
}

TypePtr Join(const TypePtr& a, const TypePtr& b) {
  if (a->Equals(*b) || iceberg::CanPromote(*b, *a, iceberg::kPromotionsOfEveryTable)) return a;
  if (iceberg::CanPromote(*a, *b, iceberg::kPromotionsOfEveryTable)) return b;
  if (a->id() != b->id() || a->is_primitive()) return nullptr;
  bool good = true;
  std::vector<NestedField> fields = JoinFields(a->fields(), b->fields(), &good);
  if (!good) return nullptr;
  switch (a->id()) {
    case TypeId::kList:
      return Type::List(0, false, fields[0].type);
    case TypeId::kMap:
      return Type::Map(0, fields[0].type, 0, false, fields[1].type);
    default:
      return Type::Struct(std::move(fields));
  }
}

std::string Lower(std::string text) {
  for (char& c : text) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  return text;
}

/// Which writer schemas a sample names, each once.
class SampleSchemas {
 public:
  explicit SampleSchemas(const std::shared_ptr<WriterSchemas>& schemas) : schemas_(schemas) {}

  Status Add(const record::RawBatch& raw) {
    if (raw.file != nullptr && !raw.file->schema.empty()) {
      if (texts_.insert(raw.file->schema).second)
        of_files_.push_back(MakeWriterSchema(raw.file->schema, {}, raw.file->location));
      records_ += static_cast<int64_t>(raw.size());
      return Ok();
    }
    for (size_t i = 0; i < raw.size(); ++i) {
      if (!raw.values[i].is_null()) FIRN_TRY(AddRecord(raw.value(i)));
    }
    return Ok();
  }

  /// Older ids first, then files in the order in which they came.
  Result<std::vector<WriterSchemaPtr>> Take() {
    std::vector<WriterSchemaPtr> all;
    for (auto& [key, writer] : by_key_) all.push_back(std::move(writer));
    std::ranges::move(of_files_, std::back_inserter(all));
    std::erase_if(all, [](const WriterSchemaPtr& writer) { return writer->schema == nullptr; });
    if (all.empty() && schemas_ != nullptr) {
      auto latest = schemas_->Latest();
      if (!latest.ok() && latest.error().kind() != ErrorKind::kNotFound) return std::move(latest).error();
      if (latest.ok() && (*latest)->schema != nullptr) all.push_back(*std::move(latest));
    }
    return all;
  }

  int64_t records() const { return records_; }
  int64_t bad_records() const { return bad_records_; }
  const std::string& trouble() const { return trouble_; }

 private:
  Status AddRecord(std::string_view value) {
    uint64_t key = 0;
    std::string_view datum;
    Failure failure;
    if (schemas_ == nullptr || !schemas_->Unframe(value, &key, &datum, &failure)) return Bad(failure.message);
    auto known = by_key_.find(key);
    if (known == by_key_.end()) {
      FIRN_ASSIGN(WriterSchemaPtr writer, schemas_->Find(key));
      known = by_key_.emplace(key, std::move(writer)).first;
    }
    if (known->second->schema == nullptr) return Bad(known->second->failure.message);
    ++records_;
    return Ok();
  }

  Status Bad(const std::string& why) {
    ++bad_records_;
    if (trouble_.empty()) trouble_ = why;
    return Ok();
  }

  const std::shared_ptr<WriterSchemas>& schemas_;
  std::map<uint64_t, WriterSchemaPtr> by_key_;
  std::set<std::string> texts_;
  std::vector<WriterSchemaPtr> of_files_;
  int64_t records_ = 0;
  int64_t bad_records_ = 0;
  std::string trouble_;  ///< of the first bad record
};

/// Joins the fields of writer schemas into columns.
class ColumnJoiner {
 public:
  Status Add(const avro::Node& writer) {
    for (const avro::Field& field : writer.fields) FIRN_TRY_CTX(AddField(field), Place(field));
    return Ok();
  }

  Result<InferredSchema> Finish() {
    FIRN_TRY(CheckNames());
    int32_t next_id = 1;
    result_.schema = iceberg::AssignFreshIds(iceberg::Schema(0, std::move(columns_)), next_id);
    return std::move(result_);
  }

  bool empty() const { return columns_.empty(); }

 private:
  static std::string Place(const avro::Field& field) { return fmt::format("field '{}'", field.name); }

  Status AddField(const avro::Field& field) {
    auto type = ColumnTypeOf(*field.type);
    if (!type.ok()) {
      return std::move(type).error().WithRemedy(
          "Declare the columns under 'columns:' without it; the field is then an unknown one.");
    }
    if (*type == nullptr) return Ok();
    if (iceberg::IsReservedColumnName(field.name)) return LeaveOut(field, "Iceberg reserves the name");
    if (field.name == kRescuedColumn || field.name == kKafkaColumn)
      return LeaveOut(field, "Firn uses the name itself");
    NestedField* column = Find(field);
    if (column == nullptr) {
      column = &columns_.emplace_back();
      column->name = field.name;
      column->type = *type;
    } else if (TypePtr joined = Join(column->type, *type); joined != nullptr) {
      column->type = std::move(joined);
    } else {
      result_.notes.push_back(
          fmt::format("{}: {} in one schema, but {} in another: those will be bad records", Place(field),
                      column->type->ToString(), (*type)->ToString()));
    }
    if (!field.doc.empty()) column->doc = field.doc;
    return Ok();
  }

  /// By name; a renamed field is where its alias is.
  NestedField* Find(const avro::Field& field) {
    const auto named = [&](const std::string& name) -> NestedField* {
      const auto found = std::find_if(columns_.begin(), columns_.end(),
                                      [&](const NestedField& column) { return column.name == name; });
      return found == columns_.end() ? nullptr : &*found;
    };
    if (NestedField* same = named(field.name)) return same;
    for (const std::string& alias : field.aliases) {
      if (NestedField* renamed = named(alias)) return renamed;
    }
    return nullptr;
  }

  Status LeaveOut(const avro::Field& field, std::string_view why) {
    std::string note = fmt::format("{}: left out: {}", Place(field), why);
    if (std::find(result_.notes.begin(), result_.notes.end(), note) == result_.notes.end())
      result_.notes.push_back(std::move(note));
    return Ok();
  }

  Status CheckNames() const {
    if (columns_.size() > kMaxColumns) {
      return Error(ErrorKind::kInvalidArgument, fmt::format("the schemas have {} fields", columns_.size()))
          .WithRemedy("Declare the columns under 'columns:'.");
    }
    std::map<std::string, std::string> by_lower;
    for (const NestedField& column : columns_) {
      const auto [other, is_new] = by_lower.try_emplace(Lower(column.name), column.name);
      if (is_new) continue;
      return Error(ErrorKind::kInvalidArgument,
                   fmt::format("the fields '{}' and '{}' differ only in case", other->second, column.name))
          .WithRemedy(
              "Declare the columns under 'columns:' and give each the field it comes from with 'from:'.");
    }
    return Ok();
  }

  std::vector<NestedField> columns_;
  InferredSchema result_;
};

}  // namespace

Result<InferredSchema> InferAvroSchema(const std::vector<record::RawBatch>& sample,
                                       const std::shared_ptr<WriterSchemas>& schemas) {
  SampleSchemas seen(schemas);
  for (const record::RawBatch& raw : sample) FIRN_TRY(seen.Add(raw));
  FIRN_ASSIGN(const std::vector<WriterSchemaPtr> writers, seen.Take());
  ColumnJoiner joiner;
  for (const WriterSchemaPtr& writer : writers) FIRN_TRY(joiner.Add(writer->schema->root()));
  if (joiner.empty()) {
    return Error(ErrorKind::kInvalidArgument,
                 fmt::format("no schema with a field was found for {} records{}{}",
                             seen.records() + seen.bad_records(), seen.trouble().empty() ? "" : ": ",
                             seen.trouble()))
        .WithRemedy("Declare the columns under 'columns:'.");
  }
  FIRN_ASSIGN(InferredSchema inferred, joiner.Finish());
  inferred.records = seen.records();
  inferred.bad_records = seen.bad_records();
  return inferred;
}

}  // namespace firn::decode
