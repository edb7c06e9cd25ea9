#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "firn/base/result.h"
#include "firn/iceberg/model/update.h"
#include "firn/store/store.h"

namespace firn::iceberg {

using Namespace = std::vector<std::string>;

struct TableIdentifier {
  Namespace ns;
  std::string name;
  std::string ToString() const;  ///< levels and name joined by '.'
  bool operator==(const TableIdentifier&) const = default;
  auto operator<=>(const TableIdentifier&) const = default;
};

/// A table as the catalog shows it at one moment. `store` reads and writes its files.
struct LoadedTable {
  TableIdentifier identifier;
  std::string metadata_location;
  std::shared_ptr<const TableMetadata> metadata;
  std::shared_ptr<store::Store> store;
  /// Of the file at `metadata_location`, where the catalog wrote or read it itself.
  std::optional<int64_t> metadata_bytes = std::nullopt;
};

/// One atomic change of one table. `base` is the state the updates were computed from.
struct TableCommit {
  LoadedTable base;
  std::vector<Requirement> requirements;
  std::vector<Update> updates;
  std::string idempotency_key;  ///< UUID of version 7, one per attempt; catalogs that cannot use it ignore it
};

/// What a catalog can say of a commit. A closed type: visit it.
struct CommitDone {
  LoadedTable table;
};
struct CommitConflict {
  Error error;  ///< a requirement failed or the pointer moved: nothing was applied; refresh and try again
  /// Something between us and the catalog may have sent the request twice, so that the first copy is what
  /// this refusal ran into: files of the commit may go only when the history shows that it is not in.
  bool may_be_echo = false;
};
struct CommitUnknown {
  Error error;  ///< may or may not have been applied: delete nothing, look for the commit in the table's
                ///< history
};
struct CommitRejected {
  Error error;  ///< not applied, and the same request will not be
  /// It was not the catalog that refused (a firewall, a proxy), and what it did with the request before is
  /// not known: files of the commit may go only when the history shows that it is not in.
  bool may_have_passed = false;
};
using CatalogCommitResult = std::variant<CommitDone, CommitConflict, CommitUnknown, CommitRejected>;

/// Any Iceberg catalog, as commit, maintain and the tools see it. Thread-safe.
/// Errors: kNotFound, kAlreadyExists, kPermissionDenied, kUnavailable, kTimeout, kCorrupt ...
class Catalog {
 public:
  virtual ~Catalog() = default;

  virtual const std::string& name() const = 0;
  /// Always looks the table up anew (never an answer from a cache that another writer can outdate).
  virtual Result<LoadedTable> LoadTable(const TableIdentifier& table) = 0;
  /// `location` empty: the catalog's default. The namespace must exist.
  virtual Result<LoadedTable> CreateTable(const TableIdentifier& table, const NewTable& definition) = 0;
  [[nodiscard]] virtual CatalogCommitResult CommitTable(const TableCommit& commit) = 0;
  /// Removes the entry; files stay unless `purge`.
  virtual Status DropTable(const TableIdentifier& table, bool purge) = 0;
  /// Files stay where they are. The namespace of `to` must exist; kAlreadyExists when its name is taken.
  virtual Status RenameTable(const TableIdentifier& from, const TableIdentifier& to) = 0;
  virtual Result<std::vector<TableIdentifier>> ListTables(const Namespace& ns) = 0;
  virtual Result<std::vector<Namespace>> ListNamespaces(const Namespace& parent) = 0;
  virtual Status CreateNamespace(const Namespace& ns, const Properties& properties) = 0;
  virtual Result<bool> NamespaceExists(const Namespace& ns) = 0;
  /// Its properties. kNotFound when there is no such namespace.
  virtual Result<Properties> LoadNamespace(const Namespace& ns) = 0;
  /// Takes the keys of `removals` away (one that is not set is no error) and sets `updates`, as one change.
  /// kInvalidArgument for a key in both.
  virtual Status UpdateNamespace(const Namespace& ns, const std::vector<std::string>& removals,
                                 const Properties& updates) = 0;
  /// kInvalidArgument, and nothing changed, when tables, views or namespaces are in it.
  virtual Status DropNamespace(const Namespace& ns) = 0;
};

/// UpdateNamespace's rule on its arguments, which every catalog checks before it asks its server.
Status CheckNamespaceUpdate(const Namespace& ns, const std::vector<std::string>& removals,
                            const Properties& updates);

}  // namespace firn::iceberg
