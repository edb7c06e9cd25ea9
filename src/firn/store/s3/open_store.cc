#include "firn/store/s3/open_store.h"

#include <cstdlib>
#include <utility>

#include "firn/http/aws/chain.h"
#include "firn/store/s3/config.h"
#include "firn/store/s3/endpoint.h"
#include "firn/store/s3/remote_signer.h"
#include "firn/store/s3/s3_client.h"
#include "firn/store/s3/s3_store.h"
#include "firn/store/s3/signer.h"

namespace firn::store::s3 {

namespace {

namespace aws = http::aws;
using Provider = std::shared_ptr<aws::CredentialsProvider>;

aws::AwsCredentials KeysOf(const S3Config& config, const char* source) {
  aws::AwsCredentials credentials{config.keys, std::nullopt, source};
  if (config.keys_end_ms > 0) credentials.expires_at_ms = config.keys_end_ms;
  return credentials;
}

/// Keys that a catalog vends: those of the access first, then what `renew` gives.
Provider VendedKeys(const S3Config& config, const StoreAccess& access, runtime::Clock& clock) {
  constexpr const char* kSource = "the catalog";
  std::optional<aws::AwsCredentials> first;
  if (!config.keys.access_key_id.empty()) first = KeysOf(config, kSource);
  const auto fetch = [renew = access.renew]() -> Result<aws::AwsCredentials> {
    FIRN_ASSIGN_CTX(const auto properties, renew(), "renewing the keys that the catalog gave");
    FIRN_ASSIGN(const S3Config fresh, ParseS3Config(properties));
    if (fresh.keys.access_key_id.empty())
      return Error(ErrorKind::kPermissionDenied, "the catalog gave no new keys for S3");
    return KeysOf(fresh, kSource);
  };
  return std::make_shared<aws::RenewedCredentials>(fetch, clock, std::move(first));
}

Provider KeysFor(const S3Config& config, const StoreAccess& access, const S3Deps& deps) {
  Provider base;
  if (access.renew) {
    base = VendedKeys(config, access, *deps.aws.clock);
  } else if (!config.keys.access_key_id.empty()) {
    base = aws::StaticCredentials(config.keys, "configuration");
  } else {
    base = aws::DefaultCredentials(deps.aws, config.profile);
  }
  if (config.role_arn.empty() || access.renew) return base;  // vended keys are those of the table already
  return aws::RoleCredentials(deps.aws,
                              {.role_arn = config.role_arn,
                               .session_name = config.role_session_name,
                               .external_id = config.role_external_id,
                               .duration_s = 0,
                               .region = config.region,
                               .endpoint = config.sts_endpoint},
                              base);
}

std::unique_ptr<RequestSigner> SignerFor(const S3Config& config, const StoreAccess& access,
                                         const S3Deps& deps) {
  if (!config.remote_signing)
    return MakeSigV4Signer(KeysFor(config, access, deps), config.region, *deps.aws.clock);
  std::string url = config.signer_endpoint;
  if (url.find("://") == std::string::npos)
    url = config.signer_uri + (config.signer_uri.ends_with('/') ? "" : "/") +
          url.substr(url.starts_with('/') ? 1 : 0);
  return MakeRemoteSigner({std::move(url), config.region, access.signer_headers}, deps.aws.http,
                          *deps.aws.clock);
}

/// What the environment says where the properties say nothing.
void AddEnvironment(const aws::AwsDeps& environment, S3Config* config) {
  if (config->region.empty()) config->region = aws::DefaultRegion(environment, config->profile);
  for (const char* name : {"AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"}) {
    if (config->endpoint.empty()) config->endpoint = environment.variable(name).value_or("");
  }
}

}  // namespace

std::shared_ptr<http::HttpClient> MakeS3HttpClient() {
  http::HttpClientOptions options;
  options.connect_timeout_ms = 10'000;
  options.stall_timeout_ms = 30'000;
  options.max_body_bytes = int64_t{1} << 30;
  const char* bundle = std::getenv("AWS_CA_BUNDLE");
  if (bundle != nullptr) options.ca_file = bundle;
  return http::MakeHttpClient(std::move(options));
}

Result<std::shared_ptr<Store>> OpenS3Store(const StoreAccess& access, const S3Deps& deps) {
  FIRN_ASSIGN(S3Config config, ParseS3Config(access.properties));
  AddEnvironment(deps.aws, &config);
  FIRN_ASSIGN(Endpoint endpoint, ParseEndpoint(config.endpoint, config.region, config.path_style));
  ClientDeps client{deps.aws.http,        SignerFor(config, access, deps),
                    deps.aws.clock,       deps.aws.ids,
                    DefaultRetryPolicy(), deps.stop};
  return std::shared_ptr<Store>(std::make_shared<S3Store>(
      std::make_shared<S3Client>(std::move(config), std::move(endpoint), std::move(client)), deps.uploads));
}

}  // namespace firn::store::s3
