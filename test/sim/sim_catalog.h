#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "firn/catalog/memory/memory_catalog.h"
#include "sim/faults.h"

namespace firn::sim {

/// The catalog's server: the state of every table, and who wants to know of each change of one.
class SimCatalogServer {
 public:
  using Observer =
      std::function<void(const iceberg::TableMetadata& before, const iceberg::LoadedTable& after)>;

  SimCatalogServer(std::shared_ptr<store::Store> disk, runtime::Clock& clock, Scheduler& scheduler)
      : scheduler_(scheduler), tables_("lake", "memory://lake", std::move(disk), clock) {}

  iceberg::CatalogCommitResult Commit(const iceberg::TableCommit& commit);
  /// The request arrives some time later, whatever has become of its sender.
  void CommitLater(const iceberg::TableCommit& commit, int64_t ms);
  int on_the_way() const { return on_the_way_; }
  void Observe(Observer observer) { observer_ = std::move(observer); }
  catalog::MemoryCatalog& tables() { return tables_; }

 private:
  Scheduler& scheduler_;
  catalog::MemoryCatalog tables_;
  Observer observer_;
  int on_the_way_ = 0;
};

/// A process's way to the catalog. Commits may get lost, be answered by nobody, arrive late or twice, be
/// refused by somebody in between, or be refused although they were applied.
class SimCatalog final : public iceberg::Catalog {
 public:
  SimCatalog(SimCatalogServer& server, std::shared_ptr<store::Store> store, Network& network)
      : server_(server), store_(std::move(store)), network_(network) {}

  const std::string& name() const override { return server_.tables().name(); }
  Result<iceberg::LoadedTable> LoadTable(const iceberg::TableIdentifier& table) override;
  Result<iceberg::LoadedTable> CreateTable(const iceberg::TableIdentifier& table,
                                           const iceberg::NewTable& definition) override;
  iceberg::CatalogCommitResult CommitTable(const iceberg::TableCommit& commit) override;
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
  Status Ask() { return network_.Pass(network_.rates().load); }
  Result<iceberg::LoadedTable> AsOurs(Result<iceberg::LoadedTable> loaded) const;
  iceberg::CatalogCommitResult Answer(iceberg::CatalogCommitResult result);
  iceberg::CatalogCommitResult Befall(const iceberg::TableCommit& commit);
  iceberg::CatalogCommitResult NobodyAnswers();

  SimCatalogServer& server_;
  const std::shared_ptr<store::Store> store_;
  Network& network_;
};

}  // namespace firn::sim
