#include "firn/decode/schema_registry/config.h"

#include <algorithm>

#include <fmt/format.h>

namespace firn::decode {

namespace {

bool IsHttpUrl(std::string_view url) {
  const bool known = url.starts_with("http://") || url.starts_with("https://");
  return known && url.size() > url.find("//") + 2 && url.find_first_of(" \t\r\n") == std::string_view::npos;
}

/// A user name in the URL would show up in logs and errors.
bool HoldsUser(std::string_view url) {
  const auto host = url.substr(url.find("//") + 2);
  return host.substr(0, host.find('/')).find('@') != std::string_view::npos;
}

std::string WithoutTrailingSlash(std::string url) {
  while (url.ends_with('/')) url.pop_back();
  return url;
}

bool ReadUrls(const config::Node& node, config::Problems& problems, std::vector<std::string>* out) {
  const std::vector<config::Node> items = node.is_list() ? node.Items() : std::vector<config::Node>{node};
  if (items.empty()) problems.Add(node, "the list must not be empty");
  bool good = !items.empty();
  for (const config::Node& item : items) {
    if (!item.is_scalar() || !IsHttpUrl(item.text())) {
      problems.Add(item, "expected a URL like https://registry:8081");
      good = false;
    } else if (HoldsUser(item.text())) {
      problems.Add(item, "a user name and password do not belong into the URL; write them under auth:");
      good = false;
    } else {
      out->push_back(WithoutTrailingSlash(item.text()));
    }
  }
  return good;
}

const config::Schema<RegistryAuth>& AuthSchema() {
  static const auto schema =
      config::Schema<RegistryAuth>()
          .Field("username", &RegistryAuth::username, config::Text(), "For basic authentication.", "none")
          .Field("password", &RegistryAuth::password, config::SecretText(), "Of that user.", "none")
          .Field("token", &RegistryAuth::token, config::SecretText(), "Sent as a bearer token.", "none")
          .Check([](const RegistryAuth& auth, config::Checker& check) {
            if (auth.token && (auth.username || auth.password))
              check.Fail("token", "a token and a user contradict each other; take one of the two out");
            if (auth.username.has_value() != auth.password.has_value())
              check.Fail("", "username and password belong together");
          });
  return schema;
}

const config::Schema<RegistryTls>& TlsSchema() {
  static const auto schema = config::Schema<RegistryTls>().Field(
      "ca", &RegistryTls::ca, config::Path(), "PEM file of the authorities to trust.", "the system's");
  return schema;
}

}  // namespace

const config::Schema<SchemaRegistryConfig>& SchemaRegistrySchema() {
  static const auto schema =
      config::Schema<SchemaRegistryConfig>()
          .Required(
              "url", &SchemaRegistryConfig::urls,
              config::Custom<std::vector<std::string>>("URL or list of URLs", ReadUrls),
              "Of the registry (Confluent's REST protocol). Of several the next is asked where one does not "
              "answer.")
          .Field("auth", &SchemaRegistryConfig::auth, config::Object(AuthSchema()),
                 "How it knows us: `{username: ..., password: ...}` or `{token: ...}`.")
          .Field("tls", &SchemaRegistryConfig::tls, config::Object(TlsSchema()), "For https.");
  return schema;
}

}  // namespace firn::decode
