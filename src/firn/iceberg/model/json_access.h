#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "firn/base/result.h"

namespace firn::iceberg {

// Checked reading of parsed JSON: a missing key or a value of another type is a kCorrupt error that names the
// key, never an exception. Find...: empty when the key is absent or null. Get...: absent or null is an error.

/// Parses text whose nesting is at most kMaxJsonDepth (copying and writing of nlohmann's trees recurse).
inline constexpr int kMaxJsonDepth = 512;
Result<nlohmann::json> ParseJson(std::string_view text);
/// Text of a value; kInvalidArgument when a string in it is not UTF-8.
Result<std::string> DumpJson(const nlohmann::json& json);

Status RequireObject(const nlohmann::json& json, std::string_view what);

const nlohmann::json* FindMember(const nlohmann::json& object, const char* key);
Result<std::optional<int64_t>> FindInt64(const nlohmann::json& object, const char* key);
Result<std::optional<int32_t>> FindInt32(const nlohmann::json& object, const char* key);
Result<std::optional<bool>> FindBool(const nlohmann::json& object, const char* key);
Result<std::optional<std::string>> FindString(const nlohmann::json& object, const char* key);
/// Null when absent.
Result<const nlohmann::json*> FindArray(const nlohmann::json& object, const char* key);
Result<std::optional<std::vector<int32_t>>> FindInt32List(const nlohmann::json& object, const char* key);
Result<std::optional<std::map<std::string, std::string>>> FindStringMap(const nlohmann::json& object,
                                                                        const char* key);

Result<const nlohmann::json*> GetMember(const nlohmann::json& object, const char* key);
Result<int64_t> GetInt64(const nlohmann::json& object, const char* key);
Result<int32_t> GetInt32(const nlohmann::json& object, const char* key);
Result<bool> GetBool(const nlohmann::json& object, const char* key);
Result<std::string> GetString(const nlohmann::json& object, const char* key);
Result<const nlohmann::json*> GetArray(const nlohmann::json& object, const char* key);

Error BadJson(std::string_view key, std::string_view expected, const nlohmann::json& found);

}  // namespace firn::iceberg
