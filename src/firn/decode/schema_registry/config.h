#pragma once

#include <optional>
#include <string>
#include <vector>

#include "firn/config/schema.h"
#include "firn/config/secret.h"

namespace firn::decode {

/// How the registry knows us: nothing, or exactly one of user name with password and token.
struct RegistryAuth {
  std::optional<std::string> username;
  std::optional<config::Secret> password;
  std::optional<config::Secret> token;  ///< sent as a bearer token
};

struct RegistryTls {
  std::optional<std::string> ca;  ///< PEM bundle in the place of the system's
};

/// `decode.schema_registry`: a registry that speaks Confluent's REST protocol.
struct SchemaRegistryConfig {
  std::vector<std::string> urls;  ///< of one registry; the next is asked where one does not answer
  RegistryAuth auth;
  RegistryTls tls;
};

const config::Schema<SchemaRegistryConfig>& SchemaRegistrySchema();

}  // namespace firn::decode
