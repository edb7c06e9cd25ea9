#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "firn/iceberg/model/table_metadata.h"

namespace firn::commit {

/// What the history of a branch says about one of our commits.
struct CommitFound {
  int64_t snapshot_id = 0;
};
/// The walk from the head to the pinned parent (or the root) is complete without our id, and the head moved
/// off that parent: the request can no longer land, its files are definitely rejected (invariant 4).
struct CommitAbsent {};
/// Nothing can be concluded: the head still stands on the pinned parent (the request may yet land), or a
/// snapshot of the walk has expired (ours may have been among them).
struct CommitUndecided {
  bool head_moved = false;
  std::string reason;
};
using CommitSearch = std::variant<CommitFound, CommitAbsent, CommitUndecided>;

/// Walks the ancestors of the head of `branch` for `commit_id`. `pinned_parent` is the head the commit was
/// built on (empty: none).
CommitSearch FindCommit(const iceberg::TableMetadata& table, std::string_view branch,
                        std::string_view pipeline_id, std::string_view commit_id,
                        std::optional<int64_t> pinned_parent);

/// How a snapshot relates to the head of a branch.
enum class Ancestry : uint8_t {
  kAncestor,  ///< met on the walk
  kExpired,   ///< an expired parent was met before the walk passed its sequence number; of some engines'
              ///< expiry it does not even leave its id, only totals that do not begin at nothing
  kNotThere,  ///< the walk passed its sequence number, or reached the root, without meeting it
};
Ancestry FindAncestor(const iceberg::TableMetadata& table, std::string_view branch, int64_t snapshot_id,
                      int64_t sequence_number);

/// The newest ancestor with `firn.pipeline` = pipeline_id; null when none. `complete` tells whether the walk
/// reached the root.
const iceberg::Snapshot* FindNewestOfPipeline(const iceberg::TableMetadata& table, std::string_view branch,
                                              std::string_view pipeline_id, bool* complete);

}  // namespace firn::commit
