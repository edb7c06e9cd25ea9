#include "firn/catalog/rest/config.h"

#include <gtest/gtest.h>

#include "firn/catalog/rest/settings.h"
#include "firn/config/load.h"

namespace firn::catalog::rest {
namespace {

std::optional<RestCatalogConfig> Read(const std::string& yaml, std::string* text = nullptr) {
  config::Problems problems;
  auto root = config::LoadText(yaml, "/etc/firn/firn.yaml", config::SystemEnvironment(), problems);
  RestCatalogConfig config;
  const bool good = root.has_value() && RestCatalogSchema().Read(*root, problems, &config);
  if (text != nullptr) *text = problems.ToString();
  if (!good) return std::nullopt;
  return config;
}

TEST(RestCatalogSchema, KeysBecomeIcebergsProperties) {
  auto config = Read(
      "type: rest\nuri: https://catalog.example/api/\nwarehouse: lake\ncredential: id:pass\nscope: "
      "PRINCIPAL\n"
      "rest-page-size: 50\nheader.X-Tenant: t\ns3.region: eu-1\nclient.region: eu-1\nssl.cabundle: ca.pem\n");
  ASSERT_TRUE(config.has_value());
  EXPECT_EQ(config->ca_file, "/etc/firn/ca.pem");
  EXPECT_EQ(PropertiesOf(*config), (iceberg::Properties{{"uri", "https://catalog.example/api"},
                                                        {"warehouse", "lake"},
                                                        {"credential", "id:pass"},
                                                        {"scope", "PRINCIPAL"},
                                                        {"rest-page-size", "50"},
                                                        {"header.X-Tenant", "t"},
                                                        {"s3.region", "eu-1"},
                                                        {"client.region", "eu-1"}}));
}

TEST(RestCatalogSchema, MapOfS3HasTheNamesOfFileIo) {
  auto config =
      Read("uri: https://h\ns3: {endpoint: \"http://s3:9000\", region: eu-1}\ns3.endpoint: http://other\n");
  ASSERT_TRUE(config.has_value());
  const iceberg::Properties properties = PropertiesOf(*config);
  EXPECT_EQ(properties.at("client.region"), "eu-1");
  EXPECT_EQ(properties.at("s3.endpoint"), "http://other");
}

TEST(RestCatalogSchema, AddressMustBeOneWithoutPassword) {
  std::string text;
  for (const char* uri : {"catalog.example", "ftp://h", "https://user:pass@h", "https://h?x=1", "https://"}) {
    EXPECT_FALSE(Read(std::string("uri: \"") + uri + "\"\n", &text).has_value()) << uri;
    EXPECT_EQ(text.find("pass@"), std::string::npos) << text;
  }
}

TEST(RestCatalogSchema, AuthenticationMustBeComplete) {
  std::string text;
  EXPECT_FALSE(Read("uri: https://h\nrest.auth.type: oauth2\n", &text).has_value());
  EXPECT_NE(text.find("oauth2 needs credential or token"), std::string::npos) << text;
  EXPECT_FALSE(Read("uri: https://h\nrest.auth.type: basic\n").has_value());
  EXPECT_FALSE(Read("uri: https://h\nrest.access-key-id: a\n").has_value());
  EXPECT_FALSE(Read("uri: https://h\nrest.auth.type: magic\n", &text).has_value());
  EXPECT_NE(text.find("oauth2"), std::string::npos) << text;
}

TEST(RestSettings, DefaultsThenOwnThenOverrides) {
  const iceberg::Properties own = {{"uri", "http://h"}, {"scope", "own"}, {"s3.region", "own"}};
  ConfigAnswer server;
  server.defaults = {{"scope", "default"}, {"s3.endpoint", "http://s3"}, {"header.X-A", "1"}};
  server.overrides = {{"prefix", "main/"}, {"s3.region", "forced"}, {"namespace-separator", "%2E"}};
  auto settings = MakeSettings(own, server);
  ASSERT_TRUE(settings.ok()) << settings.error().ToString();
  EXPECT_EQ(settings->Property("scope"), "own");
  EXPECT_EQ(settings->prefix, "main");
  EXPECT_EQ(settings->namespace_separator, "%2E");
  EXPECT_EQ(settings->headers, (iceberg::Properties{{"X-A", "1"}}));
  EXPECT_EQ(settings->StoreProperties().at("s3.region"), "forced");
  EXPECT_EQ(settings->StoreProperties().at("s3.endpoint"), "http://s3");
}

TEST(RestSettings, StoresSeeNoSecretOfTheCatalog) {
  auto settings = MakeSettings({{"uri", "http://h"},
                                {"credential", "id:pass"},
                                {"token", "t"},
                                {"rest.secret-access-key", "k"},
                                {"header.Authorization", "a"},
                                {"s3.region", "r"}},
                               {});
  ASSERT_TRUE(settings.ok());
  EXPECT_EQ(settings->StoreProperties(), (iceberg::Properties{{"s3.region", "r"}}));
}

TEST(RestSettings, AuthenticationFollowsFromWhatIsSet) {
  const auto kind = [](const iceberg::Properties& own) { return MakeSettings(own, {})->auth; };
  EXPECT_EQ(kind({}), AuthKind::kNone);
  EXPECT_EQ(kind({{"token", "t"}}), AuthKind::kOAuth2);
  EXPECT_EQ(kind({{"credential", "c"}}), AuthKind::kOAuth2);
  EXPECT_EQ(kind({{"rest.sigv4-enabled", "true"}}), AuthKind::kSigV4);
  EXPECT_EQ(kind({{"credential", "c"}, {"rest.auth.type", "none"}}), AuthKind::kNone);
  EXPECT_FALSE(MakeSettings({{"rest.auth.type", "google"}}, {}).ok());
}

}  // namespace
}  // namespace firn::catalog::rest
