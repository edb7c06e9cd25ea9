#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "firn/iceberg/model/json_access.h"
#include "firn/iceberg/model/literal.h"
#include "firn/iceberg/model/literal_json.h"
#include "firn/iceberg/model/schema.h"

namespace firn::iceberg {

namespace {

using nlohmann::json;

constexpr int kMaxTypeDepth = 100;

Result<TypePtr> ReadType(const json& value, int depth);

Result<std::shared_ptr<const Literal>> ReadDefault(const json& field, const char* key, const TypePtr& type) {
  const json* value = FindMember(field, key);
  if (value == nullptr) return std::shared_ptr<const Literal>();
  if (!type->is_primitive()) {
    return Error(ErrorKind::kUnsupported,
                 fmt::format("'{}' of a {} is not supported", key, type->ToString()));
  }
  FIRN_ASSIGN_CTX(Literal literal, LiteralFromJson(type, *value), key);
  return std::make_shared<const Literal>(std::move(literal));
}

Result<NestedField> ReadField(const json& value, int depth) {
  FIRN_TRY(RequireObject(value, "field"));
  NestedField field;
  FIRN_ASSIGN(field.name, GetString(value, "name"));
  FIRN_ASSIGN(field.id, GetInt32(value, "id"));
  FIRN_ASSIGN(field.required, GetBool(value, "required"));
  FIRN_ASSIGN(const json* type, GetMember(value, "type"));
  FIRN_ASSIGN_CTX(field.type, ReadType(*type, depth + 1), fmt::format("field '{}'", field.name));
  FIRN_ASSIGN(auto doc, FindString(value, "doc"));
  field.doc = doc.value_or("");
  FIRN_ASSIGN_CTX(field.initial_default, ReadDefault(value, "initial-default", field.type),
                  fmt::format("field '{}'", field.name));
  FIRN_ASSIGN_CTX(field.write_default, ReadDefault(value, "write-default", field.type),
                  fmt::format("field '{}'", field.name));
  return field;
}

Result<std::vector<NestedField>> ReadFields(const json& object, int depth) {
  FIRN_ASSIGN(const json* array, GetArray(object, "fields"));
  std::vector<NestedField> fields;
  fields.reserve(array->size());
  for (const json& item : *array) {
    FIRN_ASSIGN_CTX(NestedField field, ReadField(item, depth), fmt::format("fields[{}]", fields.size()));
    fields.push_back(std::move(field));
  }
  return fields;
}

Result<TypePtr> ReadList(const json& value, int depth) {
  FIRN_ASSIGN(const int32_t id, GetInt32(value, "element-id"));
  FIRN_ASSIGN(const bool required, GetBool(value, "element-required"));
  FIRN_ASSIGN(const json* element, GetMember(value, "element"));
  FIRN_ASSIGN_CTX(TypePtr type, ReadType(*element, depth + 1), "element");
  return Type::List(id, required, std::move(type));
}

Result<TypePtr> ReadMap(const json& value, int depth) {
  FIRN_ASSIGN(const int32_t key_id, GetInt32(value, "key-id"));
  FIRN_ASSIGN(const json* key, GetMember(value, "key"));
  FIRN_ASSIGN_CTX(TypePtr key_type, ReadType(*key, depth + 1), "key");
  FIRN_ASSIGN(const int32_t value_id, GetInt32(value, "value-id"));
  FIRN_ASSIGN(const bool required, GetBool(value, "value-required"));
  FIRN_ASSIGN(const json* item, GetMember(value, "value"));
  FIRN_ASSIGN_CTX(TypePtr value_type, ReadType(*item, depth + 1), "value");
  return Type::Map(key_id, std::move(key_type), value_id, required, std::move(value_type));
}

Result<TypePtr> ReadType(const json& value, int depth) {
  if (depth > kMaxTypeDepth)
    return Error(ErrorKind::kCorrupt, fmt::format("types nested deeper than {} levels", kMaxTypeDepth));
  if (value.is_string()) {
    Result<TypePtr> type = Type::ParsePrimitive(value.get_ref<const std::string&>());
    if (!type.ok()) return Error(ErrorKind::kCorrupt, type.error().message());
    return type;
  }
  if (!value.is_object()) return BadJson("type", "a string or an object", value);
  FIRN_ASSIGN(const std::string kind, GetString(value, "type"));
  if (kind == "list") return ReadList(value, depth);
  if (kind == "map") return ReadMap(value, depth);
  if (kind != "struct")
    return Error(ErrorKind::kCorrupt, fmt::format("'{}' is no nested type: struct, list and map are", kind));
  FIRN_ASSIGN(std::vector<NestedField> fields, ReadFields(value, depth));
  return Type::Struct(std::move(fields));
}

json FieldJson(const NestedField& field) {
  json value = {
      {"id", field.id}, {"name", field.name}, {"required", field.required}, {"type", ToJson(*field.type)}};
  if (!field.doc.empty()) value["doc"] = field.doc;
  if (field.initial_default) value["initial-default"] = ToJson(*field.initial_default);
  if (field.write_default) value["write-default"] = ToJson(*field.write_default);
  return value;
}

}  // namespace

json ToJson(const Type& type) {
  switch (type.id()) {
    case TypeId::kStruct: {
      json fields = json::array();
      for (const NestedField& field : type.fields()) fields.push_back(FieldJson(field));
      return {{"type", "struct"}, {"fields", std::move(fields)}};
    }
    case TypeId::kList:
      return {{"type", "list"},
              {"element-id", type.element().id},
              {"element-required", type.element().required},
              {"element", ToJson(*type.element().type)}};
    case TypeId::kMap:
      return {{"type", "map"},
              {"key-id", type.key().id},
              {"key", ToJson(*type.key().type)},
              {"value-id", type.value().id},
              {"value-required", type.value().required},
              {"value", ToJson(*type.value().type)}};
    default:
      return type.ToString();
  }
}

json ToJson(const Schema& schema) {
  json value = ToJson(*schema.as_struct());
  value["schema-id"] = schema.schema_id();
  if (!schema.identifier_field_ids().empty()) value["identifier-field-ids"] = schema.identifier_field_ids();
  return value;
}

Result<TypePtr> TypeFromJson(const json& value) { return ReadType(value, 0); }

Result<SchemaPtr> SchemaFromJson(const json& value) {
  FIRN_TRY(RequireObject(value, "schema"));
  FIRN_ASSIGN(const auto kind, FindString(value, "type"));
  if (kind.value_or("struct") != "struct")
    return Error(ErrorKind::kCorrupt, fmt::format("a schema is a struct, not a {}", *kind));
  FIRN_ASSIGN(const auto schema_id, FindInt32(value, "schema-id"));
  FIRN_ASSIGN(auto identifiers, FindInt32List(value, "identifier-field-ids"));
  FIRN_ASSIGN(std::vector<NestedField> fields, ReadFields(value, 0));
  return std::make_shared<const Schema>(schema_id.value_or(0), std::move(fields),
                                        std::move(identifiers).value_or(std::vector<int32_t>()));
}

}  // namespace firn::iceberg
