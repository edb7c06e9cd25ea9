#include "firn/catalog/rest/oauth2.h"

#include <gtest/gtest.h>

#include "firn/runtime/manual_clock.h"
#include "support/scripted_http_server.h"

namespace firn::catalog::rest {
namespace {

using test::HttpAsked;
using test::ScriptedHttpServer;

/// A server of tokens named t1, t2 ... and what a client with `settings` makes of it.
class OAuth2Test : public ::testing::Test {
 protected:
  std::unique_ptr<Auth> Make(iceberg::Properties properties) {
    properties["uri"] = server_.Url();
    auto settings = MakeSettings(properties, {});
    EXPECT_TRUE(settings.ok());
    auto auth = MakeOAuth2(*settings, {.http = http_.get(), .clock = &clock_});
    EXPECT_TRUE(auth.ok()) << auth.error().ToString();
    return *std::move(auth);
  }

  static std::string HeaderOf(Auth& auth) {
    http::HttpRequest request;
    const Status status = auth.Authenticate(request);
    if (!status.ok()) return "error: " + status.error().ToString();
    return request.headers.back().second;
  }

  ScriptedHttpServer::Answer OnAsk(const HttpAsked& /*asked*/) {
    ++bought_;
    if (!refusal_.empty()) return refusal_;
    return ScriptedHttpServer::Json(
        200, R"({"access_token":"t)" + std::to_string(bought_) + R"(","token_type":"bearer")" + life_ + "}");
  }

  std::string life_ = R"(,"expires_in":600)";
  std::string refusal_;
  int bought_ = 0;
  runtime::ManualClock clock_;
  ScriptedHttpServer server_{[this](const HttpAsked& asked) { return OnAsk(asked); }};
  std::unique_ptr<http::HttpClient> http_ = http::MakeHttpClient({.use_proxy = false});
};

TEST_F(OAuth2Test, CredentialBuysATokenAtTheCatalogAndKeepsIt) {
  const auto auth = Make({{"credential", "me:p&ss"}, {"audience", "a"}});
  EXPECT_EQ(HeaderOf(*auth), "Bearer t1");
  EXPECT_EQ(HeaderOf(*auth), "Bearer t1");
  ASSERT_EQ(server_.asked().size(), 1U);
  const HttpAsked asked = server_.asked().front();
  EXPECT_EQ(asked.target, "/v1/oauth/tokens");
  EXPECT_EQ(asked.headers.at("content-type"), "application/x-www-form-urlencoded");
  EXPECT_EQ(asked.body,
            "grant_type=client_credentials&client_id=me&client_secret=p%26ss&scope=catalog&audience=a");
}

TEST_F(OAuth2Test, SecretAloneHasNoClientId) {
  const auto auth =
      Make({{"credential", "secret"}, {"scope", "s"}, {"oauth2-server-uri", server_.Url("/idp")}});
  EXPECT_EQ(HeaderOf(*auth), "Bearer t1");
  EXPECT_EQ(server_.asked().front().target, "/idp");
  EXPECT_EQ(server_.asked().front().body, "grant_type=client_credentials&client_secret=secret&scope=s");
}

TEST_F(OAuth2Test, TokenIsRenewedBeforeItEnds) {
  const auto auth = Make({{"credential", "me:pass"}});
  EXPECT_EQ(HeaderOf(*auth), "Bearer t1");
  clock_.Advance(539'000);
  EXPECT_EQ(HeaderOf(*auth), "Bearer t1");
  clock_.Advance(2'000);  // a tenth of 600 s is left
  EXPECT_EQ(HeaderOf(*auth), "Bearer t2");
}

TEST_F(OAuth2Test, LifeIsTheConfiguredOneWhereTheAnswerDoesNotTell) {
  life_ = "";
  const auto auth = Make({{"credential", "me:pass"}, {"token-expires-in-ms", "10000"}});
  EXPECT_EQ(HeaderOf(*auth), "Bearer t1");
  clock_.Advance(9'500);
  EXPECT_EQ(HeaderOf(*auth), "Bearer t2");
}

TEST_F(OAuth2Test, RefusedTokenIsReplacedOnce) {
  const auto auth = Make({{"credential", "me:pass"}});
  http::HttpRequest request;
  ASSERT_TRUE(auth->Authenticate(request).ok());
  EXPECT_TRUE(auth->Refused(request));
  EXPECT_EQ(HeaderOf(*auth), "Bearer t2");
  EXPECT_TRUE(auth->Refused(request));  // the old one again: the new one stays
  EXPECT_EQ(HeaderOf(*auth), "Bearer t2");
}

TEST_F(OAuth2Test, GivenTokenIsUsedAndCannotBeReplaced) {
  const auto auth = Make({{"token", "given"}});
  EXPECT_EQ(HeaderOf(*auth), "Bearer given");
  EXPECT_FALSE(auth->Refused({}));
  EXPECT_EQ(bought_, 0);
}

TEST_F(OAuth2Test, GivenTokenBesideACredentialIsReplacedWhenRefused) {
  const auto auth = Make({{"token", "given"}, {"credential", "me:pass"}});
  http::HttpRequest request;
  ASSERT_TRUE(auth->Authenticate(request).ok());
  EXPECT_EQ(request.headers.back().second, "Bearer given");
  EXPECT_TRUE(auth->Refused(request));
  EXPECT_EQ(HeaderOf(*auth), "Bearer t1");
}

TEST_F(OAuth2Test, OldTokenIsUsedToItsEndWhileTheServerIsDown) {
  const auto auth = Make({{"credential", "me:pass"}});
  EXPECT_EQ(HeaderOf(*auth), "Bearer t1");
  refusal_ = ScriptedHttpServer::Text(503, "text/plain", "busy");
  clock_.Advance(550'000);
  EXPECT_EQ(HeaderOf(*auth), "Bearer t1");
  clock_.Advance(100'000);
  http::HttpRequest request;
  const Status status = auth->Authenticate(request);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().kind(), ErrorKind::kUnavailable);
}

TEST_F(OAuth2Test, WrongCredentialIsSaidWithoutTheSecret) {
  refusal_ =
      ScriptedHttpServer::Json(401, R"({"error":"invalid_client","error_description":"unknown client"})");
  const auto auth = Make({{"credential", "me:very-secret"}});
  http::HttpRequest request;
  const Status status = auth->Authenticate(request);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().kind(), ErrorKind::kPermissionDenied);
  EXPECT_NE(status.error().ToString().find("invalid_client: unknown client"), std::string::npos);
  EXPECT_EQ(status.error().ToString().find("very-secret"), std::string::npos);
}

TEST_F(OAuth2Test, PageInThePlaceOfATokenIsAnError) {
  refusal_ = ScriptedHttpServer::Text(200, "text/html", "<html>login</html>");
  EXPECT_NE(HeaderOf(*Make({{"credential", "me:pass"}})).find("Check oauth2-server-uri"), std::string::npos);
}

}  // namespace
}  // namespace firn::catalog::rest
