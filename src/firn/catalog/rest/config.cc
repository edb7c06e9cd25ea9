#include "firn/catalog/rest/config.h"

#include <array>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace firn::catalog::rest {

namespace {

using C = RestCatalogConfig;

constexpr int64_t kMaxTimeoutMs = 3'600'000;

/// Members that are passed on under their key as they are.
constexpr std::array kTexts = std::to_array<std::pair<const char*, std::optional<std::string> C::*>>({
    {"warehouse", &C::warehouse},
    {"prefix", &C::prefix},
    {"namespace-separator", &C::namespace_separator},
    {"rest.auth.type", &C::auth_type},
    {"oauth2-server-uri", &C::oauth2_server_uri},
    {"scope", &C::scope},
    {"audience", &C::audience},
    {"resource", &C::resource},
    {"rest.auth.basic.username", &C::basic_username},
    {"rest.signing-name", &C::signing_name},
    {"rest.signing-region", &C::signing_region},
});

constexpr std::array kSecrets = std::to_array<std::pair<const char*, config::Secret C::*>>({
    {"credential", &C::credential},
    {"token", &C::token},
    {"rest.auth.basic.password", &C::basic_password},
    {"rest.access-key-id", &C::access_key_id},
    {"rest.secret-access-key", &C::secret_access_key},
    {"rest.session-token", &C::session_token},
});

/// `https://host/base`, without user, password, query and the slash at the end.
Result<std::string> ParseUri(std::string_view text) {
  const Error bad(ErrorKind::kInvalidArgument, "not the address of a REST catalog");
  if (!text.starts_with("http://") && !text.starts_with("https://"))
    return Error(bad).WithRemedy("Write https://host/path, without /v1.");
  const size_t host = text.find("://") + 3;
  const std::string_view authority = text.substr(host, text.find('/', host) - host);
  if (authority.empty()) return Error(bad).WithRemedy("The host is missing.");
  if (authority.find('@') != std::string_view::npos)
    return Error(bad).WithRemedy(
        "A user and password do not belong here: use credential, token or rest.auth.basic.*");
  if (text.find_first_of("?#") != std::string_view::npos)
    return Error(bad).WithRemedy("It has no query; other settings have keys of their own.");
  while (text.ends_with('/')) text.remove_suffix(1);
  return std::string(text);
}

void CheckAuth(const C& config, config::Checker& check) {
  const std::string type = config.auth_type.value_or("");
  if (type == "oauth2" && config.credential.empty() && config.token.empty())
    check.Fail("rest.auth.type", "oauth2 needs credential or token");
  if (type == "basic" && (!config.basic_username || config.basic_password.empty()))
    check.Fail("rest.auth.type", "basic needs rest.auth.basic.username and rest.auth.basic.password");
  if (config.access_key_id.empty() != config.secret_access_key.empty())
    check.Fail({}, "rest.access-key-id and rest.secret-access-key go together");
}

config::Schema<C> Endpoint(config::Schema<C>&& schema) {
  return std::move(schema)
      .Field("type", &C::type, config::Text(), "`rest`: an Iceberg REST catalog.")
      .Required("uri", &C::uri,
                config::Parsed<std::string>("url", ParseUri, [](const std::string& uri) { return uri; }),
                "The catalog's address, without `/v1`.")
      .Field("warehouse", &C::warehouse, config::Text(),
             "Name or location by which the server tells its warehouses apart.")
      .Field("prefix", &C::prefix, config::Text(),
             "Path between `/v1/` and the resources; servers usually give it themselves.")
      .Field("namespace-separator", &C::namespace_separator, config::Text(),
             "What stands between the levels of a namespace in a path, URL-encoded.",
             "%1F, or what the server says")
      .Field("ssl.cabundle", &C::ca_file, config::Path(),
             "PEM file of the authorities that the server's certificate is checked against.", "the system's");
}

config::Schema<C> Authentication(config::Schema<C>&& schema) {
  return std::move(schema)
      .Field("rest.auth.type", &C::auth_type,
             config::Choice<std::string>(
                 {{"none", "none"}, {"basic", "basic"}, {"oauth2", "oauth2"}, {"sigv4", "sigv4"}}),
             "How requests are authenticated.", "oauth2 with credential or token, else none")
      .Field("credential", &C::credential, config::SecretText(),
             "OAuth2 client credentials: `id:secret`, or the secret alone.")
      .Field("token", &C::token, config::SecretText(),
             "Bearer token. Beside a credential it is used until it ends or is refused.")
      .Field("oauth2-server-uri", &C::oauth2_server_uri, config::Text(),
             "Where tokens are asked for; a relative one is below `uri`.", "v1/oauth/tokens")
      .Field("scope", &C::scope, config::Text(), "Scope of the token.", "catalog")
      .Field("audience", &C::audience, config::Text(), "Audience of the token.")
      .Field("resource", &C::resource, config::Text(), "Resource of the token.")
      .Field("token-expires-in-ms", &C::token_expires_in_ms,
             config::Integer<int64_t>({.min = 1'000, .max = int64_t{30} * 86'400'000}),
             "Life of a token whose answer does not tell it.", "3600000")
      .Field("rest.auth.basic.username", &C::basic_username, config::Text(),
             "User of HTTP basic authentication.")
      .Field("rest.auth.basic.password", &C::basic_password, config::SecretText(), "Its password.")
      .Field("rest.sigv4-enabled", &C::sigv4_enabled, config::Boolean(),
             "Sign requests as AWS does; the same as `rest.auth.type: sigv4`.", "false")
      .Field("rest.signing-name", &C::signing_name, config::Text(), "Service name of the signature.",
             "execute-api")
      .Field("rest.signing-region", &C::signing_region, config::Text(), "Region of the signature.",
             "client.region")
      .Field("rest.access-key-id", &C::access_key_id, config::SecretText(),
             "Key of the signature; else the AWS default chain.")
      .Field("rest.secret-access-key", &C::secret_access_key, config::SecretText(), "Its secret.")
      .Field("rest.session-token", &C::session_token, config::SecretText(), "Its session token.")
      .Check(CheckAuth);
}

config::Schema<C> Transport(config::Schema<C>&& schema) {
  return std::move(schema)
      .Field("rest-page-size", &C::page_size, config::Integer<int32_t>({.min = 1}),
             "Entries per page of a listing.", "the server's choice")
      .Field("rest.client.max-retries", &C::max_retries, config::Integer<int32_t>({.min = 0, .max = 100}),
             "How often a read is tried again. A commit never is, by the client itself.", "5")
      .Field("rest.client.connection-timeout-ms", &C::connect_timeout_ms,
             config::Integer<int64_t>({.min = 1, .max = kMaxTimeoutMs}), "Time for a connection.", "5000")
      .Field("rest.client.socket-timeout-ms", &C::timeout_ms,
             config::Integer<int64_t>({.min = 1, .max = kMaxTimeoutMs}), "Time for a whole exchange.",
             "60000")
      .Prefixed("header.", &C::headers, "Header that is sent with every request to the catalog.")
      .Field("s3", &C::store_access, config::Object(store::S3AccessSchema()),
             "How the store is reached where the server vends no credentials, as for other catalogs.")
      .Prefixed("s3.", &C::s3, "Iceberg's S3 FileIO property, passed on to the store.")
      .Prefixed("client.", &C::client, "Iceberg's AWS client property, passed on to the store.");
}

}  // namespace

const config::Schema<RestCatalogConfig>& RestCatalogSchema() {
  static const auto schema = Transport(Authentication(Endpoint(config::Schema<RestCatalogConfig>())));
  return schema;
}

iceberg::Properties PropertiesOf(const RestCatalogConfig& config) {
  iceberg::Properties properties;
  properties["uri"] = config.uri;
  for (const auto& [key, member] : kTexts) {
    if (config.*member) properties[key] = *(config.*member);
  }
  for (const auto& [key, member] : kSecrets) {
    if (!(config.*member).empty()) properties[key] = (config.*member).Reveal();
  }
  if (config.sigv4_enabled) properties["rest.sigv4-enabled"] = *config.sigv4_enabled ? "true" : "false";
  if (config.page_size) properties["rest-page-size"] = std::to_string(*config.page_size);
  if (config.token_expires_in_ms)
    properties["token-expires-in-ms"] = std::to_string(*config.token_expires_in_ms);
  for (const auto& [name, value] : config.headers) properties["header." + name] = value;
  for (const auto& [name, value] : store::ToStoreAccess(config.store_access).properties)
    properties[name] = value;
  for (const auto& [name, value] : config.s3) properties["s3." + name] = value;
  for (const auto& [name, value] : config.client) properties["client." + name] = value;
  return properties;
}

}  // namespace firn::catalog::rest
