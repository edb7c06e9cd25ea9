#include "firn/iceberg/meta/manifest_merge.h"

#include <algorithm>
#include <functional>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "firn/iceberg/model/property.h"

namespace firn::iceberg {

namespace {

bool IsOwn(const ManifestFile& manifest) { return manifest.sequence_number == kInheritedSequenceNumber; }

/// From the end of the list: the last bins are full, the first one has the rest.
std::vector<MergeBin> PackFromEnd(const std::vector<ManifestFile>& manifests, int64_t target_bytes) {
  std::vector<MergeBin> bins;
  int64_t open_bytes = 0;
  for (auto it = manifests.rbegin(); it != manifests.rend(); ++it) {
    if (bins.empty() || open_bytes + it->length_bytes > target_bytes) {
      bins.emplace_back();
      open_bytes = 0;
    }
    bins.back().push_back(*it);
    open_bytes += it->length_bytes;
  }
  for (auto& bin : bins) std::reverse(bin.begin(), bin.end());
  std::reverse(bins.begin(), bins.end());
  return bins;
}

void AddSingles(std::vector<MergeBin>& plan, const MergeBin& manifests) {
  for (const auto& manifest : manifests) plan.push_back({manifest});
}

}  // namespace

Result<MergeRules> MergeRules::Of(const TableMetadata& table) {
  MergeRules rules;
  FIRN_ASSIGN(rules.enabled, GetProperty(table.properties, property::kManifestMergeEnabled));
  FIRN_ASSIGN(rules.target_size_bytes, GetProperty(table.properties, property::kManifestTargetSizeBytes));
  FIRN_ASSIGN(rules.min_count, GetProperty(table.properties, property::kManifestMinCountToMerge));
  return rules;
}

std::vector<MergeBin> PlanMerge(const std::vector<ManifestFile>& manifests, const MergeRules& rules) {
  std::vector<MergeBin> plan;
  if (!rules.enabled || manifests.empty() || !IsOwn(manifests.front())) {
    AddSingles(plan, manifests);
    return plan;
  }
  std::map<int32_t, MergeBin, std::greater<>> by_spec;
  for (const auto& manifest : manifests) by_spec[manifest.spec_id].push_back(manifest);
  for (const auto& [spec_id, group] : by_spec) {
    for (auto& bin : PackFromEnd(group, rules.target_size_bytes)) {
      if (IsOwn(bin.front()) && static_cast<int64_t>(bin.size()) < rules.min_count) {
        AddSingles(plan, bin);
      } else {
        plan.push_back(std::move(bin));
      }
    }
  }
  return plan;
}

Result<std::vector<ManifestEntry>> MergedEntries(std::vector<ManifestEntry> entries,
                                                 int64_t own_snapshot_id) {
  std::erase_if(entries, [](const ManifestEntry& entry) { return !entry.live(); });
  for (auto& entry : entries) {
    if (entry.status == EntryStatus::kAdded && entry.snapshot_id == own_snapshot_id) {
      // What reading filled in for it came from this try's base; a retry must be free to give it other
      // numbers.
      entry.sequence_number.reset();
      entry.file_sequence_number.reset();
      entry.file.first_row_id.reset();
      continue;
    }
    entry.status = EntryStatus::kExisting;
    if (!entry.sequence_number || !entry.file_sequence_number) {
      return Error(ErrorKind::kCorrupt,
                   fmt::format("{}: an existing entry without sequence numbers", entry.file.file_path));
    }
  }
  return entries;
}

}  // namespace firn::iceberg
