#include "sim/oracle.h"

#include <arrow/api.h>

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "firn/iceberg/meta/manifest.h"
#include "firn/iceberg/scan/table_scan.h"

namespace firn::sim {

using iceberg::LoadedTable;
using iceberg::TableMetadata;
using record::SourcePartition;

namespace {

constexpr int64_t kJavaTolerateMs = 60'000;
constexpr char kProgressPrefix[] = "firn.progress.";

std::string Name(const SourcePartition& partition) {
  return fmt::format("{}[{}]", partition.topic, partition.partition);
}

int64_t IntAt(const arrow::Array& column, int64_t row) {
  const auto scalar = column.GetScalar(row).ValueOrDie();
  if (scalar->type->id() == arrow::Type::INT32) return static_cast<const arrow::Int32Scalar&>(*scalar).value;
  return static_cast<const arrow::Int64Scalar&>(*scalar).value;
}

}  // namespace

void Oracle::Wrong(std::string what) {
  if (wrong_.empty()) wrong_ = std::move(what);
}

void Oracle::OnCommit(const TableMetadata& before, const LoadedTable& after) {
  ++commits_;
  CheckPositions(before, *after.metadata);
  CheckTimes(*after.metadata);
  const iceberg::Snapshot* head = after.metadata->current_snapshot();
  if (head == nullptr || before.current_snapshot_id == after.metadata->current_snapshot_id) return;
  const auto pipeline = head->summary.find(commit::kSummaryPipeline);
  if (pipeline == head->summary.end() || pipeline->second != pipeline_id_ ||
      after.identifier.name != "events")
    return;
  Status rows = CheckRowsOf(*head, after);
  if (!rows.ok()) Wrong("a commit's files cannot be read: " + rows.error().ToString());
}

// Of every pipeline that has any: never back, never gone.
void Oracle::CheckPositions(const TableMetadata& before, const TableMetadata& after) {
  for (const auto& [key, value] : before.properties) {
    if (!key.starts_with(kProgressPrefix)) continue;
    const auto kept = after.properties.find(key);
    if (kept == after.properties.end()) return Wrong("the property " + key + " is gone");
    const auto was = commit::DecodeProgress(value);
    const auto is = commit::DecodeProgress(kept->second);
    if (!was.ok() || !is.ok()) return Wrong("the property " + key + " cannot be read");
    for (const auto& [partition, position] : was->positions) {
      const auto now = is->positions.find(partition);
      if (now == is->positions.end())
        return Wrong(fmt::format("{}: the position of {} is gone from the map", key, Name(partition)));
      if (now->second.next < position.next) {
        return Wrong(fmt::format("{}: the position of {} went back from {} to {}", key, Name(partition),
                                 position.next, now->second.next));
      }
    }
  }
}

// What Java's reader refuses (TableMetadata's constructor): log entries more than a minute out of order.
void Oracle::CheckTimes(const TableMetadata& table) {
  int64_t last_ms = 0;
  for (const auto& entry : table.snapshot_log) {
    if (entry.timestamp_ms < last_ms - kJavaTolerateMs) return Wrong("the snapshot log is out of order");
    last_ms = entry.timestamp_ms;
  }
  if (table.last_updated_ms < last_ms - kJavaTolerateMs)
    return Wrong("last-updated lies before the last snapshot");
  last_ms = 0;
  for (const auto& entry : table.metadata_log) {
    if (entry.timestamp_ms < last_ms - kJavaTolerateMs) return Wrong("the metadata log is out of order");
    last_ms = entry.timestamp_ms;
  }
  if (table.last_updated_ms < last_ms - kJavaTolerateMs)
    return Wrong("last-updated lies before the metadata log");
  for (const auto& snapshot : table.snapshots) {
    const auto* parent =
        snapshot.parent_snapshot_id ? table.FindSnapshot(*snapshot.parent_snapshot_id) : nullptr;
    if (parent != nullptr && snapshot.timestamp_ms < parent->timestamp_ms)
      return Wrong("a snapshot is older than its parent");
  }
}

// The files that the commit of a batch adds hold just the records of its ranges (of a pipeline of one table).
Status Oracle::CheckRowsOf(const iceberg::Snapshot& snapshot, const LoadedTable& table) {
  int64_t rows = 0;
  FIRN_ASSIGN(auto manifests, iceberg::ReadManifestList(*disk_, snapshot));
  for (const auto& manifest : manifests) {
    if (manifest.added_snapshot_id != snapshot.snapshot_id) continue;
    FIRN_ASSIGN(auto entries, iceberg::ReadManifest(*disk_, manifest, *table.metadata));
    for (const auto& entry : entries) {
      if (entry.status == iceberg::EntryStatus::kAdded) rows += entry.file.record_count;
    }
  }
  const auto ranges = nlohmann::json::parse(snapshot.summary.at(commit::kSummaryRanges));
  int64_t expected = 0;
  for (const auto& [topic, partitions] : ranges.items()) {
    if (!partitions.is_object()) continue;
    for (const auto& [partition, range] : partitions.items()) {
      const SourcePartition at{topic, std::stoi(partition)};
      for (int64_t offset = range[0].get<int64_t>(); offset < range[1].get<int64_t>(); ++offset)
        expected += bad_[at].contains(offset) ? 0 : 1;
    }
  }
  if (rows != expected) {
    Wrong(fmt::format("snapshot {} moves the positions over {} good records and adds {} rows: {}",
                      snapshot.snapshot_id, expected, rows, snapshot.summary.at(commit::kSummaryRanges)));
  }
  return Ok();
}

void Oracle::AtTheEnd(const std::vector<LoadedTable>& tables, const std::optional<LoadedTable>& letters) {
  Offsets rows;
  Offsets set_aside;
  Status read = Ok();
  for (const LoadedTable& table : tables) {
    if (read.ok()) read = CheckFiles(table);
    if (read.ok()) read = Read(table, "part", rows);
  }
  if (read.ok() && letters) read = CheckFiles(*letters);
  if (read.ok() && letters) read = Read(*letters, "partition", set_aside);
  if (!read.ok()) return Wrong("a table cannot be read: " + read.error().ToString());
  CheckOnce(rows, /*bad=*/false, "the tables");
  CheckOnce(set_aside, /*bad=*/true, "the letters");
}

Status Oracle::CheckFiles(const LoadedTable& table) {
  const iceberg::Snapshot* head = table.metadata->current_snapshot();
  if (head == nullptr) return Ok();
  const auto all = disk_->Locations();
  const std::set<std::string> there(all.begin(), all.end());
  std::set<std::string> live;
  FIRN_ASSIGN(auto manifests, iceberg::ReadManifestList(*disk_, *head));
  for (const auto& manifest : manifests) {
    FIRN_ASSIGN(auto entries, iceberg::ReadManifest(*disk_, manifest, *table.metadata));
    for (const auto& entry : entries) {
      if (!entry.live()) continue;
      if (!there.contains(entry.file.file_path)) Wrong("a live file is missing: " + entry.file.file_path);
      if (!live.insert(entry.file.file_path).second) Wrong("a file is named twice: " + entry.file.file_path);
    }
  }
  return Ok();
}

Status Oracle::Read(const LoadedTable& table, const char* partition, Offsets& offsets) {
  if (table.metadata->current_snapshot() == nullptr) return Ok();
  iceberg::ScanOptions options;
  options.columns = {partition, "offset"};
  FIRN_ASSIGN(auto scan, iceberg::TableScan::Make(table.metadata, disk_, options));
  FIRN_ASSIGN(auto stream, scan.Read());
  for (;;) {
    FIRN_ASSIGN(auto batch, stream->Next());
    if (batch == nullptr) return Ok();
    for (int64_t row = 0; row < batch->num_rows(); ++row) {
      const auto number = static_cast<int32_t>(IntAt(*batch->GetColumnByName(partition), row));
      offsets[{"events", number}].insert(IntAt(*batch->GetColumnByName("offset"), row));
      ++rows_;
    }
  }
}

void Oracle::CheckOnce(const Offsets& found, bool bad, const char* where) {
  for (const auto& [partition, bounds] : log_->Bounds()) {
    std::multiset<int64_t> expected;
    for (int64_t offset = 0; offset < *bounds.end; ++offset) {
      if (bad_[partition].contains(offset) == bad) expected.insert(offset);
    }
    const auto at = found.find(partition);
    const std::multiset<int64_t> got = at == found.end() ? std::multiset<int64_t>{} : at->second;
    for (const int64_t offset : expected) {
      if (got.count(offset) != 1)
        return Wrong(fmt::format("record {} of {} is {} times in {}", offset, Name(partition),
                                 got.count(offset), where));
    }
    if (got.size() != expected.size())
      return Wrong(fmt::format("{} holds records of {} that should not be there", where, Name(partition)));
  }
}

}  // namespace firn::sim
