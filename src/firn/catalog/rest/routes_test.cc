#include "firn/catalog/rest/routes.h"

#include <gtest/gtest.h>

namespace firn::catalog::rest {
namespace {

RestSettings Settings(const std::string& prefix = "") {
  RestSettings settings;
  settings.uri = "http://h/base";
  settings.prefix = prefix;
  return settings;
}

TEST(Routes, PrefixStandsBetweenVersionAndResource) {
  EXPECT_EQ(Routes(Settings()).Namespaces().url, "http://h/base/v1/namespaces");
  EXPECT_EQ(Routes(Settings("ws/main")).Namespaces().url, "http://h/base/v1/ws/main/namespaces");
}

TEST(Routes, LevelsAreEncodedAndJoinedByTheUnitSeparator) {
  const Routes routes(Settings());
  EXPECT_EQ(routes.Namespace({"a", "b c", "d/é"}).url, "http://h/base/v1/namespaces/a%1Fb%20c%1Fd%2F%C3%A9");
  EXPECT_EQ(routes.NamespaceQuery({"a", "b"}), "a%1Fb");
  EXPECT_EQ(routes.Table({{"a", "b"}, "t?x"}).url, "http://h/base/v1/namespaces/a%1Fb/tables/t%3Fx");
}

TEST(Routes, SeparatorOfTheServerIsUsed) {
  RestSettings settings = Settings();
  settings.namespace_separator = "%2E";
  const Routes routes(settings);
  EXPECT_EQ(routes.Namespace({"a", "b"}).url, "http://h/base/v1/namespaces/a%2Eb");
  EXPECT_EQ(routes.NamespaceQuery({"a", "b"}), "a.b");
}

TEST(Routes, OnlyListedEndpointsAreOffered) {
  RestSettings settings = Settings();
  const iceberg::TableIdentifier table{{"a"}, "t"};
  EXPECT_TRUE(Routes(settings).Has("GET", Routes(settings).Table(table)));
  EXPECT_FALSE(Routes(settings).Has("GET", Routes(settings).Credentials(table)));
  settings.endpoints = {"GET /v1/{prefix}/namespaces/{namespace}/tables/{table}/credentials"};
  const Routes routes(settings);
  EXPECT_TRUE(routes.Require("GET", routes.Credentials(table)).ok());
  const Status refused = routes.Require("POST", routes.Rename());
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().kind(), ErrorKind::kUnsupported);
  EXPECT_NE(refused.error().ToString().find("POST /v1/{prefix}/tables/rename"), std::string::npos);
}

TEST(Routes, AddressesMayBeRelativeToTheCatalog) {
  EXPECT_EQ(AbsoluteUrl("http://h/base", "v1/oauth/tokens"), "http://h/base/v1/oauth/tokens");
  EXPECT_EQ(AbsoluteUrl("http://h/base", "/v1/x"), "http://h/base/v1/x");
  EXPECT_EQ(AbsoluteUrl("http://h/base", "https://idp/token"), "https://idp/token");
  EXPECT_EQ(ConfigUrl("http://h", "s3://b/w"), "http://h/v1/config?warehouse=s3%3A%2F%2Fb%2Fw");
}

}  // namespace
}  // namespace firn::catalog::rest
