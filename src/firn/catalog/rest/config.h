#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "firn/config/schema.h"
#include "firn/config/secret.h"
#include "firn/iceberg/model/table_metadata.h"
#include "firn/store/s3_access.h"

namespace firn::catalog::rest {

/// One entry of `catalogs:` with `type: rest`. The keys have the names that Iceberg's own clients use.
struct RestCatalogConfig {
  std::string type = "rest";
  std::string name;  ///< set by the caller: the key under `catalogs:`
  std::string uri;
  std::optional<std::string> warehouse;
  std::optional<std::string> prefix;
  std::optional<std::string> namespace_separator;

  std::optional<std::string> auth_type;
  config::Secret credential;
  config::Secret token;
  std::optional<std::string> oauth2_server_uri;
  std::optional<std::string> scope;
  std::optional<std::string> audience;
  std::optional<std::string> resource;
  std::optional<int64_t> token_expires_in_ms;
  std::optional<std::string> basic_username;
  config::Secret basic_password;
  std::optional<bool> sigv4_enabled;
  std::optional<std::string> signing_name;
  std::optional<std::string> signing_region;
  config::Secret access_key_id;
  config::Secret secret_access_key;
  config::Secret session_token;

  std::optional<int32_t> page_size;
  std::optional<int32_t> max_retries;
  std::optional<int64_t> connect_timeout_ms;
  std::optional<int64_t> timeout_ms;
  std::string ca_file;
  std::map<std::string, std::string> headers;  ///< `header.<name>`
  std::map<std::string, std::string> s3;       ///< `s3.<name>`, for the store
  std::map<std::string, std::string> client;   ///< `client.<name>`, for the store
  store::S3Access store_access;                ///< `s3:`, the same in words of ours; the two above go first
};

/// The keys. After reading, the caller sets `name`.
const config::Schema<RestCatalogConfig>& RestCatalogSchema();

/// The client's side of the merge with the server's defaults and overrides: what was written, under Iceberg's
/// names, secrets in the clear.
iceberg::Properties PropertiesOf(const RestCatalogConfig& config);

}  // namespace firn::catalog::rest
