#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "firn/base/result.h"
#include "firn/db/session_pool.h"
#include "firn/iceberg/catalog.h"

namespace firn::catalog::sql {

/// The rows of a SQL catalog: the layout that PyIceberg's SqlCatalog and Java's JdbcCatalog share, of which
/// any number of programs may read and write the same database.
///
///   iceberg_tables                 (catalog_name, table_namespace, table_name) -> metadata_location,
///   previous_metadata_location,
///                                  iceberg_type ('TABLE', 'VIEW' or null; layout V1 only)
///   iceberg_namespace_properties   (catalog_name, namespace, property_key) -> property_value
///
/// A new database gets layout V1; one without `iceberg_type` (V0) is used as it is. A namespace exists when
/// it, or one below it, has a table or a property; `exists` = `true` is the property of one that has nothing
/// else. Levels are joined by dots. Thread-safe.
class TableRows {
 public:
  TableRows(const db::DatabaseOptions& options, std::string catalog_name);

  /// Makes the tables where they are missing. Writes nothing to a database that has them.
  Status Prepare();
  /// Whether they are there. False also where a SQLite file is missing; a PostgreSQL database that is missing
  /// is an error: nobody but its administrator makes it.
  Result<bool> Exist();

  /// Metadata location of a table. kNotFound when it is not there, or is a view.
  Result<std::string> Find(const iceberg::TableIdentifier& table);
  /// kAlreadyExists when the name is taken by a table or view. kUnknownOutcome: not known whether the row was
  /// added.
  Status Insert(const iceberg::TableIdentifier& table, const std::string& metadata_location);
  /// Compare-and-set of the metadata pointer: false when it is not (or no longer) `from`.
  /// kUnknownOutcome: not known whether it was set.
  Result<bool> Swap(const iceberg::TableIdentifier& table, const std::string& from, const std::string& to);
  /// False when the row is not there with this location.
  Result<bool> Remove(const iceberg::TableIdentifier& table, const std::string& metadata_location);
  /// kNotFound when `from` is not there or is a view, kAlreadyExists when `to` is taken.
  Status Rename(const iceberg::TableIdentifier& from, const iceberg::TableIdentifier& to);
  Result<std::vector<iceberg::TableIdentifier>> List(const iceberg::Namespace& ns);

  /// Every namespace that a table or a property names; those above them are not listed by themselves.
  Result<std::vector<iceberg::Namespace>> Namespaces();
  Result<bool> NamespaceExists(const iceberg::Namespace& ns);
  Status AddNamespace(const iceberg::Namespace& ns, const iceberg::Properties& properties);
  /// Without `exists`; empty also for a namespace that is not there.
  Result<iceberg::Properties> NamespaceProperties(const iceberg::Namespace& ns);
  /// The namespace stays where its last property goes.
  Status ChangeNamespace(const iceberg::Namespace& ns, const std::vector<std::string>& removals,
                         const iceberg::Properties& updates);
  /// False, and nothing removed, when it has tables or views.
  Result<bool> RemoveNamespace(const iceberg::Namespace& ns);

 private:
  /// ` AND (iceberg_type = 'TABLE' OR iceberg_type IS NULL)` where the layout has that column. kNotFound when
  /// the tables are not there.
  Result<std::string> TableFilter(db::Session& session);
  /// A session of a database that has the tables; kNotFound otherwise.
  Result<db::SessionPool::Lease> GetReady();
  static Result<bool> HasTables(db::Session& session);
  static Status MakeTables(db::Session& session);
  Status SetProperty(db::Session& session, const std::string& ns, const std::string& key,
                     const std::string& value);

  db::SessionPool pool_;
  const bool is_file_;
  const std::string place_;
  const std::string catalog_name_;
  std::atomic<bool> is_v1_{false};  ///< seen once: a layout never loses the column
};

/// Levels joined by dots. kInvalidArgument for an empty namespace and for empty levels or levels with a dot
/// in them.
Result<std::string> NamespaceText(const iceberg::Namespace& ns);

}  // namespace firn::catalog::sql
