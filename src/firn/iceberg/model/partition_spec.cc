#include "firn/iceberg/model/partition_spec.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "firn/base/check.h"
#include "firn/base/url.h"
#include "firn/iceberg/model/field_text.h"
#include "firn/iceberg/model/json_access.h"

namespace firn::iceberg {

namespace {

using nlohmann::json;

std::string_view NameSuffix(TransformKind kind) {
  switch (kind) {
    case TransformKind::kBucket:
      return "_bucket";
    case TransformKind::kTruncate:
      return "_trunc";
    case TransformKind::kYear:
      return "_year";
    case TransformKind::kMonth:
      return "_month";
    case TransformKind::kDay:
      return "_day";
    case TransformKind::kHour:
      return "_hour";
    case TransformKind::kVoid:
      return "_null";
    case TransformKind::kIdentity:
    case TransformKind::kUnknown:
      return "";
  }
  return "";
}

bool IsTime(TransformKind kind) {
  return kind == TransformKind::kYear || kind == TransformKind::kMonth || kind == TransformKind::kDay ||
         kind == TransformKind::kHour;
}

/// Two fields of one source where the second adds nothing, as Java's builder sees it.
bool IsRedundant(const PartitionField& a, const PartitionField& b) {
  if (a.source_id != b.source_id) return false;
  return a.transform == b.transform || (IsTime(a.transform.kind()) && IsTime(b.transform.kind()));
}

std::string SourceProblem(const PartitionField& field, const Schema& schema) {
  const NestedField* source = schema.FindById(field.source_id);
  if (source == nullptr)
    return fmt::format("partition field '{}' has source id {}, which the schema does not have", field.name,
                       field.source_id);
  if (field.transform.kind() == TransformKind::kUnknown) {
    return fmt::format("partition field '{}' has the unknown transform '{}'", field.name,
                       field.transform.ToString());
  }
  if (!field.transform.CanApply(*source->type)) {
    return fmt::format("partition field '{}': {} does not take column '{}' of type {}", field.name,
                       field.transform.ToString(), schema.FullName(source->id), source->type->ToString());
  }
  return "";
}

std::string NameProblem(const PartitionField& field, const Schema& schema) {
  if (field.name.empty()) return fmt::format("partition field {} has no name", field.field_id);
  const NestedField* column = schema.FindByName(field.name);
  const bool identity_of_it = field.transform.kind() == TransformKind::kIdentity && column != nullptr &&
                              column->id == field.source_id;
  if (column != nullptr && !identity_of_it && field.transform.kind() != TransformKind::kVoid) {
    return fmt::format("partition field '{}' has the name of another column", field.name);
  }
  return "";
}

Result<PartitionField> FieldFromJson(const json& value, int32_t next_id) {
  FIRN_TRY(RequireObject(value, "partition field"));
  PartitionField field;
  FIRN_ASSIGN(field.name, GetString(value, "name"));
  FIRN_ASSIGN(const std::string transform, GetString(value, "transform"));
  FIRN_ASSIGN(field.transform, Transform::ParseJson(transform));
  FIRN_ASSIGN(const auto field_id, FindInt32(value, "field-id"));
  field.field_id = field_id.value_or(next_id);
  FIRN_ASSIGN(const auto sources, FindInt32List(value, "source-ids"));
  if (sources && sources->size() > 1) {
    return Error(ErrorKind::kUnsupported,
                 fmt::format("partition field '{}' has several source columns", field.name));
  }
  if (sources && sources->size() == 1 && FindMember(value, "source-id") == nullptr) {
    field.source_id = sources->front();
  } else {
    FIRN_ASSIGN(field.source_id, GetInt32(value, "source-id"));
  }
  return field;
}

}  // namespace

bool PartitionSpec::is_unpartitioned() const {
  return std::ranges::all_of(
      fields, [](const PartitionField& field) { return field.transform.kind() == TransformKind::kVoid; });
}

bool PartitionSpec::IsCompatible(const PartitionSpec& other) const {
  return std::ranges::equal(fields, other.fields, [](const PartitionField& a, const PartitionField& b) {
    return a.source_id == b.source_id && a.name == b.name && a.transform == b.transform;
  });
}

Result<TypePtr> PartitionSpec::PartitionType(const Schema& schema) const {
  std::vector<NestedField> types;
  for (const PartitionField& field : fields) {
    const NestedField* source = schema.FindById(field.source_id);
    const TypePtr source_type = source == nullptr ? Type::Primitive(TypeId::kUnknown) : source->type;
    if (source != nullptr && field.transform.kind() != TransformKind::kUnknown &&
        !field.transform.CanApply(*source_type)) {
      return Error(ErrorKind::kCorrupt, SourceProblem(field, schema));
    }
    NestedField type;
    type.id = field.field_id;
    type.name = field.name;
    type.type = field.transform.ResultType(source_type);
    types.push_back(std::move(type));
  }
  return Type::Struct(std::move(types));
}

namespace {

// File systems take names of up to 255 bytes. The path is informative (the manifest holds the values), so a
// longer segment keeps its beginning and tells itself apart by a hash of the whole.
constexpr size_t kMaxSegmentBytes = 200;
constexpr size_t kKeptSegmentBytes = 180;

std::string Shortened(std::string segment) {
  if (segment.size() <= kMaxSegmentBytes) return segment;
  return fmt::format("{}-{:08x}{:08x}", segment.substr(0, kKeptSegmentBytes),
                     static_cast<uint32_t>(Murmur3(segment)),
                     static_cast<uint32_t>(Murmur3(segment.substr(segment.size() / 2))));
}

}  // namespace

std::string PartitionPath(const PartitionSpec& spec, const PartitionValues& partition) {
  FIRN_CHECK(spec.fields.size() == partition.values.size(), "one partition value per field of the spec");
  std::string path;
  for (size_t i = 0; i < spec.fields.size(); ++i) {
    if (i > 0) path += '/';
    const PartitionField& field = spec.fields[i];
    path += Shortened(FormEncode(field.name) + '=' +
                      FormEncode(field.transform.ToHumanString(partition.values[i])));
  }
  return path;
}

Result<PartitionField> ParsePartitionField(std::string_view text, const Schema& schema) {
  FIRN_ASSIGN_CTX(TransformOfColumn parsed, ParseTransformOfColumn(text, schema), "partition field");
  PartitionField field;
  field.source_id = parsed.source->id;
  field.name = parsed.source_name + std::string(NameSuffix(parsed.transform.kind()));
  field.transform = std::move(parsed.transform);
  return field;
}

Status ValidatePartitionSpec(const PartitionSpec& spec, const Schema& schema) {
  std::vector<std::string> problems;
  const auto report = [&problems](std::string problem) {
    if (!problem.empty()) problems.push_back(std::move(problem));
  };
  std::set<std::string> names;
  std::set<int32_t> ids;
  for (size_t i = 0; i < spec.fields.size(); ++i) {
    const PartitionField& field = spec.fields[i];
    report(SourceProblem(field, schema));
    report(NameProblem(field, schema));
    if (!names.insert(field.name).second)
      report(fmt::format("partition field name '{}' is used twice", field.name));
    if (field.field_id != 0 && !ids.insert(field.field_id).second)
      report(fmt::format("partition field id {} is used twice", field.field_id));
    for (size_t j = 0; j < i; ++j) {
      if (IsRedundant(spec.fields[j], field))
        report(fmt::format("partition field '{}' is redundant beside '{}'", field.name, spec.fields[j].name));
    }
  }
  if (problems.empty()) return Ok();
  return Error(ErrorKind::kInvalidArgument, fmt::format("partitioning: {}", fmt::join(problems, "; ")));
}

json FieldsToJson(const PartitionSpec& spec) {
  json fields = json::array();
  for (const PartitionField& field : spec.fields) {
    fields.push_back({{"name", field.name},
                      {"transform", field.transform.ToString()},
                      {"source-id", field.source_id},
                      {"field-id", field.field_id}});
  }
  return fields;
}

json ToJson(const PartitionSpec& spec) { return {{"spec-id", spec.spec_id}, {"fields", FieldsToJson(spec)}}; }

Result<std::vector<PartitionField>> PartitionFieldsFromJson(const json& value) {
  if (!value.is_array()) return BadJson("fields", "a list", value);
  std::vector<PartitionField> fields;
  for (const json& item : value) {
    const auto next_id = static_cast<int32_t>(kFirstPartitionFieldId + fields.size());
    FIRN_ASSIGN_CTX(PartitionField field, FieldFromJson(item, next_id),
                    fmt::format("fields[{}]", fields.size()));
    fields.push_back(std::move(field));
  }
  return fields;
}

Result<PartitionSpec> PartitionSpecFromJson(const json& value) {
  FIRN_TRY(RequireObject(value, "partition spec"));
  PartitionSpec spec;
  FIRN_ASSIGN(spec.spec_id, GetInt32(value, "spec-id"));
  FIRN_ASSIGN(const json* fields, GetArray(value, "fields"));
  FIRN_ASSIGN(spec.fields, PartitionFieldsFromJson(*fields));
  return spec;
}

}  // namespace firn::iceberg
