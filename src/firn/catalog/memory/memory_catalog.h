#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "firn/iceberg/catalog.h"
#include "firn/runtime/clock.h"

namespace firn::catalog {

/// What the catalog does with a commit, for tests of the protocol.
enum class CommitFault : uint8_t {
  kNone,
  kConflict,        ///< refused as a lost race, not applied
  kEcho,            ///< applied, but what arrives is the refusal of a second copy
  kRejected,        ///< refused for good
  kBlocked,         ///< applied, but something in between says that it is refused for good
  kAnswerLost,      ///< applied, but the answer is unknown
  kRequestLost,     ///< not applied, and the answer is unknown
  kRequestDelayed,  ///< unknown now; applied by DeliverDelayed, if its requirements still hold then
};

/// A catalog in memory, with faults. Metadata is kept as values; table files live in the store it was given.
/// Thread-safe.
class MemoryCatalog : public iceberg::Catalog {
 public:
  MemoryCatalog(std::string name, std::string warehouse, std::shared_ptr<store::Store> store,
                runtime::Clock& clock);

  const std::string& name() const override { return name_; }
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

  /// Faults of the next commits, in order.
  void FailNextCommits(std::vector<CommitFault> faults);
  /// The next `count` loads answer kUnavailable.
  void FailNextLoads(int count);
  /// Called before each commit is looked at (another writer that slips in between).
  void BeforeCommit(std::function<void()> hook);
  /// Delayed requests arrive now. Returns how many were applied.
  int DeliverDelayed();
  int commits_seen() const;

 private:
  struct Entry {
    std::string location;
    std::shared_ptr<const iceberg::TableMetadata> metadata;
  };

  iceberg::LoadedTable Loaded(const iceberg::TableIdentifier& table, const Entry& entry) const;
  Status Apply(const iceberg::TableCommit& commit);
  std::function<void()> HookBeforeCommit() const;

  const std::string name_;
  const std::string warehouse_;
  const std::shared_ptr<store::Store> store_;
  runtime::Clock& clock_;
  mutable std::mutex mutex_;
  std::map<iceberg::TableIdentifier, Entry> tables_;
  std::map<iceberg::Namespace, iceberg::Properties> namespaces_;
  std::deque<CommitFault> faults_;
  std::vector<iceberg::TableCommit> delayed_;
  std::function<void()> before_commit_;
  int failing_loads_ = 0;
  int commits_seen_ = 0;
  int64_t versions_ = 0;
};

}  // namespace firn::catalog
