#include "firn/store/s3/config.h"

#include <algorithm>
#include <charconv>
#include <initializer_list>
#include <optional>
#include <string_view>

#include <fmt/format.h>

namespace firn::store::s3 {

namespace {

using Properties = std::map<std::string, std::string>;

/// The first of these that is there and not empty: Java's name, then PyIceberg's.
std::string TextOf(const Properties& properties, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    const auto found = properties.find(name);
    if (found != properties.end() && !found->second.empty()) return found->second;
  }
  return {};
}

Error Wrong(std::string_view name, std::string_view value, std::string_view allowed) {
  return Error(ErrorKind::kInvalidArgument, fmt::format("{} is '{}'", name, value))
      .WithRemedy(fmt::format("Allowed: {}.", allowed));
}

Result<bool> FlagOf(const Properties& properties, const char* name) {
  std::string text = TextOf(properties, {name});
  std::ranges::transform(text, text.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? c + 32 : c; });
  if (text == "true") return true;
  if (text.empty() || text == "false") return false;
  return Wrong(name, text, "true, false");
}

Result<int64_t> NumberOf(const Properties& properties, const char* name, int64_t otherwise) {
  const std::string text = TextOf(properties, {name});
  if (text.empty()) return otherwise;
  int64_t value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc() || end != text.data() + text.size() || value < 0) {
    return Wrong(name, text, "a whole number");
  }
  return value;
}

Result<Encryption> EncryptionOf(const Properties& properties) {
  const std::string type = TextOf(properties, {"s3.sse.type"});
  if (type.empty() || type == "none") return Encryption::kBucketDefault;
  if (type == "s3") return Encryption::kS3;
  if (type == "kms") return Encryption::kKms;
  if (type == "dsse-kms") return Encryption::kDsseKms;
  return Wrong("s3.sse.type", type,
               "none, s3, kms, dsse-kms (keys given by the client, `custom`, are not supported)");
}

Status ReadKeys(const Properties& properties, S3Config* config) {
  config->keys = {TextOf(properties, {"s3.access-key-id"}), TextOf(properties, {"s3.secret-access-key"}),
                  TextOf(properties, {"s3.session-token"})};
  if (config->keys.access_key_id.empty() != config->keys.secret_access_key.empty()) {
    return Error(ErrorKind::kInvalidArgument,
                 "only one of s3.access-key-id and s3.secret-access-key is given")
        .WithRemedy("Give both, or neither for the keys of the environment.");
  }
  FIRN_ASSIGN(config->keys_end_ms, NumberOf(properties, "s3.session-token-expires-at-ms", 0));
  config->profile = TextOf(properties, {"client.profile-name", "s3.profile-name"});
  config->role_arn = TextOf(properties, {"client.assume-role.arn", "s3.role-arn", "client.role-arn"});
  config->role_session_name = TextOf(
      properties, {"client.assume-role.session-name", "s3.role-session-name", "client.role-session-name"});
  config->role_external_id = TextOf(properties, {"client.assume-role.external-id"});
  config->sts_endpoint = TextOf(properties, {"client.sts-endpoint"});
  return Ok();
}

Status ReadSigner(const Properties& properties, S3Config* config) {
  FIRN_ASSIGN(config->remote_signing, FlagOf(properties, "s3.remote-signing-enabled"));
  config->signer_uri = TextOf(properties, {"s3.signer.uri", "signer.uri", "uri"});
  config->signer_endpoint = TextOf(properties, {"s3.signer.endpoint", "signer.endpoint"});
  if (config->signer_endpoint.empty()) config->signer_endpoint = "v1/aws/s3/sign";
  if (config->remote_signing && config->signer_uri.empty()) {
    return Error(ErrorKind::kInvalidArgument,
                 "s3.remote-signing-enabled is true and s3.signer.uri is not given");
  }
  return Ok();
}

}  // namespace

Result<S3Config> ParseS3Config(const Properties& properties) {
  S3Config config;
  config.endpoint = TextOf(properties, {"s3.endpoint"});
  config.region = TextOf(properties, {"client.region", "s3.region"});
  FIRN_ASSIGN(config.path_style, FlagOf(properties, "s3.path-style-access"));
  FIRN_ASSIGN(config.encryption, EncryptionOf(properties));
  config.kms_key_id = TextOf(properties, {"s3.sse.key"});
  config.storage_class = TextOf(properties, {"s3.write.storage-class"});
  FIRN_ASSIGN(config.part_bytes, NumberOf(properties, "s3.multipart.part-size-bytes", config.part_bytes));
  if (config.part_bytes < (int64_t{5} << 20) || config.part_bytes > (int64_t{1} << 30)) {
    return Wrong("s3.multipart.part-size-bytes", std::to_string(config.part_bytes), "5 MiB to 1 GiB");
  }
  FIRN_TRY(ReadKeys(properties, &config));
  FIRN_TRY(ReadSigner(properties, &config));
  return config;
}

}  // namespace firn::store::s3
