#include "firn/store/s3_access.h"

#include <utility>

namespace firn::store {

namespace {

config::TypePtr<std::string> MaybeText() { return config::Text({.allow_empty = true}); }

config::TypePtr<std::string> Encryption() {
  return config::Choice<std::string>(
      {{"none", "none"}, {"s3", "s3"}, {"kms", "kms"}, {"dsse-kms", "dsse-kms"}});
}

void CheckTogether(const S3Access& s3, config::Checker& check) {
  if (s3.access_key_id.empty() != s3.secret_access_key.empty())
    check.Fail(s3.access_key_id.empty() ? "secret-access-key" : "access-key-id",
               "access-key-id and secret-access-key are given together or not at all");
  if (!s3.session_token.empty() && s3.access_key_id.empty())
    check.Fail("session-token", "belongs to an access-key-id");
  if (!s3.profile.empty() && !s3.access_key_id.empty())
    check.Fail("profile", "give either a profile or an access-key-id");
  if (!s3.sse_key.empty() && (s3.sse == "none" || s3.sse == "s3"))
    check.Fail("sse-key", "is a key of KMS: it needs sse: kms or sse: dsse-kms");
  if (!s3.role_session_name.empty() && s3.role_arn.empty())
    check.Fail("role-session-name", "belongs to a role-arn");
  if (!s3.external_id.empty() && s3.role_arn.empty()) check.Fail("external-id", "belongs to a role-arn");
  const bool address =
      s3.endpoint.empty() || s3.endpoint.starts_with("http://") || s3.endpoint.starts_with("https://");
  if (!address) check.Fail("endpoint", "expected http://host:port or https://host");
}

}  // namespace

const config::Schema<S3Access>& S3AccessSchema() {
  static const auto schema =
      config::Schema<S3Access>()
          .Field("endpoint", &S3Access::endpoint, MaybeText(),
                 "`http://host:port` of an S3-compatible store.", "AWS's, or AWS_ENDPOINT_URL_S3")
          .Field("region", &S3Access::region, MaybeText(), "The buckets' region.",
                 "AWS_REGION, the profile's, or us-east-1")
          .Field("path-style-access", &S3Access::path_style_access, config::Boolean(),
                 "The bucket stands in the path and not in the host name. Always so with an IP address or "
                 "localhost.")
          .Field("access-key-id", &S3Access::access_key_id, MaybeText(),
                 "A key that is written down; without one keys are found as AWS's own tools find them.",
                 "AWS's default chain")
          .Field("secret-access-key", &S3Access::secret_access_key, config::SecretText(), "Of that key.",
                 "none")
          .Field("session-token", &S3Access::session_token, config::SecretText(),
                 "Of that key, if it is temporary.", "none")
          .Field("profile", &S3Access::profile, MaybeText(),
                 "The profile of ~/.aws to take keys from, and nowhere else.", "AWS_PROFILE or default")
          .Field("role-arn", &S3Access::role_arn, MaybeText(), "A role to be assumed with the keys above.",
                 "none")
          .Field("role-session-name", &S3Access::role_session_name, MaybeText(),
                 "How its sessions are called.", "firn")
          .Field("external-id", &S3Access::external_id, MaybeText(),
                 "What the role's trust policy may ask for.", "none")
          .Field("sts-endpoint", &S3Access::sts_endpoint, MaybeText(), "Where roles are assumed.",
                 "AWS's, or AWS_ENDPOINT_URL_STS")
          .Field("sse", &S3Access::sse, Encryption(),
                 "How new objects are encrypted; `none`: as the bucket says.")
          .Field("sse-key", &S3Access::sse_key, MaybeText(), "Id or ARN of the KMS key.", "AWS's own key")
          .Field("storage-class", &S3Access::storage_class, MaybeText(), "Of new objects: `STANDARD_IA` ...",
                 "the store's")
          .Field("part-size", &S3Access::part_size_bytes,
                 config::Bytes({.min = int64_t{5} << 20, .max = int64_t{1} << 30}),
                 "Of multipart uploads. Two parts of each open file are kept in memory.")
          .Check(CheckTogether);
  return schema;
}

StoreAccess ToStoreAccess(const S3Access& s3) {
  StoreAccess access;
  const auto add = [&access](const char* name, const std::string& value) {
    if (!value.empty()) access.properties.emplace(name, value);
  };
  add("s3.endpoint", s3.endpoint);
  add("client.region", s3.region);
  add("s3.path-style-access", s3.path_style_access ? "true" : "");
  add("s3.access-key-id", s3.access_key_id);
  add("s3.secret-access-key", s3.secret_access_key.Reveal());
  add("s3.session-token", s3.session_token.Reveal());
  add("client.profile-name", s3.profile);
  add("client.assume-role.arn", s3.role_arn);
  add("client.assume-role.session-name", s3.role_session_name);
  add("client.assume-role.external-id", s3.external_id);
  add("client.sts-endpoint", s3.sts_endpoint);
  add("s3.sse.type", s3.sse == "none" ? "" : s3.sse);
  add("s3.sse.key", s3.sse_key);
  add("s3.write.storage-class", s3.storage_class);
  if (s3.part_size_bytes != S3Access().part_size_bytes)
    add("s3.multipart.part-size-bytes", std::to_string(s3.part_size_bytes));
  return access;
}

}  // namespace firn::store
