#include "firn/iceberg/scan/name_mapping.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

namespace firn::iceberg {

namespace {

using Json = nlohmann::json;

constexpr int kMaxDepth = 200;

Error Bad(std::string_view what) {
  return Error(ErrorKind::kCorrupt, "schema.name-mapping.default: " + std::string(what));
}

Result<std::vector<MappedField>> ParseFields(const Json& json, int depth);

Status ParseNames(const Json& json, MappedField& field) {
  const auto names = json.find("names");
  if (names == json.end() || !names->is_array()) return Bad("a field has no list 'names'");
  for (const Json& name : *names) {
    if (!name.is_string()) return Bad("a name is not a text");
    field.names.push_back(name.get<std::string>());
  }
  return Ok();
}

Result<MappedField> ParseField(const Json& json, int depth) {
  if (!json.is_object()) return Bad("a field is not an object");
  MappedField field;
  FIRN_TRY(ParseNames(json, field));
  if (const auto id = json.find("field-id"); id != json.end() && !id->is_null()) {
    if (!id->is_number_integer()) return Bad("a field-id is not an integer");
    field.field_id = id->get<int32_t>();
  }
  if (const auto children = json.find("fields"); children != json.end() && !children->is_null()) {
    FIRN_ASSIGN(field.fields, ParseFields(*children, depth + 1));
  }
  return field;
}

Result<std::vector<MappedField>> ParseFields(const Json& json, int depth) {
  if (!json.is_array()) return Bad("expected a list of fields");
  if (depth > kMaxDepth) return Bad("nested too deeply");
  std::vector<MappedField> fields;
  for (const Json& item : json) {
    FIRN_ASSIGN(auto field, ParseField(item, depth));
    fields.push_back(std::move(field));
  }
  return fields;
}

}  // namespace

Result<NameMapping> ParseNameMapping(std::string_view text) {
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded()) return Bad("not JSON");
  NameMapping mapping;
  FIRN_ASSIGN(mapping.fields, ParseFields(json, 0));
  return mapping;
}

const MappedField* FindMapped(const std::vector<MappedField>& fields, std::string_view name) {
  const auto found = std::find_if(fields.begin(), fields.end(), [&](const MappedField& field) {
    return std::find(field.names.begin(), field.names.end(), name) != field.names.end();
  });
  return found == fields.end() ? nullptr : &*found;
}

}  // namespace firn::iceberg
