#pragma once

#include <memory>
#include <string>
#include <vector>

#include "firn/catalog/sql/config.h"
#include "firn/catalog/sql/table_rows.h"
#include "firn/iceberg/catalog.h"
#include "firn/iceberg/meta/metadata_file.h"
#include "firn/runtime/clock.h"
#include "firn/runtime/ids.h"
#include "firn/store/store.h"

namespace firn::catalog::sql {

struct SqlCatalogDeps {
  std::shared_ptr<store::StoreResolver> stores;
  runtime::Clock* clock = nullptr;
  runtime::IdSource* ids = nullptr;
};

/// Iceberg's SQL catalog on SQLite or PostgreSQL. A commit writes the new metadata file first and then swaps
/// the pointer by compare-and-set: one UPDATE that commits by itself, so that no lock outlives it. A
/// connection that breaks during that statement is CommitUnknown. The pointer is looked up for every read, so
/// that other programs may commit to the same tables at any time; metadata files, which never change, are
/// cached by location.
class SqlCatalog final : public iceberg::Catalog {
 public:
  /// Makes its tables, and a SQLite file, where they are missing.
  static Result<std::unique_ptr<SqlCatalog>> Open(SqlCatalogConfig config, SqlCatalogDeps deps);
  /// Makes nothing. A catalog that is not there yet answers kNotFound to everything.
  static Result<std::unique_ptr<SqlCatalog>> OpenExisting(SqlCatalogConfig config, SqlCatalogDeps deps);

  const std::string& name() const override { return config_.name; }
  Result<iceberg::LoadedTable> LoadTable(const iceberg::TableIdentifier& table) override;
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
  SqlCatalog(SqlCatalogConfig config, const db::DatabaseOptions& database, SqlCatalogDeps deps);

  Result<iceberg::LoadedTable> LoadAt(const iceberg::TableIdentifier& table,
                                      const std::string& metadata_location);
  Result<iceberg::LoadedTable> CurrentBase(const iceberg::TableCommit& commit);
  iceberg::CatalogCommitResult Publish(const iceberg::LoadedTable& base, iceberg::TableMetadata next);
  Status InsertNew(const iceberg::TableIdentifier& table, const std::string& location,
                   store::AttemptFiles& files);
  Result<std::string> DefaultLocation(const iceberg::TableIdentifier& table);
  Status RequireNamespace(const iceberg::Namespace& ns);

  SqlCatalogConfig config_;
  SqlCatalogDeps deps_;
  const store::StoreAccess access_;  ///< of all the catalog's tables
  TableRows rows_;
  iceberg::MetadataFiles metadata_files_;
};

}  // namespace firn::catalog::sql
