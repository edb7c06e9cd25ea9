#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
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

/// Fast append with merging of small manifests by `commit.manifest.*` (our reference, table-properties
/// section 3). New manifests are written once and reused by every try, and so are merged ones where their
/// inputs are still the same; the manifest list, sequence number, timestamp, row ids and totals are rebuilt
/// against the base of each try (invariant 5). Every delete manifest is carried. A branch that does not exist
/// yet starts at the head of main, as in Java. Not thread-safe.
class AppendBuilder {
 public:
  AppendBuilder(std::shared_ptr<store::Store> store, AppendContent content);
  ~AppendBuilder();
  AppendBuilder(const AppendBuilder&) = delete;
  AppendBuilder& operator=(const AppendBuilder&) = delete;

  /// Replaces the extra summary keys of the content, for keys that depend on the base of a try. The counted
  /// keys win over them.
  void SetSummary(std::map<std::string, std::string> summary) { content_.summary = std::move(summary); }

  /// Builds against `base` as try number `attempt` (from 1, never the same twice). `now_ms`: our clock; the
  /// snapshot's time is max(now, base). kUnsupported for a v1 table, kInvalidArgument for a branch name that
  /// is a tag or for a bad table property.
  Result<BuiltAppend> Build(const TableMetadata& base, int attempt, int64_t now_ms);

  /// Every file this builder wrote or began to write, over all tries. Noted before it is created.
  const std::vector<std::string>& written() const { return written_; }
  /// Written files that the committed snapshot does not need (lists of lost tries, unused merged manifests).
  /// Empty when the snapshot is none of this builder's.
  std::vector<std::string> UnusedAfterCommit(const Snapshot& committed) const;

 private:
  struct Merged;

  Status CheckContent(const TableMetadata& base) const;
  Status WriteNewManifests(const TableMetadata& base);
  Status WriteNewManifest(const TableMetadata& base, int32_t spec_id,
                          const std::vector<const DataFile*>& files);
  Result<std::vector<ManifestFile>> MergeManifests(const TableMetadata& base,
                                                   const std::vector<ManifestFile>& data, int64_t& replaced);
  Result<ManifestFile> Merge(const TableMetadata& base, const std::vector<ManifestFile>& bin);
  Result<ManifestFile> WriteOne(const TableMetadata& base, const SchemaPtr& schema, const PartitionSpec& spec,
                                const std::vector<ManifestEntry>& entries);
  Result<std::vector<ManifestFile>> BuildManifests(const TableMetadata& base, const Snapshot* parent,
                                                   int64_t& replaced);
  Status WriteList(const TableMetadata& base, int attempt, Snapshot& snapshot,
                   std::vector<ManifestFile>& manifests);

  std::shared_ptr<store::Store> store_;
  AppendContent content_;
  std::vector<std::string> written_;
  bool new_manifests_written_ = false;
  std::vector<ManifestFile> new_manifests_;
  std::vector<Merged> merged_;  ///< over all tries
  int next_manifest_ = 0;
  std::map<std::string, std::set<std::string>> manifests_by_list_;  ///< what each written list names
};

/// Folder of a table's metadata, without a slash at the end: `write.metadata.path`, else
/// `<location>/metadata`.
std::string MetadataFolder(const TableMetadata& table);

}  // namespace firn::iceberg
