#include "firn/catalog/rest/answer.h"

#include <gtest/gtest.h>

#include "firn/base/bytes.h"
#include "firn/catalog/rest/error.h"

namespace firn::catalog::rest {
namespace {

TEST(ConfigAnswer, HasDefaultsOverridesAndEndpoints) {
  auto answer = ParseConfigAnswer(
      R"({"defaults":{"a":"1"},"overrides":{"prefix":"p"},"endpoints":["GET /v1/{prefix}/namespaces"]})");
  ASSERT_TRUE(answer.ok()) << answer.error().ToString();
  EXPECT_EQ(answer->defaults.at("a"), "1");
  EXPECT_EQ(answer->overrides.at("prefix"), "p");
  EXPECT_EQ(answer->endpoints, std::vector<std::string>{"GET /v1/{prefix}/namespaces"});
}

TEST(ConfigAnswer, NullsAreEmptyAndOtherTypesAreRefused) {
  EXPECT_TRUE(ParseConfigAnswer(R"({"defaults":null,"overrides":null})").ok());
  EXPECT_FALSE(ParseConfigAnswer(R"({"defaults":{"a":1}})").ok());
  EXPECT_FALSE(ParseConfigAnswer(R"({"endpoints":"GET"})").ok());
  EXPECT_FALSE(ParseConfigAnswer("<html>").ok());
  EXPECT_FALSE(ParseConfigAnswer("[]").ok());
}

TEST(ErrorAnswer, IsTheModelOrNothing) {
  auto error = ParseErrorAnswer(R"({"error":{"message":"m","type":"NoSuchTableException","code":404}})");
  ASSERT_TRUE(error.has_value());
  EXPECT_EQ(error->message, "m");
  EXPECT_EQ(error->type, "NoSuchTableException");
  EXPECT_TRUE(ParseErrorAnswer(R"({"error":{}})").has_value());
  EXPECT_FALSE(ParseErrorAnswer(R"({"error":"invalid_client"})").has_value());
  EXPECT_FALSE(ParseErrorAnswer(R"({"message":"Not Found"})").has_value());
  EXPECT_FALSE(ParseErrorAnswer("<html>404</html>").has_value());
  EXPECT_FALSE(ParseErrorAnswer("").has_value());
}

TEST(TokenAnswer, NeedsTheTokenOnly) {
  auto token = ParseTokenAnswer(R"({"access_token":"t","token_type":"bearer","expires_in":60})");
  ASSERT_TRUE(token.ok());
  EXPECT_EQ(token->access_token, "t");
  EXPECT_EQ(token->expires_in_s, 60);
  EXPECT_FALSE(ParseTokenAnswer(R"({"access_token":"t"})")->expires_in_s.has_value());
  EXPECT_FALSE(ParseTokenAnswer(R"({"token_type":"bearer"})").ok());
}

TEST(TokenError, ReadsBothForms) {
  EXPECT_EQ(ParseTokenError(R"({"error":"invalid_client","error_description":"who?"})"),
            "invalid_client: who?");
  EXPECT_EQ(ParseTokenError(R"({"error":{"message":"m","type":"T"}})"), "T: m");
  EXPECT_FALSE(ParseTokenError("no").has_value());
}

TEST(ExpiryOfJwt, ReadsTheClaim) {
  const std::string token = "h." + Base64UrlEncode(R"({"exp":1700000000})") + ".s";
  EXPECT_EQ(ExpiryOfJwtMs(token), 1'700'000'000'000);
  EXPECT_FALSE(ExpiryOfJwtMs("opaque").has_value());
  EXPECT_FALSE(ExpiryOfJwtMs("a.b.c").has_value());
  EXPECT_FALSE(ExpiryOfJwtMs("h." + Base64UrlEncode(R"({"exp":9223372036854775807})") + ".s").has_value());
}

TEST(StorageCredentials, LongestPrefixWins) {
  auto credentials = ParseCredentialsAnswer(
      R"({"storage-credentials":[{"prefix":"s3://b/","config":{"k":"short"}},
                                 {"prefix":"s3://b/t/","config":{"k":"long"}}]})");
  ASSERT_TRUE(credentials.ok()) << credentials.error().ToString();
  EXPECT_EQ(FindCredential(*credentials, "s3://b/t/data")->config.at("k"), "long");
  EXPECT_EQ(FindCredential(*credentials, "s3://b/u")->config.at("k"), "short");
  EXPECT_EQ(FindCredential(*credentials, "s3://other/u"), nullptr);
}

TEST(Listings, HaveItemsAndMaybeANextPage) {
  auto namespaces = ParseNamespacesAnswer(R"({"namespaces":[["a"],["a","b"]],"next-page-token":"t"})");
  ASSERT_TRUE(namespaces.ok());
  EXPECT_EQ(namespaces->items, (std::vector<iceberg::Namespace>{{"a"}, {"a", "b"}}));
  EXPECT_EQ(namespaces->next_token, "t");
  auto tables =
      ParseTablesAnswer(R"({"identifiers":[{"namespace":["a"],"name":"t"}],"next-page-token":null})");
  ASSERT_TRUE(tables.ok());
  EXPECT_EQ(tables->items, (std::vector<iceberg::TableIdentifier>{{{"a"}, "t"}}));
  EXPECT_TRUE(tables->next_token.empty());
  EXPECT_FALSE(ParseTablesAnswer(R"({"identifiers":[{"namespace":"a","name":"t"}]})").ok());
  EXPECT_FALSE(ParseNamespacesAnswer(R"({"namespaces":["a"]})").ok());
}

TEST(TableAnswer, WithoutMetadataIsRefused) {
  EXPECT_FALSE(ParseTableAnswer("{}").ok());
  EXPECT_FALSE(ParseTableAnswer(R"({"metadata":{"format-version":2}})").ok());
}

http::HttpResponse Response(int status, std::string body, std::string type = "application/json") {
  return {status, {{"content-type", std::move(type)}}, std::move(body)};
}

std::string ErrorBody(std::string_view type) {
  return R"({"error":{"message":"words","type":")" + std::string(type) + R"(","code":0}})";
}

TEST(ErrorOfAnswer, KindsFollowStatusAndType) {
  const auto kind = [](int status, std::string_view type) {
    return ErrorOfAnswer(Response(status, ErrorBody(type)), "GET x").kind();
  };
  EXPECT_EQ(kind(400, "BadRequestException"), ErrorKind::kInvalidArgument);
  EXPECT_EQ(kind(401, "NotAuthorizedException"), ErrorKind::kPermissionDenied);
  EXPECT_EQ(kind(403, "ForbiddenException"), ErrorKind::kPermissionDenied);
  EXPECT_EQ(kind(404, "NoSuchTableException"), ErrorKind::kNotFound);
  EXPECT_EQ(kind(404, "NotFoundException"), ErrorKind::kCorrupt);
  EXPECT_EQ(kind(406, "UnsupportedOperationException"), ErrorKind::kUnsupported);
  EXPECT_EQ(kind(409, "AlreadyExistsException"), ErrorKind::kAlreadyExists);
  EXPECT_EQ(kind(409, "NamespaceNotEmptyException"), ErrorKind::kInvalidArgument);
  EXPECT_EQ(kind(409, "CommitFailedException"), ErrorKind::kConflict);
  EXPECT_EQ(kind(422, "UnprocessableEntityException"), ErrorKind::kInvalidArgument);
  EXPECT_EQ(kind(429, "TooManyRequests"), ErrorKind::kUnavailable);
  EXPECT_EQ(kind(500, "RuntimeException"), ErrorKind::kUnavailable);
  EXPECT_EQ(kind(503, "ServiceUnavailableException"), ErrorKind::kUnavailable);
}

TEST(ErrorOfAnswer, NotFoundOfSomethingElseThanTheCatalogIsNoAbsence) {
  const Error error =
      ErrorOfAnswer(Response(404, "<html>no such page</html>", "text/html"), "GET http://h/v1/x");
  EXPECT_EQ(error.kind(), ErrorKind::kUnavailable);
  EXPECT_NE(error.ToString().find("GET http://h/v1/x answered 404 with text/html"), std::string::npos)
      << error.ToString();
  EXPECT_NE(error.ToString().find("check uri"), std::string::npos);
}

TEST(ErrorOfAnswer, PageIsNamedByItsTitle) {
  const Error error =
      ErrorOfAnswer(Response(400, "<html><title>Ambiguous path</title></html>", "text/html"), "GET x");
  EXPECT_EQ(error.kind(), ErrorKind::kInvalidArgument);
  EXPECT_NE(error.ToString().find("text/html titled \"Ambiguous path\""), std::string::npos)
      << error.ToString();
}

TEST(ErrorOfAnswer, HoldsTheServersWords) {
  const Error error = ErrorOfAnswer(Response(403, ErrorBody("ForbiddenException")), "GET x");
  EXPECT_NE(error.ToString().find("words"), std::string::npos);
  EXPECT_EQ(error.service_type(), "ForbiddenException");
  EXPECT_EQ(error.http_status(), 403);
}

TEST(RetryAfter, TakesSecondsAndDates) {
  http::HttpResponse response;
  EXPECT_EQ(RetryAfterMs(response, 0), 0);
  response.headers = {{"retry-after", "3"}};
  EXPECT_EQ(RetryAfterMs(response, 0), 3000);
  response.headers = {{"retry-after", "Thu, 01 Jan 1970 00:00:20 GMT"}};
  EXPECT_EQ(RetryAfterMs(response, 5000), 15'000);
  response.headers = {{"retry-after", "99999999"}};
  EXPECT_EQ(RetryAfterMs(response, 0), 300'000);
  response.headers = {{"retry-after", "soon"}};
  EXPECT_EQ(RetryAfterMs(response, 0), 0);
}

}  // namespace
}  // namespace firn::catalog::rest
