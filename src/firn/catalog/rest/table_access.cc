#include "firn/catalog/rest/table_access.h"

#include <array>
#include <utility>

#include "firn/catalog/rest/error.h"

namespace firn::catalog::rest {

namespace {

constexpr size_t kMaxKeptStores = 4096;
constexpr const char* kExpiry = "s3.session-token-expires-at-ms";
constexpr std::array<const char*, 4> kCredentialKeys = {"s3.access-key-id", "s3.secret-access-key",
                                                        "s3.session-token", kExpiry};

void Overlay(iceberg::Properties& below, const iceberg::Properties& above) {
  for (const auto& [key, value] : above) below[key] = value;
}

iceberg::Properties PropertiesOf(const RestSettings& settings, const TableAnswer& answer) {
  iceberg::Properties properties = settings.StoreProperties();
  Overlay(properties, answer.config);
  properties.erase("token");  // a bearer token, of no use to a store
  if (const auto* credential = FindCredential(answer.credentials, answer.metadata->location))
    Overlay(properties, credential->config);
  return properties;
}

bool IsVended(const TableAnswer& answer) {
  return FindCredential(answer.credentials, answer.metadata->location) != nullptr ||
         answer.config.contains("s3.access-key-id");
}

iceberg::Properties WithoutCredentials(iceberg::Properties properties) {
  for (const char* key : kCredentialKeys) properties.erase(key);
  return properties;
}

/// Where signatures are asked for: as the answer says, else the table's own resource.
std::string SignerUrl(const RestClient& client, const iceberg::TableIdentifier& table,
                      const iceberg::Properties& properties) {
  const auto find = [&](const char* key, const char* old_key) -> std::string {
    for (const char* name : {key, old_key}) {
      if (auto it = properties.find(name); it != properties.end()) return it->second;
    }
    return {};
  };
  const std::string base = find("s3.signer.uri", "signer.uri");
  const std::string endpoint = find("s3.signer.endpoint", "signer.endpoint");
  if (endpoint.empty()) return base.empty() ? client.routes.Table(table).url + "/sign" : base;
  return AbsoluteUrl(base.empty() ? client.settings.uri : base, endpoint);
}

/// Fresh credentials by the resource that is made for it, where the server has one.
Result<iceberg::Properties> FromCredentials(const RestClient& client, const std::string& url,
                                            const std::string& location) {
  const Call call{.url = url};
  FIRN_ASSIGN(const auto response, client.session->Send(call));
  auto credentials = ParseCredentialsAnswer(response.body);
  if (!credentials.ok()) return ErrorOfBody(response, call.Name(), credentials.error());
  const StorageCredential* credential = FindCredential(*credentials, location);
  if (credential != nullptr) return credential->config;
  return Error(ErrorKind::kPermissionDenied, call.Name() + " gives no credentials for " + location);
}

/// Fresh properties of a table whose first ones are given.
Result<iceberg::Properties> Renew(const RestClient& client, const iceberg::TableIdentifier& table,
                                  const std::string& location, iceberg::Properties properties) {
  const Route route = client.routes.Credentials(table);
  const auto named = properties.find("client.refresh-credentials-endpoint");
  if (named != properties.end() || client.routes.Has("GET", route)) {
    const std::string url =
        named == properties.end() ? route.url : AbsoluteUrl(client.settings.uri, named->second);
    FIRN_ASSIGN(const auto fresh, FromCredentials(client, url, location));
    Overlay(properties, fresh);
    return properties;
  }
  const Call call{.url = client.routes.Table(table).url + "?snapshots=refs", .headers = DelegationHeaders()};
  FIRN_ASSIGN(const auto response, client.session->Send(call));
  auto answer = ParseTableAnswer(response.body);
  if (!answer.ok()) return ErrorOfBody(response, call.Name(), answer.error());
  return PropertiesOf(client.settings, *answer);
}

}  // namespace

http::HttpHeaders DelegationHeaders() {
  return {{"X-Iceberg-Access-Delegation", "vended-credentials,remote-signing"}};
}

store::StoreAccess AccessOf(const std::shared_ptr<RestClient>& client, const iceberg::TableIdentifier& table,
                            const TableAnswer& answer) {
  store::StoreAccess access;
  access.properties = PropertiesOf(client->settings, answer);
  if (IsVended(answer)) {
    access.renew = [client, table, location = answer.metadata->location, first = access.properties] {
      return Renew(*client, table, location, first);
    };
  }
  const auto signing = access.properties.find("s3.remote-signing-enabled");
  if (signing != access.properties.end() && signing->second == "true") {
    const std::string url = SignerUrl(*client, table, access.properties);
    access.properties["s3.signer.uri"] = client->settings.uri;
    access.properties["s3.signer.endpoint"] = url;
    access.signer_headers = [client, url, headers = answer.signing_headers]() -> Result<iceberg::Properties> {
      FIRN_ASSIGN(iceberg::Properties all, client->session->AuthHeaders(url));
      Overlay(all, headers);
      return all;
    };
  }
  return access;
}

Result<std::shared_ptr<store::Store>> TableStores::For(const std::shared_ptr<RestClient>& client,
                                                       const iceberg::TableIdentifier& table,
                                                       const TableAnswer& answer) {
  const store::StoreAccess access = AccessOf(client, table, answer);
  const std::string& location = answer.metadata->location;
  // Without a known end the store cannot renew them in time: then what was just given is used.
  const bool renews = !access.renew || access.properties.contains(kExpiry);
  Kept fresh{location, WithoutCredentials(access.properties), nullptr};
  const std::lock_guard lock(mutex_);
  if (by_uuid_.size() > kMaxKeptStores) by_uuid_.clear();
  Kept& kept = by_uuid_[answer.metadata->table_uuid];
  if (renews && kept.store != nullptr && kept.location == fresh.location &&
      kept.properties == fresh.properties)
    return kept.store;
  FIRN_ASSIGN_CTX(fresh.store, resolver_->Resolve(location, access), "table " + table.ToString());
  kept = std::move(fresh);
  return kept.store;
}

}  // namespace firn::catalog::rest
