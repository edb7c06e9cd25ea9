#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "firn/base/result.h"
#include "firn/iceberg/catalog.h"

/// Bodies of a REST catalog's answers, from bytes that may be anything. kCorrupt names what is wrong.
namespace firn::catalog::rest {

struct ConfigAnswer {
  iceberg::Properties defaults;
  iceberg::Properties overrides;
  std::vector<std::string> endpoints;  ///< `GET /v1/{prefix}/namespaces` ...; empty: the server does not tell
};
Result<ConfigAnswer> ParseConfigAnswer(std::string_view body);

/// The error model `{"error": {"message", "type", "code"}}`.
struct ErrorAnswer {
  std::string message;
  std::string type;  ///< `NoSuchTableException` ...; may be empty
};
/// Nothing when the body is not the error model: then it is not the catalog who speaks.
std::optional<ErrorAnswer> ParseErrorAnswer(std::string_view body);

struct TokenAnswer {
  std::string access_token;
  std::optional<int64_t> expires_in_s;
};
Result<TokenAnswer> ParseTokenAnswer(std::string_view body);
/// `invalid_client: description` of an OAuth2 error, or of the catalog's error model; nothing when it is
/// neither.
std::optional<std::string> ParseTokenError(std::string_view body);
/// `exp` of a JSON Web Token in milliseconds, its signature not looked at; nothing when it is none.
std::optional<int64_t> ExpiryOfJwtMs(std::string_view token);

/// Credentials for locations that begin with `prefix`.
struct StorageCredential {
  std::string prefix;
  iceberg::Properties config;
};

struct TableAnswer {
  std::string metadata_location;
  std::shared_ptr<const iceberg::TableMetadata> metadata;
  iceberg::Properties config;
  std::vector<StorageCredential> credentials;
  iceberg::Properties signing_headers;  ///< of `remote-signing-config`: sent with each request to be signed
};
/// Of loadTable, createTable and updateTable.
Result<TableAnswer> ParseTableAnswer(std::string_view body);
Result<std::vector<StorageCredential>> ParseCredentialsAnswer(std::string_view body);
/// The config of the longest prefix that `location` begins with; null when none fits.
const StorageCredential* FindCredential(const std::vector<StorageCredential>& credentials,
                                        std::string_view location);

template <typename T>
struct Page {
  std::vector<T> items;
  std::string next_token;  ///< empty: the last page
};
Result<Page<iceberg::Namespace>> ParseNamespacesAnswer(std::string_view body);
Result<Page<iceberg::TableIdentifier>> ParseTablesAnswer(std::string_view body);
Result<iceberg::Properties> ParseNamespaceAnswer(std::string_view body);

}  // namespace firn::catalog::rest
