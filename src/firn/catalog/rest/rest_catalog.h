#pragma once

#include <memory>
#include <string>
#include <vector>

#include "firn/catalog/rest/auth.h"
#include "firn/catalog/rest/config.h"
#include "firn/catalog/rest/session.h"
#include "firn/catalog/rest/table_access.h"
#include "firn/iceberg/catalog.h"
#include "firn/runtime/clock.h"
#include "firn/runtime/ids.h"
#include "firn/store/store.h"

namespace firn::catalog::rest {

struct RestCatalogDeps {
  std::shared_ptr<store::StoreResolver> stores;
  runtime::Clock* clock = nullptr;
  runtime::IdSource* ids = nullptr;
  /// For `rest.sigv4-enabled` without keys of its own; may be empty.
  AwsCredentialsSource aws_credentials = {};
};

/// An Iceberg REST catalog. The server keeps the tables and writes their metadata files; Firn writes data
/// files, manifests and manifest lists and sends a commit as updates and requirements. Every load asks the
/// server anew. Reads are repeated with back-off, a commit never is: what became of it is the committer's to
/// find out.
class RestCatalog final : public iceberg::Catalog {
 public:
  /// Asks the server for its configuration.
  static Result<std::unique_ptr<RestCatalog>> Open(const RestCatalogConfig& config, RestCatalogDeps deps);

  const std::string& name() const override { return name_; }
  Result<iceberg::LoadedTable> LoadTable(const iceberg::TableIdentifier& table) override;
  /// The server gives the uuid and, where none is wished, the location; field ids are given anew. When the
  /// answer is lost, a table that is there and has the wished schema counts as created.
  Result<iceberg::LoadedTable> CreateTable(const iceberg::TableIdentifier& table,
                                           const iceberg::NewTable& definition) override;
  [[nodiscard]] iceberg::CatalogCommitResult CommitTable(const iceberg::TableCommit& commit) override;
  Status DropTable(const iceberg::TableIdentifier& table, bool purge) override;
  Status RenameTable(const iceberg::TableIdentifier& from, const iceberg::TableIdentifier& to) override;
  Result<std::vector<iceberg::TableIdentifier>> ListTables(const iceberg::Namespace& ns) override;
  Result<std::vector<iceberg::Namespace>> ListNamespaces(const iceberg::Namespace& parent) override;
  Status CreateNamespace(const iceberg::Namespace& ns, const iceberg::Properties& properties) override;
  Result<bool> NamespaceExists(const iceberg::Namespace& ns) override;
  Result<iceberg::Properties> LoadNamespace(const iceberg::Namespace& ns) override;
  Status UpdateNamespace(const iceberg::Namespace& ns, const std::vector<std::string>& removals,
                         const iceberg::Properties& updates) override;
  Status DropNamespace(const iceberg::Namespace& ns) override;

 private:
  RestCatalog(std::string name, RestCatalogDeps deps, std::shared_ptr<RestClient> client);

  /// A request to a resource that the server must offer.
  Result<http::HttpResponse> Ask(std::string_view method, const Route& route, Call call);
  Result<iceberg::LoadedTable> Loaded(const iceberg::TableIdentifier& table,
                                      const http::HttpResponse& response, std::string_view request);
  Result<iceberg::LoadedTable> CreatedOrNot(const iceberg::TableIdentifier& table,
                                            const iceberg::TableMetadata& wished, const Error& error);
  /// All pages of a listing. `parse` gives the items of one.
  template <typename T, typename Parse>
  Result<std::vector<T>> AllPages(const Route& route, const std::string& query, Parse parse);

  const std::string name_;
  RestCatalogDeps deps_;
  std::shared_ptr<RestClient> client_;
  TableStores stores_;
};

}  // namespace firn::catalog::rest
