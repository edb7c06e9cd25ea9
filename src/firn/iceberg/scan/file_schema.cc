#include "firn/iceberg/scan/file_schema.h"

#include <arrow/type.h>
#include <parquet/arrow/schema.h>

#include <algorithm>
#include <utility>

#include "firn/iceberg/scan/arrow_schema.h"

namespace firn::iceberg {

namespace {

using parquet::arrow::SchemaField;

FileField Convert(const SchemaField& source) {
  FileField field{.id = FieldIdOf(*source.field), .name = source.field->name(), .type = source.field->type()};
  const bool is_map = field.type->id() == arrow::Type::MAP && source.children.size() == 1;
  const auto& children =
      is_map ? source.children[0].children : source.children;  // a map's entries are a struct
  for (const SchemaField& child : children) {
    field.children.push_back(Convert(child));
    const auto& leaves = field.children.back().leaves;
    field.leaves.insert(field.leaves.end(), leaves.begin(), leaves.end());
  }
  if (source.is_leaf()) field.leaves.push_back(source.column_index);
  return field;
}

bool HasIds(const std::vector<FileField>& fields) {
  return std::any_of(fields.begin(), fields.end(),
                     [](const FileField& field) { return field.id.has_value() || HasIds(field.children); });
}

/// Names of children in a mapping are those of the format, whatever the file calls them.
std::string MappedName(const FileField& parent, size_t child) {
  switch (parent.type->id()) {
    case arrow::Type::LIST:
    case arrow::Type::LARGE_LIST:
      return "element";
    case arrow::Type::MAP:
      return child == 0 ? "key" : "value";
    default:
      return parent.children[child].name;
  }
}

void ApplyMapping(FileField& field, const MappedField* mapped) {
  if (mapped == nullptr) return;
  field.id = mapped->field_id;
  for (size_t i = 0; i < field.children.size(); ++i) {
    ApplyMapping(field.children[i], FindMapped(mapped->fields, MappedName(field, i)));
  }
}

}  // namespace

Result<std::vector<FileField>> ReadFileSchema(const parquet::arrow::SchemaManifest& manifest,
                                              const NameMapping* mapping) {
  std::vector<FileField> fields;
  for (const SchemaField& field : manifest.schema_fields) fields.push_back(Convert(field));
  if (fields.empty() || HasIds(fields)) return fields;
  if (mapping == nullptr) {
    return Error(ErrorKind::kUnsupported,
                 "the file has no field ids and the table no property schema.name-mapping.default");
  }
  for (FileField& field : fields) ApplyMapping(field, FindMapped(mapping->fields, field.name));
  return fields;
}

const FileField* FindFileField(const std::vector<FileField>& fields, int32_t id) {
  const auto found =
      std::find_if(fields.begin(), fields.end(), [id](const FileField& field) { return field.id == id; });
  return found == fields.end() ? nullptr : &*found;
}

}  // namespace firn::iceberg
