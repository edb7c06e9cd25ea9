#include "firn/decode/schema_registry/config.h"

#include <gtest/gtest.h>

#include "firn/config/load.h"

namespace firn::decode {
namespace {

std::string Problem(const std::string& yaml, SchemaRegistryConfig* config) {
  config::Problems problems;
  const auto root = config::LoadText(yaml, "f.yaml", config::SystemEnvironment(), problems);
  if (root) SchemaRegistrySchema().Read(*root, problems, config);
  return problems.ToString();
}

TEST(SchemaRegistryConfig, TakesOneUrlOrSeveral) {
  SchemaRegistryConfig one;
  EXPECT_EQ(Problem("url: http://localhost:8081/", &one), "");
  EXPECT_EQ(one.urls, std::vector<std::string>{"http://localhost:8081"});
  SchemaRegistryConfig two;
  EXPECT_EQ(Problem("url: [https://a:1, https://b:1/path]\nauth: {token: t}\ntls: {ca: /ca.pem}", &two), "");
  EXPECT_EQ(two.urls.size(), 2U);
  EXPECT_EQ(two.tls.ca, "/ca.pem");
}

TEST(SchemaRegistryConfig, RefusesContradictionsAndCredentialsInUrls) {
  SchemaRegistryConfig config;
  EXPECT_NE(Problem("url: localhost:8081", &config).find("expected a URL"), std::string::npos);
  EXPECT_NE(Problem("url: http://u:secret@host", &config).find("under auth:"), std::string::npos);
  EXPECT_EQ(Problem("url: http://u:secret@host", &config).find("secret"), std::string::npos);
  EXPECT_NE(Problem("url: http://h\nauth: {username: u}", &config).find("belong together"),
            std::string::npos);
  EXPECT_NE(Problem("url: http://h\nauth: {username: u, password: p, token: t}", &config).find("contradict"),
            std::string::npos);
  EXPECT_NE(Problem("auth: {token: t}", &config).find("url"), std::string::npos);
}

}  // namespace
}  // namespace firn::decode
