#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "firn/iceberg/meta/manifest.h"
#include "firn/runtime/clock.h"
#include "firn/runtime/ids.h"
#include "firn/store/memory/memory_store.h"
#include "sim/sim_catalog.h"

namespace firn::sim {

/// Another engine at the same table, as Spark would be: rewrites data files and expires snapshots. It knows
/// nothing of Firn; properties stay, summaries of its snapshots are its own. A lost race is given up.
class Engine {
 public:
  Engine(SimCatalogServer& server, std::shared_ptr<store::MemoryStore> disk, runtime::Clock& clock,
         runtime::IdSource& ids, Scheduler& scheduler)
      : server_(server), disk_(std::move(disk)), clock_(clock), ids_(ids), scheduler_(scheduler) {}

  /// Some data files are replaced by others of the same rows, in a `replace` snapshot.
  Status Rewrite(const iceberg::TableIdentifier& table);
  /// All snapshots but the newest ones go, and then the files that only they named.
  Status Expire(const iceberg::TableIdentifier& table);

  int rewrites() const { return rewrites_; }
  int expiries() const { return expiries_; }
  /// New data file -> the one that it is a copy of.
  const std::map<std::string, std::string>& copies() const { return copies_; }

 private:
  struct Rewritten {
    std::vector<iceberg::ManifestFile> manifests;
    std::vector<iceberg::ManifestEntry> added;
    std::vector<std::string> written;
  };
  Status RewriteManifest(const iceberg::LoadedTable& base, const iceberg::ManifestFile& manifest,
                         int64_t snapshot_id, Rewritten& out);
  Result<iceberg::Snapshot> Stage(const iceberg::LoadedTable& base, int64_t snapshot_id, Rewritten& out);
  iceberg::DataFile Copy(const iceberg::DataFile& file);
  void Pause() { scheduler_.SleepFor(scheduler_.Between(0, 400)); }
  std::string NewFile(const iceberg::TableMetadata& table, const char* kind);
  Status AddFilesOf(const iceberg::TableMetadata& table, const iceberg::Snapshot& snapshot,
                    std::set<std::string>& files);

  SimCatalogServer& server_;
  const std::shared_ptr<store::MemoryStore> disk_;
  runtime::Clock& clock_;
  runtime::IdSource& ids_;
  Scheduler& scheduler_;
  int rewrites_ = 0;
  int expiries_ = 0;
  std::map<std::string, std::string> copies_;
};

}  // namespace firn::sim
