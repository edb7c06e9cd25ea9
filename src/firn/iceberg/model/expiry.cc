#include <algorithm>
#include <limits>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "firn/iceberg/model/property.h"
#include "firn/iceberg/model/update.h"

namespace firn::iceberg {

namespace {

/// Times of a damaged or foreign file may lie anywhere.
int64_t Minus(int64_t a, int64_t b) {
  int64_t difference = 0;
  if (!__builtin_sub_overflow(a, b, &difference)) return difference;
  return b > 0 ? std::numeric_limits<int64_t>::min() : std::numeric_limits<int64_t>::max();
}

struct ExpiryRules {
  int64_t max_snapshot_age_ms = 0;
  int32_t min_snapshots_to_keep = 0;
  int64_t max_ref_age_ms = 0;
};

Result<ExpiryRules> ReadRules(const Properties& properties) {
  ExpiryRules rules;
  FIRN_ASSIGN(rules.max_snapshot_age_ms, GetProperty(properties, property::kMaxSnapshotAgeMs));
  FIRN_ASSIGN(rules.min_snapshots_to_keep, GetProperty(properties, property::kMinSnapshotsToKeep));
  FIRN_ASSIGN(rules.max_ref_age_ms, GetProperty(properties, property::kMaxRefAgeMs));
  FIRN_ASSIGN(const bool gc_enabled, GetProperty(properties, property::kGcEnabled));
  if (!gc_enabled) return Error(ErrorKind::kUnsupported, "gc.enabled is false");
  return rules;
}

class ExpiryPlan {
 public:
  ExpiryPlan(const TableMetadata& metadata, int64_t now_ms, const ExpiryRules& rules)
      : metadata_(metadata), now_ms_(now_ms), rules_(rules) {
    for (const Snapshot& snapshot : metadata.snapshots) by_id_.emplace(snapshot.snapshot_id, &snapshot);
  }

  std::vector<Update> Make(bool keep_refs) {
    std::vector<Update> updates;
    for (const auto& [name, ref] : metadata_.refs) {
      if (!keep_refs && IsExpiredRef(name, ref)) {
        updates.emplace_back(update::RemoveSnapshotRef{name});
      } else {
        Retain(ref);
      }
    }
    RetainYoungUnreferenced();
    update::RemoveSnapshots removal;
    for (const Snapshot& snapshot : metadata_.snapshots) {
      if (!retained_.contains(snapshot.snapshot_id)) removal.snapshot_ids.push_back(snapshot.snapshot_id);
    }
    if (!removal.snapshot_ids.empty()) updates.emplace_back(std::move(removal));
    return updates;
  }

 private:
  const Snapshot* Find(int64_t id) const {
    const auto it = by_id_.find(id);
    return it == by_id_.end() ? nullptr : it->second;
  }

  bool IsExpiredRef(const std::string& name, const SnapshotRef& ref) const {
    if (name == kMainBranch) return false;
    const Snapshot* snapshot = Find(ref.snapshot_id);
    return snapshot == nullptr ||
           Minus(now_ms_, snapshot->timestamp_ms) > ref.max_ref_age_ms.value_or(rules_.max_ref_age_ms);
  }

  void Retain(const SnapshotRef& ref) {
    retained_.insert(ref.snapshot_id);
    referenced_.insert(ref.snapshot_id);
    if (ref.type == RefType::kBranch) RetainAncestors(ref);
  }

  /// From the head back: all are referenced; retained are those before the first that is neither young nor
  /// among the wanted number.
  void RetainAncestors(const SnapshotRef& branch) {
    const int64_t cutoff_ms = Minus(now_ms_, branch.max_snapshot_age_ms.value_or(rules_.max_snapshot_age_ms));
    const int32_t min_count = branch.min_snapshots_to_keep.value_or(rules_.min_snapshots_to_keep);
    std::unordered_set<int64_t> seen;
    bool retaining = true;
    int32_t kept = 0;
    const Snapshot* snapshot = Find(branch.snapshot_id);
    while (snapshot != nullptr && seen.insert(snapshot->snapshot_id).second) {
      retaining = retaining && (kept < min_count || snapshot->timestamp_ms >= cutoff_ms);
      if (retaining) {
        retained_.insert(snapshot->snapshot_id);
        ++kept;
      }
      referenced_.insert(snapshot->snapshot_id);
      snapshot = snapshot->parent_snapshot_id ? Find(*snapshot->parent_snapshot_id) : nullptr;
    }
  }

  void RetainYoungUnreferenced() {
    for (const Snapshot& snapshot : metadata_.snapshots) {
      const bool young = snapshot.timestamp_ms >= Minus(now_ms_, rules_.max_snapshot_age_ms);
      if (young && !referenced_.contains(snapshot.snapshot_id)) retained_.insert(snapshot.snapshot_id);
    }
  }

  const TableMetadata& metadata_;
  int64_t now_ms_;
  ExpiryRules rules_;
  std::unordered_map<int64_t, const Snapshot*> by_id_;
  std::unordered_set<int64_t> retained_;
  std::unordered_set<int64_t> referenced_;
};

}  // namespace

std::vector<Update> PlanExpiry(const TableMetadata& metadata, int64_t now_ms, bool keep_refs) {
  const Result<ExpiryRules> rules = ReadRules(metadata.properties);
  if (!rules.ok()) return {};
  return ExpiryPlan(metadata, now_ms, *rules).Make(keep_refs);
}

}  // namespace firn::iceberg
