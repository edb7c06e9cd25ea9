#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "firn/base/result.h"
#include "firn/http/sigv4/sigv4.h"

namespace firn::store::s3 {

enum class Encryption : uint8_t { kBucketDefault, kS3, kKms, kDsseKms };

/// How one S3 is reached and what its new objects are like. Read from a StoreAccess's properties, which have
/// Iceberg's FileIO names.
struct S3Config {
  std::string endpoint;  ///< `http://host:port[/path]`; empty: AWS's for the region
  std::string region;    ///< empty: AWS_REGION, the profile's, or us-east-1
  bool path_style = false;
  Encryption encryption = Encryption::kBucketDefault;
  std::string kms_key_id;
  std::string storage_class;
  int64_t part_bytes = int64_t{8} << 20;  ///< of a multipart upload, the first ones
  http::sigv4::Credentials keys;          ///< empty: the chain's
  int64_t keys_end_ms = 0;  ///< `s3.session-token-expires-at-ms`; 0: they do not end or nobody said
  std::string profile;      ///< of the chain; empty: AWS_PROFILE or `default`
  std::string role_arn;     ///< to be assumed with the keys above; empty: none
  std::string role_session_name;
  std::string role_external_id;
  std::string sts_endpoint;  ///< empty: AWS's
  bool remote_signing = false;
  std::string signer_uri;
  std::string signer_endpoint;  ///< path below signer_uri
};

/// kInvalidArgument for a value that cannot be; properties that are not ours are ignored.
Result<S3Config> ParseS3Config(const std::map<std::string, std::string>& properties);

}  // namespace firn::store::s3
