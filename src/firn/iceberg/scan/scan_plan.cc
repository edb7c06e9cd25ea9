#include "firn/iceberg/scan/scan_plan.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <string>
#include <utility>

namespace firn::iceberg {

namespace {

struct DeleteFile {
  DataFile file;
  int64_t sequence_number = 0;
};

bool HasLiveFiles(const ManifestFile& manifest) {
  return manifest.added_files_count.value_or(1) > 0 || manifest.existing_files_count.value_or(1) > 0;
}

std::vector<PartitionFieldRange> RangesOf(const ManifestFile& manifest) {
  std::vector<PartitionFieldRange> ranges;
  if (!manifest.partitions.has_value()) return ranges;
  for (const FieldSummary& summary : *manifest.partitions) {
    ranges.push_back({summary.contains_null, summary.contains_nan, summary.lower_bound, summary.upper_bound});
  }
  return ranges;
}

/// Empty where the spec's sources are gone: then nothing can be said of its partitions.
std::optional<TypePtr> PartitionTypeOf(const PartitionSpec& spec, const TableMetadata& table) {
  Result<TypePtr> type = spec.PartitionType(*table.schema());
  if (!type.ok()) return std::nullopt;
  return *type;
}

bool MayMatch(const Filter& filter, const ManifestFile& manifest, const TableMetadata& table) {
  const PartitionSpec* spec = table.FindSpec(manifest.spec_id);
  if (spec == nullptr) return true;
  const auto type = PartitionTypeOf(*spec, table);
  return !type.has_value() || MayMatchManifest(filter, *spec, **type, RangesOf(manifest));
}

bool MayMatch(const Filter& filter, const DataFile& file, const TableMetadata& table) {
  const PartitionSpec* spec = table.FindSpec(file.spec_id);
  if (spec != nullptr && !MayMatchPartition(filter, *spec, file.partition)) return false;
  return MayMatchMetrics(filter, {.record_count = file.record_count,
                                  .value_counts = &file.value_counts,
                                  .null_value_counts = &file.null_value_counts,
                                  .nan_value_counts = &file.nan_value_counts,
                                  .lower_bounds = &file.lower_bounds,
                                  .upper_bounds = &file.upper_bounds});
}

bool IsGlobal(const DataFile& file, const TableMetadata& table) {
  const PartitionSpec* spec = table.FindSpec(file.spec_id);
  return spec == nullptr || spec->is_unpartitioned();
}

/// The format's scope rules (our reference, 7.1).
bool Applies(const DeleteFile& del, const ScanTask& task, const TableMetadata& table) {
  const bool same_partition =
      del.file.spec_id == task.file.spec_id && del.file.partition == task.file.partition;
  if (del.file.content == FileContent::kEqualityDeletes) {
    return task.sequence_number < del.sequence_number && (same_partition || IsGlobal(del.file, table));
  }
  if (task.sequence_number > del.sequence_number || !same_partition) return false;
  return !del.file.referenced_data_file.has_value() || *del.file.referenced_data_file == task.file.file_path;
}

Result<std::vector<DeleteFile>> ReadDeletes(store::Store& store, const TableMetadata& table,
                                            const std::vector<ManifestFile>& manifests) {
  std::vector<DeleteFile> deletes;
  for (const ManifestFile& manifest : manifests) {
    if (manifest.content != ManifestContent::kDeletes || !HasLiveFiles(manifest)) continue;
    FIRN_ASSIGN(auto entries, ReadManifest(store, manifest, table));
    for (ManifestEntry& entry : entries) {
      if (entry.live()) deletes.push_back({std::move(entry.file), entry.sequence_number.value_or(0)});
    }
  }
  return deletes;
}

void AddTask(ScanPlan& plan, ScanTask task) {
  plan.record_count += task.file.record_count;
  plan.file_bytes += task.file.file_size_bytes;
  plan.tasks.push_back(std::move(task));
}

Status PlanManifest(store::Store& store, const TableMetadata& table, const ManifestFile& manifest,
                    const Filter& filter, const std::vector<DeleteFile>& deletes, ScanPlan& plan) {
  FIRN_ASSIGN(auto entries, ReadManifest(store, manifest, table));
  for (ManifestEntry& entry : entries) {
    if (!entry.live()) continue;
    if (!MayMatch(filter, entry.file, table)) {
      ++plan.files_skipped;
      continue;
    }
    ScanTask task{
        .file = std::move(entry.file), .sequence_number = entry.sequence_number.value_or(0), .deletes = {}};
    for (const DeleteFile& del : deletes) {
      if (Applies(del, task, table)) task.deletes.push_back(del.file);
    }
    AddTask(plan, std::move(task));
  }
  return Ok();
}

}  // namespace

bool IsParquetFile(const DataFile& file) {
  std::string format = file.file_format;
  std::transform(format.begin(), format.end(), format.begin(),
                 [](unsigned char c) { return std::toupper(c); });
  return format == "PARQUET";
}

Result<ScanPlan> PlanFiles(store::Store& store, const TableMetadata& table, const Snapshot& snapshot,
                           const Filter& filter) {
  FIRN_ASSIGN(const auto manifests, ReadManifestList(store, snapshot));
  FIRN_ASSIGN(const auto deletes, ReadDeletes(store, table, manifests));
  ScanPlan plan;
  for (const ManifestFile& manifest : manifests) {
    if (manifest.content != ManifestContent::kData || !HasLiveFiles(manifest)) continue;
    ++plan.manifests;
    if (!MayMatch(filter, manifest, table)) {
      ++plan.manifests_skipped;
      continue;
    }
    FIRN_TRY(PlanManifest(store, table, manifest, filter, deletes, plan));
  }
  return plan;
}

}  // namespace firn::iceberg
