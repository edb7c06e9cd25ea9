#include "firn/catalog/rest/sigv4_auth.h"

#include <utility>

namespace firn::catalog::rest {

namespace {

namespace sigv4 = http::sigv4;

/// `https://host:1/path?query` taken apart.
std::pair<std::string, std::string> HostAndTarget(const std::string& url) {
  const size_t host = url.find("://") + 3;
  const size_t path = url.find_first_of("/?", host);
  if (path == std::string::npos) return {url.substr(host), "/"};
  const std::string target = url.substr(path);
  return {url.substr(host, path - host), target.starts_with('?') ? "/" + target : target};
}

class SigV4Auth final : public Auth {
 public:
  SigV4Auth(sigv4::Scope scope, AwsCredentialsSource credentials, runtime::Clock& clock)
      : scope_(std::move(scope)), credentials_(std::move(credentials)), clock_(clock) {}

  Status Authenticate(http::HttpRequest& request) override {
    FIRN_ASSIGN_CTX(const sigv4::Credentials credentials, credentials_(), "keys of the AWS signature");
    const auto [host, target] = HostAndTarget(request.url);
    sigv4::Request signed_request;
    signed_request.method = request.method;
    signed_request.target = target;
    signed_request.headers = {{"host", host}};
    signed_request.payload_hash = http::Sha256Hex(request.body);
    const sigv4::Options options{.path_rule = sigv4::PathRule::kNormalize};
    for (auto& header : sigv4::Sign(signed_request, credentials, scope_, clock_.NowMs(), options))
      request.headers.push_back(std::move(header));
    return Ok();
  }
  bool Refused(const http::HttpRequest& /*request*/) override { return false; }

 private:
  sigv4::Scope scope_;
  AwsCredentialsSource credentials_;
  runtime::Clock& clock_;
};

}  // namespace

Result<std::unique_ptr<Auth>> MakeSigV4Auth(const RestSettings& settings, const AuthDeps& deps) {
  sigv4::Scope scope;
  scope.service = settings.Property("rest.signing-name", "execute-api");
  scope.region = settings.Property("rest.signing-region", settings.Property("client.region"));
  if (scope.region.empty()) {
    return Error(ErrorKind::kInvalidArgument, "a signed catalog needs a region")
        .WithRemedy("Set rest.signing-region.");
  }
  AwsCredentialsSource source = deps.aws_credentials;
  const std::string key = settings.Property("rest.access-key-id");
  if (!key.empty()) {
    const sigv4::Credentials fixed{key, settings.Property("rest.secret-access-key"),
                                   settings.Property("rest.session-token")};
    source = [fixed]() -> Result<sigv4::Credentials> { return fixed; };
  }
  if (!source) {
    return Error(ErrorKind::kInvalidArgument, "a signed catalog needs keys")
        .WithRemedy("Set rest.access-key-id and rest.secret-access-key.");
  }
  return std::unique_ptr<Auth>(std::make_unique<SigV4Auth>(std::move(scope), std::move(source), *deps.clock));
}

}  // namespace firn::catalog::rest
