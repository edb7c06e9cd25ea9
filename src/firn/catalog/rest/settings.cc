#include "firn/catalog/rest/settings.h"

#include <array>
#include <charconv>

#include <fmt/format.h>

namespace firn::catalog::rest {

namespace {

constexpr std::string_view kHeaderPrefix = "header.";
/// Keys that no store needs to know; some are secrets.
constexpr std::array<std::string_view, 9> kOwnKeys = {
    "uri",      "credential", "token",  "oauth2-server-uri", "scope",
    "audience", "resource",   "prefix", "warehouse"};
constexpr std::array<std::string_view, 3> kOwnPrefixes = {kHeaderPrefix, "rest.", "token-"};

Result<AuthKind> AuthOf(const RestSettings& settings) {
  const std::string type = settings.Property("rest.auth.type");
  if (type == "none") return AuthKind::kNone;
  if (type == "basic") return AuthKind::kBasic;
  if (type == "oauth2") return AuthKind::kOAuth2;
  if (type == "sigv4" || (type.empty() && settings.Property("rest.sigv4-enabled") == "true"))
    return AuthKind::kSigV4;
  if (type.empty()) {
    const bool has_oauth2 =
        settings.properties.contains("credential") || settings.properties.contains("token");
    return has_oauth2 ? AuthKind::kOAuth2 : AuthKind::kNone;
  }
  return Error(ErrorKind::kUnsupported, fmt::format("rest.auth.type '{}' is not known", type))
      .WithRemedy("Use none, basic, oauth2 or sigv4.");
}

Result<int32_t> PageSize(const std::string& text) {
  int32_t size = 0;
  if (text.empty()) return size;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), size);
  if (code == std::errc() && end == text.data() + text.size() && size >= 1) return size;
  return Error(ErrorKind::kInvalidArgument, fmt::format("rest-page-size '{}' is not a number above 0", text));
}

std::string WithoutSlashes(std::string text) {
  while (text.ends_with('/')) text.pop_back();
  return text;
}

}  // namespace

std::string RestSettings::Property(const std::string& key, std::string_view default_value) const {
  const auto it = properties.find(key);
  return it == properties.end() ? std::string(default_value) : it->second;
}

iceberg::Properties RestSettings::StoreProperties() const {
  iceberg::Properties kept;
  for (const auto& [key, value] : properties) {
    bool own = false;
    for (const std::string_view name : kOwnKeys) own = own || key == name;
    for (const std::string_view begin : kOwnPrefixes) own = own || key.starts_with(begin);
    if (!own) kept.emplace(key, value);
  }
  return kept;
}

Result<RestSettings> MakeSettings(const iceberg::Properties& own, const ConfigAnswer& server) {
  RestSettings settings;
  settings.properties = server.overrides;
  settings.properties.insert(own.begin(), own.end());
  settings.properties.insert(server.defaults.begin(), server.defaults.end());
  settings.uri = WithoutSlashes(settings.Property("uri"));
  settings.prefix = WithoutSlashes(settings.Property("prefix"));
  settings.namespace_separator = settings.Property("namespace-separator", settings.namespace_separator);
  settings.endpoints.insert(server.endpoints.begin(), server.endpoints.end());
  for (const auto& [key, value] : settings.properties) {
    if (key.starts_with(kHeaderPrefix)) settings.headers[key.substr(kHeaderPrefix.size())] = value;
  }
  FIRN_ASSIGN(settings.auth, AuthOf(settings));
  FIRN_ASSIGN(settings.page_size, PageSize(settings.Property("rest-page-size")));
  return settings;
}

}  // namespace firn::catalog::rest
