#include "firn/commit/protocol/history.h"

#include <cstdlib>
#include <unordered_map>

#include <fmt/format.h>

#include "firn/commit/protocol/progress.h"

namespace firn::commit {

namespace {

using iceberg::Snapshot;
using iceberg::TableMetadata;

int64_t Number(const Snapshot& snapshot, const char* key) {
  auto it = snapshot.summary.find(key);
  return it == snapshot.summary.end() ? 0 : std::strtoll(it->second.c_str(), nullptr, 10);
}

// Whether the totals began at something. PyIceberg's expiry takes the parent's id off the oldest snapshot
// that stays; a true root, as that of CREATE OR REPLACE, counts from nothing.
bool CountsOnFromAnother(const Snapshot& snapshot) {
  const auto before = [&](const char* total, const char* added, const char* deleted) {
    return Number(snapshot, total) - Number(snapshot, added) + Number(snapshot, deleted);
  };
  return before("total-records", "added-records", "deleted-records") > 0 ||
         before("total-data-files", "added-data-files", "deleted-data-files") > 0;
}

// Ancestors from the head; `gap` is set where a parent has expired: it is named and the metadata no longer
// holds it, or its name went with it.
class Walk {
 public:
  Walk(const TableMetadata& table, std::string_view branch) {
    by_id_.reserve(table.snapshots.size());
    for (const Snapshot& snapshot : table.snapshots) by_id_.emplace(snapshot.snapshot_id, &snapshot);
    current_ = table.Head(branch);
  }

  const Snapshot* current() const { return current_; }
  bool gap() const { return gap_; }

  void Next() {
    if (!current_->parent_snapshot_id) {
      gap_ = CountsOnFromAnother(*current_);
      current_ = nullptr;
      return;
    }
    auto it = by_id_.find(*current_->parent_snapshot_id);
    gap_ = it == by_id_.end();
    current_ = gap_ ? nullptr : it->second;
  }

 private:
  std::unordered_map<int64_t, const Snapshot*> by_id_;
  const Snapshot* current_ = nullptr;
  bool gap_ = false;
};

bool SummaryHas(const Snapshot& snapshot, const char* key, std::string_view value) {
  auto it = snapshot.summary.find(key);
  return it != snapshot.summary.end() && it->second == value;
}

}  // namespace

CommitSearch FindCommit(const TableMetadata& table, std::string_view branch, std::string_view pipeline_id,
                        std::string_view commit_id, std::optional<int64_t> pinned_parent) {
  Walk walk(table, branch);
  if (!pinned_parent && walk.current() == nullptr)
    return CommitUndecided{false, "the branch still has no snapshot"};
  if (pinned_parent && walk.current() != nullptr && walk.current()->snapshot_id == *pinned_parent) {
    return CommitUndecided{false, fmt::format("the branch still stands at snapshot {}", *pinned_parent)};
  }
  for (; walk.current() != nullptr; walk.Next()) {
    const Snapshot& snapshot = *walk.current();
    if (pinned_parent && snapshot.snapshot_id == *pinned_parent) return CommitAbsent{};
    if (SummaryHas(snapshot, kSummaryPipeline, pipeline_id) &&
        SummaryHas(snapshot, kSummaryCommitId, commit_id)) {
      return CommitFound{snapshot.snapshot_id};
    }
  }
  if (walk.gap()) return CommitUndecided{true, "snapshots of the table's history have expired"};
  if (pinned_parent)
    return CommitUndecided{true, fmt::format("snapshot {} is no ancestor any more", *pinned_parent)};
  return CommitAbsent{};
}

Ancestry FindAncestor(const TableMetadata& table, std::string_view branch, int64_t snapshot_id,
                      int64_t sequence_number) {
  Walk walk(table, branch);
  for (; walk.current() != nullptr; walk.Next()) {
    if (walk.current()->snapshot_id == snapshot_id) return Ancestry::kAncestor;
    if (walk.current()->sequence_number < sequence_number) return Ancestry::kNotThere;
  }
  return walk.gap() ? Ancestry::kExpired : Ancestry::kNotThere;
}

const Snapshot* FindNewestOfPipeline(const TableMetadata& table, std::string_view branch,
                                     std::string_view pipeline_id, bool* complete) {
  Walk walk(table, branch);
  for (; walk.current() != nullptr; walk.Next()) {
    if (SummaryHas(*walk.current(), kSummaryPipeline, pipeline_id)) break;
  }
  *complete = !walk.gap();
  return walk.current();
}

}  // namespace firn::commit
