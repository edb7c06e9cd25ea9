#include "firn/catalog/rest/auth.h"

#include <utility>

#include "firn/base/bytes.h"
#include "firn/catalog/rest/oauth2.h"
#include "firn/catalog/rest/sigv4_auth.h"

namespace firn::catalog::rest {

namespace {

class NoAuth final : public Auth {
 public:
  Status Authenticate(http::HttpRequest& /*request*/) override { return Ok(); }
  bool Refused(const http::HttpRequest& /*request*/) override { return false; }
};

class BasicAuth final : public Auth {
 public:
  BasicAuth(const std::string& user, const std::string& password)
      : header_("Basic " + Base64Encode(user + ":" + password)) {}
  Status Authenticate(http::HttpRequest& request) override {
    request.headers.emplace_back("Authorization", header_);
    return Ok();
  }
  bool Refused(const http::HttpRequest& /*request*/) override { return false; }

 private:
  std::string header_;
};

}  // namespace

Result<std::unique_ptr<Auth>> MakeAuth(const RestSettings& settings, const AuthDeps& deps) {
  switch (settings.auth) {
    case AuthKind::kNone:
      break;
    case AuthKind::kBasic:
      return std::unique_ptr<Auth>(std::make_unique<BasicAuth>(
          settings.Property("rest.auth.basic.username"), settings.Property("rest.auth.basic.password")));
    case AuthKind::kOAuth2:
      return MakeOAuth2(settings, deps);
    case AuthKind::kSigV4:
      return MakeSigV4Auth(settings, deps);
  }
  return std::unique_ptr<Auth>(std::make_unique<NoAuth>());
}

}  // namespace firn::catalog::rest
