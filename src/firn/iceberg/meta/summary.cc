#include "firn/iceberg/meta/summary.h"

#include <charconv>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "firn/iceberg/model/property.h"

namespace firn::iceberg {

namespace {

using Summary = std::map<std::string, std::string>;

struct Added {
  int64_t files = 0;
  int64_t records = 0;
  int64_t bytes = 0;

  void Add(const DataFile& file) {
    ++files;
    records += file.record_count;
    bytes += file.file_size_bytes;
  }
};

void SetIfPositive(Summary& summary, const char* key, int64_t value) {
  if (value > 0) summary[key] = std::to_string(value);
}

std::optional<int64_t> ParentTotal(const Snapshot* parent, const char* key) {
  if (parent == nullptr) return 0;
  auto it = parent->summary.find(key);
  if (it == parent->summary.end()) return std::nullopt;
  int64_t value = 0;
  const char* end = it->second.data() + it->second.size();
  auto [stopped, code] = std::from_chars(it->second.data(), end, value);
  return code == std::errc() && stopped == end ? std::optional(value) : std::nullopt;
}

void SetTotal(Summary& summary, const Snapshot* parent, const char* key, int64_t added) {
  if (auto total = ParentTotal(parent, key); total && *total + added >= 0)
    summary[key] = std::to_string(*total + added);
}

std::string PartitionText(const Added& added) {
  return fmt::format("added-data-files={},added-records={},added-files-size={}", added.files, added.records,
                     added.bytes);
}

Result<std::map<std::string, Added>> ByPartition(const TableMetadata& base,
                                                 const std::vector<DataFile>& files) {
  std::map<std::string, Added> partitions;
  for (const auto& file : files) {
    const PartitionSpec* spec = base.FindSpec(file.spec_id);
    if (spec == nullptr || spec->fields.size() != file.partition.values.size()) {
      return Error(ErrorKind::kInternal,
                   fmt::format("{}: does not fit partition spec {}", file.file_path, file.spec_id));
    }
    partitions[PartitionPath(*spec, file.partition)].Add(file);
  }
  return partitions;
}

Status AddPartitions(Summary& summary, const TableMetadata& base,
                     const std::map<std::string, Added>& partitions) {
  FIRN_ASSIGN(int32_t limit, GetProperty(base.properties, property::kSummaryPartitionLimit));
  if (limit <= 0 || static_cast<int64_t>(partitions.size()) > limit) return Ok();
  summary["partition-summaries-included"] = "true";
  for (const auto& [path, added] : partitions) {
    if (!path.empty()) summary["partitions." + path] = PartitionText(added);
  }
  return Ok();
}

}  // namespace

Result<Summary> AppendSummary(const TableMetadata& base, const Snapshot* parent,
                              const std::vector<DataFile>& files, const ManifestCounts& manifests) {
  Added all;
  for (const auto& file : files) all.Add(file);
  FIRN_ASSIGN(auto partitions, ByPartition(base, files));
  Summary summary;
  SetIfPositive(summary, "added-data-files", all.files);
  SetIfPositive(summary, "added-records", all.records);
  SetIfPositive(summary, "added-files-size", all.bytes);
  summary["changed-partition-count"] = std::to_string(partitions.size());
  summary["manifests-created"] = std::to_string(manifests.created);
  summary["manifests-kept"] = std::to_string(manifests.kept);
  summary["manifests-replaced"] = std::to_string(manifests.replaced);
  SetTotal(summary, parent, "total-data-files", all.files);
  SetTotal(summary, parent, "total-records", all.records);
  SetTotal(summary, parent, "total-files-size", all.bytes);
  for (const char* key : {"total-delete-files", "total-position-deletes", "total-equality-deletes"})
    SetTotal(summary, parent, key, 0);
  FIRN_TRY(AddPartitions(summary, base, partitions));
  return summary;
}

}  // namespace firn::iceberg
