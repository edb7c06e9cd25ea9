#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include "firn/base/result.h"
#include "firn/catalog/rest/answer.h"
#include "firn/iceberg/catalog.h"

namespace firn::catalog::rest {

enum class AuthKind : uint8_t { kNone, kBasic, kOAuth2, kSigV4 };

/// What the client works with: its own properties merged with the server's.
struct RestSettings {
  iceberg::Properties properties;           ///< the merged ones
  std::string uri;                          ///< without a slash at the end
  std::string prefix;                       ///< empty: none
  std::string namespace_separator = "%1F";  ///< as it stands in a path
  std::set<std::string> endpoints;          ///< empty: the server does not tell
  iceberg::Properties headers;              ///< sent with every request
  AuthKind auth = AuthKind::kNone;
  int32_t page_size = 0;  ///< 0: the server's choice

  std::string Property(const std::string& key, std::string_view default_value = "") const;
  /// FileIO properties: all but those that are for talking to the catalog (addresses, secrets, headers).
  iceberg::Properties StoreProperties() const;
};

/// The server's defaults, over them the client's own properties, over both the server's overrides.
/// kInvalidArgument for values that do not parse.
Result<RestSettings> MakeSettings(const iceberg::Properties& own, const ConfigAnswer& server);

}  // namespace firn::catalog::rest
