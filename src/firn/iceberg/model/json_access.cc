#include "firn/iceberg/model/json_access.h"

#include <limits>

#include <fmt/format.h>

namespace firn::iceberg {

namespace {

using nlohmann::json;

Error Missing(const char* key) { return Error(ErrorKind::kCorrupt, fmt::format("'{}' is missing", key)); }

/// Whether brackets outside of strings nest deeper than allowed. Text that is not JSON may give either
/// answer.
bool TooDeep(std::string_view text) {
  int depth = 0;
  bool in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{' || c == '[') {
      if (++depth > kMaxJsonDepth) return true;
    } else if (c == '}' || c == ']') {
      --depth;
    }
  }
  return false;
}

bool AsInt64(const json& value, int64_t& out) {
  if (value.is_number_unsigned()) {
    const auto number = value.get<uint64_t>();
    if (number > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) return false;
    out = static_cast<int64_t>(number);
    return true;
  }
  if (!value.is_number_integer()) return false;
  out = value.get<int64_t>();
  return true;
}

bool AsInt32(const json& value, int32_t& out) {
  int64_t wide = 0;
  if (!AsInt64(value, wide) || wide < std::numeric_limits<int32_t>::min() ||
      wide > std::numeric_limits<int32_t>::max())
    return false;
  out = static_cast<int32_t>(wide);
  return true;
}

template <typename T>
Result<T> Require(Result<std::optional<T>> found, const char* key) {
  if (!found.ok()) return std::move(found).error();
  if (!found->has_value()) return Missing(key);
  return std::move(**found);
}

}  // namespace

Error BadJson(std::string_view key, std::string_view expected, const json& found) {
  return Error(ErrorKind::kCorrupt,
               fmt::format("'{}' must be {}, found {}", key, expected, found.type_name()));
}

Result<json> ParseJson(std::string_view text) {
  if (TooDeep(text))
    return Error(ErrorKind::kCorrupt, fmt::format("JSON nested deeper than {} levels", kMaxJsonDepth));
  try {
    return json::parse(text);
  } catch (const json::exception& e) {
    return Error(ErrorKind::kCorrupt, fmt::format("not JSON: {}", e.what()));
  }
}

Result<std::string> DumpJson(const json& value) {
  try {
    return value.dump();
  } catch (const json::exception& e) {
    return Error(ErrorKind::kInvalidArgument, fmt::format("cannot be written as JSON: {}", e.what()));
  }
}

Status RequireObject(const json& value, std::string_view what) {
  if (!value.is_object()) return BadJson(what, "an object", value);
  return Ok();
}

const json* FindMember(const json& object, const char* key) {
  const auto it = object.find(key);
  return it == object.end() || it->is_null() ? nullptr : &*it;
}

Result<std::optional<int64_t>> FindInt64(const json& object, const char* key) {
  const json* value = FindMember(object, key);
  if (value == nullptr) return std::optional<int64_t>();
  int64_t number = 0;
  if (!AsInt64(*value, number)) return BadJson(key, "an integer of 64 bits", *value);
  return std::optional<int64_t>(number);
}

Result<std::optional<int32_t>> FindInt32(const json& object, const char* key) {
  const json* value = FindMember(object, key);
  if (value == nullptr) return std::optional<int32_t>();
  int32_t number = 0;
  if (!AsInt32(*value, number)) return BadJson(key, "an integer of 32 bits", *value);
  return std::optional<int32_t>(number);
}

Result<std::optional<bool>> FindBool(const json& object, const char* key) {
  const json* value = FindMember(object, key);
  if (value == nullptr) return std::optional<bool>();
  if (!value->is_boolean()) return BadJson(key, "true or false", *value);
  return std::optional<bool>(value->get<bool>());
}

Result<std::optional<std::string>> FindString(const json& object, const char* key) {
  const json* value = FindMember(object, key);
  if (value == nullptr) return std::optional<std::string>();
  if (!value->is_string()) return BadJson(key, "a string", *value);
  return std::optional<std::string>(value->get_ref<const std::string&>());
}

Result<const json*> FindArray(const json& object, const char* key) {
  const json* value = FindMember(object, key);
  if (value != nullptr && !value->is_array()) return BadJson(key, "a list", *value);
  return value;
}

Result<std::optional<std::vector<int32_t>>> FindInt32List(const json& object, const char* key) {
  FIRN_ASSIGN(const json* array, FindArray(object, key));
  if (array == nullptr) return std::optional<std::vector<int32_t>>();
  std::vector<int32_t> numbers;
  for (const json& item : *array) {
    int32_t number = 0;
    if (!AsInt32(item, number)) return BadJson(key, "a list of integers", item);
    numbers.push_back(number);
  }
  return std::optional(std::move(numbers));
}

Result<std::optional<std::map<std::string, std::string>>> FindStringMap(const json& object, const char* key) {
  using Map = std::map<std::string, std::string>;
  const json* value = FindMember(object, key);
  if (value == nullptr) return std::optional<Map>();
  if (!value->is_object()) return BadJson(key, "an object of strings", *value);
  Map map;
  for (const auto& [name, item] : value->items()) {
    if (!item.is_string()) return BadJson(fmt::format("{}.{}", key, name), "a string", item);
    map.emplace_hint(map.end(), name, item.get_ref<const std::string&>());
  }
  return std::optional(std::move(map));
}

Result<const json*> GetMember(const json& object, const char* key) {
  const json* value = FindMember(object, key);
  if (value == nullptr) return Missing(key);
  return value;
}

Result<int64_t> GetInt64(const json& object, const char* key) { return Require(FindInt64(object, key), key); }
Result<int32_t> GetInt32(const json& object, const char* key) { return Require(FindInt32(object, key), key); }
Result<bool> GetBool(const json& object, const char* key) { return Require(FindBool(object, key), key); }
Result<std::string> GetString(const json& object, const char* key) {
  return Require(FindString(object, key), key);
}

Result<const json*> GetArray(const json& object, const char* key) {
  FIRN_ASSIGN(const json* array, FindArray(object, key));
  if (array == nullptr) return Missing(key);
  return array;
}

}  // namespace firn::iceberg
