#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "firn/config/schema.h"
#include "firn/config/secret.h"
#include "firn/store/store.h"

namespace firn::store {

/// The `s3:` map of the configuration: how S3 is reached where nobody vends credentials. Every part that has
/// such a map (catalogs, sources) reads it with this schema and gives its access to the resolver.
struct S3Access {
  std::string endpoint;
  std::string region;
  bool path_style_access = false;
  std::string access_key_id;
  config::Secret secret_access_key;
  config::Secret session_token;
  std::string profile;
  std::string role_arn;
  std::string role_session_name;
  std::string external_id;
  std::string sts_endpoint;
  std::string sse = "none";
  std::string sse_key;
  std::string storage_class;
  int64_t part_size_bytes = int64_t{8} << 20;
};

const config::Schema<S3Access>& S3AccessSchema();

/// The same under Iceberg's FileIO names; nothing for what is at its default.
StoreAccess ToStoreAccess(const S3Access& s3);

}  // namespace firn::store
