#include "firn/catalog/rest/answer.h"

#include <limits>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "firn/base/bytes.h"
#include "firn/iceberg/model/json_access.h"

namespace firn::catalog::rest {

namespace {

using iceberg::FindMember;
using iceberg::GetArray;
using iceberg::GetString;
using nlohmann::json;

Result<json> ParseObject(std::string_view body) {
  FIRN_ASSIGN(json root, iceberg::ParseJson(body));
  FIRN_TRY(iceberg::RequireObject(root, "answer"));
  return root;
}

/// An absent or null map is an empty one.
Result<iceberg::Properties> MapOf(const json& object, const char* key) {
  FIRN_ASSIGN(auto map, iceberg::FindStringMap(object, key));
  return std::move(map).value_or(iceberg::Properties{});
}

Result<std::vector<std::string>> ReadTexts(const json& array, std::string_view what) {
  std::vector<std::string> texts;
  if (!array.is_array()) return iceberg::BadJson(what, "a list", array);
  for (const json& item : array) {
    if (!item.is_string()) return iceberg::BadJson(what, "a list of strings", item);
    texts.push_back(item.get<std::string>());
  }
  return texts;
}

Result<StorageCredential> ReadCredential(const json& item) {
  FIRN_TRY(iceberg::RequireObject(item, "storage-credentials"));
  StorageCredential credential;
  FIRN_ASSIGN(credential.prefix, GetString(item, "prefix"));
  FIRN_ASSIGN(credential.config, MapOf(item, "config"));
  return credential;
}

Result<std::vector<StorageCredential>> ReadCredentials(const json& root) {
  FIRN_ASSIGN(const json* array, iceberg::FindArray(root, "storage-credentials"));
  std::vector<StorageCredential> credentials;
  if (array == nullptr) return credentials;
  for (const json& item : *array) {
    FIRN_ASSIGN(StorageCredential credential, ReadCredential(item));
    credentials.push_back(std::move(credential));
  }
  return credentials;
}

/// A map of lists; the values of one name are joined as HTTP does.
Result<iceberg::Properties> ReadHeaders(const json& root) {
  iceberg::Properties headers;
  const json* signing = FindMember(root, "remote-signing-config");
  if (signing == nullptr) return headers;
  FIRN_TRY(iceberg::RequireObject(*signing, "remote-signing-config"));
  const json* map = FindMember(*signing, "headers");
  if (map == nullptr) return headers;
  FIRN_TRY(iceberg::RequireObject(*map, "headers"));
  for (const auto& [name, values] : map->items()) {
    FIRN_ASSIGN(auto texts, ReadTexts(values, "headers"));
    std::string& joined = headers[name];
    for (const std::string& text : texts) joined += (joined.empty() ? "" : ", ") + text;
  }
  return headers;
}

Result<std::string> NextToken(const json& root) {
  FIRN_ASSIGN(auto token, iceberg::FindString(root, "next-page-token"));
  return std::move(token).value_or("");
}

Result<iceberg::TableIdentifier> ReadIdentifier(const json& item) {
  FIRN_TRY(iceberg::RequireObject(item, "identifiers"));
  iceberg::TableIdentifier table;
  FIRN_ASSIGN(const json* levels, GetArray(item, "namespace"));
  FIRN_ASSIGN(table.ns, ReadTexts(*levels, "namespace"));
  FIRN_ASSIGN(table.name, GetString(item, "name"));
  return table;
}

}  // namespace

Result<ConfigAnswer> ParseConfigAnswer(std::string_view body) {
  FIRN_ASSIGN(const json root, ParseObject(body));
  ConfigAnswer answer;
  FIRN_ASSIGN(answer.defaults, MapOf(root, "defaults"));
  FIRN_ASSIGN(answer.overrides, MapOf(root, "overrides"));
  if (const json* endpoints = FindMember(root, "endpoints")) {
    FIRN_ASSIGN(answer.endpoints, ReadTexts(*endpoints, "endpoints"));
  }
  return answer;
}

std::optional<ErrorAnswer> ParseErrorAnswer(std::string_view body) {
  const Result<json> root = ParseObject(body);
  if (!root.ok()) return std::nullopt;
  const json* error = FindMember(*root, "error");
  if (error == nullptr || !error->is_object()) return std::nullopt;
  ErrorAnswer answer;
  if (auto message = iceberg::FindString(*error, "message"); message.ok())
    answer.message = message->value_or("");
  if (auto type = iceberg::FindString(*error, "type"); type.ok()) answer.type = type->value_or("");
  return answer;
}

Result<TokenAnswer> ParseTokenAnswer(std::string_view body) {
  FIRN_ASSIGN(const json root, ParseObject(body));
  TokenAnswer answer;
  FIRN_ASSIGN(answer.access_token, GetString(root, "access_token"));
  FIRN_ASSIGN(answer.expires_in_s, iceberg::FindInt64(root, "expires_in"));
  return answer;
}

std::optional<std::string> ParseTokenError(std::string_view body) {
  if (auto error = ParseErrorAnswer(body)) {
    return error->type.empty() ? error->message : fmt::format("{}: {}", error->type, error->message);
  }
  const Result<json> root = ParseObject(body);
  if (!root.ok()) return std::nullopt;
  auto code = iceberg::FindString(*root, "error");
  if (!code.ok() || !*code) return std::nullopt;
  auto description = iceberg::FindString(*root, "error_description");
  if (!description.ok() || !*description) return std::move(code).value();
  return fmt::format("{}: {}", **code, **description);
}

std::optional<int64_t> ExpiryOfJwtMs(std::string_view token) {
  const size_t first = token.find('.');
  const size_t second = first == std::string_view::npos ? first : token.find('.', first + 1);
  if (second == std::string_view::npos) return std::nullopt;
  const Result<std::string> payload = Base64Decode(token.substr(first + 1, second - first - 1));
  if (!payload.ok()) return std::nullopt;
  const Result<json> claims = ParseObject(*payload);
  if (!claims.ok()) return std::nullopt;
  const auto expiry_s = iceberg::FindInt64(*claims, "exp");
  if (!expiry_s.ok() || !*expiry_s || **expiry_s < 0 ||
      **expiry_s > std::numeric_limits<int64_t>::max() / 1000)
    return std::nullopt;
  return **expiry_s * 1000;
}

Result<TableAnswer> ParseTableAnswer(std::string_view body) {
  FIRN_ASSIGN(const json root, ParseObject(body));
  TableAnswer answer;
  FIRN_ASSIGN(auto location, iceberg::FindString(root, "metadata-location"));
  answer.metadata_location = std::move(location).value_or("");
  FIRN_ASSIGN(const json* metadata, iceberg::GetMember(root, "metadata"));
  FIRN_ASSIGN_CTX(auto table, iceberg::TableMetadataFromJson(*metadata), "metadata");
  answer.metadata = std::make_shared<const iceberg::TableMetadata>(std::move(table));
  FIRN_ASSIGN(answer.config, MapOf(root, "config"));
  FIRN_ASSIGN(answer.credentials, ReadCredentials(root));
  FIRN_ASSIGN(answer.signing_headers, ReadHeaders(root));
  return answer;
}

Result<std::vector<StorageCredential>> ParseCredentialsAnswer(std::string_view body) {
  FIRN_ASSIGN(const json root, ParseObject(body));
  return ReadCredentials(root);
}

const StorageCredential* FindCredential(const std::vector<StorageCredential>& credentials,
                                        std::string_view location) {
  const StorageCredential* best = nullptr;
  for (const StorageCredential& credential : credentials) {
    if (!location.starts_with(credential.prefix)) continue;
    if (best == nullptr || credential.prefix.size() > best->prefix.size()) best = &credential;
  }
  return best;
}

Result<Page<iceberg::Namespace>> ParseNamespacesAnswer(std::string_view body) {
  FIRN_ASSIGN(const json root, ParseObject(body));
  Page<iceberg::Namespace> page;
  FIRN_ASSIGN(const json* array, GetArray(root, "namespaces"));
  for (const json& item : *array) {
    FIRN_ASSIGN(iceberg::Namespace levels, ReadTexts(item, "namespaces"));
    page.items.push_back(std::move(levels));
  }
  FIRN_ASSIGN(page.next_token, NextToken(root));
  return page;
}

Result<Page<iceberg::TableIdentifier>> ParseTablesAnswer(std::string_view body) {
  FIRN_ASSIGN(const json root, ParseObject(body));
  Page<iceberg::TableIdentifier> page;
  FIRN_ASSIGN(const json* array, GetArray(root, "identifiers"));
  for (const json& item : *array) {
    FIRN_ASSIGN(iceberg::TableIdentifier table, ReadIdentifier(item));
    page.items.push_back(std::move(table));
  }
  FIRN_ASSIGN(page.next_token, NextToken(root));
  return page;
}

Result<iceberg::Properties> ParseNamespaceAnswer(std::string_view body) {
  FIRN_ASSIGN(const json root, ParseObject(body));
  return MapOf(root, "properties");
}

}  // namespace firn::catalog::rest
