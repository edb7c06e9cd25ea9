#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "firn/base/result.h"
#include "firn/catalog/rest/answer.h"
#include "firn/catalog/rest/routes.h"
#include "firn/catalog/rest/session.h"
#include "firn/catalog/rest/settings.h"
#include "firn/store/store.h"

namespace firn::catalog::rest {

/// One catalog, ready to be asked. Shared with the stores that renew their credentials by it.
struct RestClient {
  RestSettings settings;
  Routes routes;
  std::unique_ptr<http::HttpClient> http;
  std::unique_ptr<Session> session;
};

/// How the files of a table are reached, in the order of precedence: the credentials that the answer holds
/// for the longest prefix of the table's location, the answer's config, the catalog's own properties.
store::StoreAccess AccessOf(const std::shared_ptr<RestClient>& client, const iceberg::TableIdentifier& table,
                            const TableAnswer& answer);

/// Header by which loadTable and createTable ask for credentials.
http::HttpHeaders DelegationHeaders();

/// The stores of tables, kept as long as their access stays the same but for credentials that the store
/// renews by itself. Thread-safe.
class TableStores {
 public:
  explicit TableStores(std::shared_ptr<store::StoreResolver> resolver) : resolver_(std::move(resolver)) {}
  Result<std::shared_ptr<store::Store>> For(const std::shared_ptr<RestClient>& client,
                                            const iceberg::TableIdentifier& table, const TableAnswer& answer);

 private:
  struct Kept {
    std::string location;
    iceberg::Properties properties;  ///< without credentials
    std::shared_ptr<store::Store> store;
  };

  std::shared_ptr<store::StoreResolver> resolver_;
  std::mutex mutex_;
  std::map<std::string, Kept> by_uuid_;
};

}  // namespace firn::catalog::rest
