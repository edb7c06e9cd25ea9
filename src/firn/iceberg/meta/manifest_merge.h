#pragma once

#include <cstdint>
#include <vector>

#include "firn/base/result.h"
#include "firn/iceberg/meta/manifest.h"
#include "firn/iceberg/model/table_metadata.h"

namespace firn::iceberg {

/// `commit.manifest*` of a table.
struct MergeRules {
  bool enabled = true;
  int64_t target_size_bytes = 8 << 20;
  int32_t min_count = 100;

  static Result<MergeRules> Of(const TableMetadata& table);
};

/// Manifests of one spec that belong into one manifest; of size 1: left as it is.
using MergeBin = std::vector<ManifestFile>;

/// Which data manifests a commit merges, as Java's merging append decides. `manifests` are newest first,
/// those with kInheritedSequenceNumber are this commit's own. Specs are never mixed. Bins are filled up to
/// the target size from the oldest manifest on, so that what is full stays as it is and the newest bin is the
/// one with room; a bin that begins with one of the commit's own is merged only when it has min_count of
/// them. Pure.
std::vector<MergeBin> PlanMerge(const std::vector<ManifestFile>& manifests, const MergeRules& rules);

/// The entries of a merged manifest out of one of its inputs: deleted entries go, entries of older commits
/// become existing ones with their sequence numbers and row ids, the own commit's stay added and inherit
/// theirs.
Result<std::vector<ManifestEntry>> MergedEntries(std::vector<ManifestEntry> entries, int64_t own_snapshot_id);

}  // namespace firn::iceberg
