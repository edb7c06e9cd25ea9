#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "firn/base/result.h"
#include "firn/iceberg/meta/manifest.h"
#include "firn/iceberg/model/update.h"
#include "firn/store/store.h"

namespace firn::iceberg {

/// What one append adds. Files may be of several specs of the table. May be empty (a marker snapshot).
struct AppendContent {
  std::vector<DataFile> files;
  std::string branch = kMainBranch;
  std::map<std::string, std::string> summary;  ///< extra keys (`firn.*`), beside the counted ones
  int64_t snapshot_id = 0;                     ///< random positive; must not exist in the table
  std::string commit_uuid;                     ///< names the files of this append
};

/// One built try: the updates that commit it. The caller adds properties, expiry and requirements.
struct BuiltAppend {
  Snapshot snapshot;
  std::vector<Update> updates;  ///< AddSnapshot, SetSnapshotRef
};

/// Fast append with merging of small manifests by `commit.manifest.*` (our reference, table-properties section 3).
/// New manifests are written once and reused by every try; the manifest list, sequence number, timestamp, row ids
/// and totals are rebuilt against the base of each try (invariant 5). Not thread-safe.
class AppendBuilder {
 public:
  AppendBuilder(std::shared_ptr<store::Store> store, AppendContent content);

  /// Builds against `base` as try number `attempt` (from 1). `now_ms`: our clock; the snapshot's time is max(now, base).
  Result<BuiltAppend> Build(const TableMetadata& base, int attempt, int64_t now_ms);

  /// Replaces the extra summary keys for the tries to come (what they say depends on the base).
  void SetSummary(std::map<std::string, std::string> summary);

  /// Every file this builder wrote, over all tries.
  const std::vector<std::string>& written() const { return written_; }
  /// Written files that the committed snapshot does not need (lists of lost tries, unused merged manifests).
  std::vector<std::string> UnusedAfterCommit(const Snapshot& committed) const;

 private:
  struct NewManifests;

  std::shared_ptr<store::Store> store_;
  AppendContent content_;
  std::vector<std::string> written_;
  // Private state is the implementer's to extend.
};

}  // namespace firn::iceberg
