#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

namespace firn::obs {

enum class MetricKind : uint8_t { kCounter, kGauge, kHistogram };

/// Every metric of the program. docs/metrics.md is made from this list (obs/metrics_page.h).
enum class Metric : uint8_t {
  kRowsRead,
  kInputBytes,
  kRowsCommitted,
  kOutputBytes,
  kDataFiles,
  kLagRecords,
  kLagSeconds,
  kWaitingFiles,
  kWaitingBytes,
  kFreshnessSeconds,
  kValidThrough,
  kRetentionHeadroom,
  kBatchSeconds,
  kCommitSeconds,
  kCommits,
  kCommitRetries,
  kCommitConflicts,
  kLastCommit,
  kPipelineState,
  kDeadLetters,
  kSkippedRecords,
  kUnknownFields,
  kSchemaChanges,
  kRebalances,
  kSourceErrors,
  kStoreRequests,
  kStoreRequestSeconds,
  kStoreBytes,
  kMetadataBytes,
  kOpenFiles,
  kPrefetchedBytes,
  kReservedMemory,
  kMemoryLimit,
  kResidentMemory,
  kOpenDescriptors,
  kCpuSeconds,
  kBuildInfo,
};

/// Names of labels; empty ones at the end are unused.
using Labels = std::array<std::string_view, 3>;

struct MetricInfo {
  Metric metric;
  std::string_view name;
  MetricKind kind;
  Labels labels;
  std::string_view help;
};

/// In the order of Metric. Names are Prometheus's: base units, `_total` on counters.
inline constexpr std::array kMetricList = {
    MetricInfo{Metric::kRowsRead, "firn_rows_read_total", MetricKind::kCounter, Labels{"pipeline"},
               "Records taken from the source, also those that became dead letters or were skipped."},
    MetricInfo{Metric::kInputBytes, "firn_input_bytes_total", MetricKind::kCounter, Labels{"pipeline"},
               "Bytes of keys and values taken from the source."},
    MetricInfo{Metric::kRowsCommitted, "firn_rows_committed_total", MetricKind::kCounter,
               Labels{"pipeline", "table"}, "Rows that a committed snapshot added."},
    MetricInfo{Metric::kOutputBytes, "firn_output_bytes_total", MetricKind::kCounter,
               Labels{"pipeline", "table"}, "Bytes of the data files that a committed snapshot added."},
    MetricInfo{Metric::kDataFiles, "firn_data_files_total", MetricKind::kCounter, Labels{"pipeline", "table"},
               "Data files that a committed snapshot added."},
    MetricInfo{Metric::kLagRecords, "firn_lag_records", MetricKind::kGauge,
               Labels{"pipeline", "topic", "partition"}, "Records in the source that no commit holds yet."},
    MetricInfo{Metric::kLagSeconds, "firn_lag_seconds", MetricKind::kGauge,
               Labels{"pipeline", "topic", "partition"},
               "Time since all of the partition was committed, 0 when it is."},
    MetricInfo{
        Metric::kWaitingFiles, "firn_waiting_files", MetricKind::kGauge, Labels{"pipeline"},
        "Files that the last listing found and that are not read to their end. Sources of files only."},
    MetricInfo{Metric::kWaitingBytes, "firn_waiting_bytes", MetricKind::kGauge, Labels{"pipeline"},
               "Bytes of these files, as they are stored."},
    MetricInfo{Metric::kFreshnessSeconds, "firn_freshness_seconds", MetricKind::kGauge, Labels{"pipeline"},
               "Age of the oldest record that is read and not committed, as its arrival here; 0 when there "
               "is none."},
    MetricInfo{Metric::kValidThrough, "firn_valid_through_timestamp_seconds", MetricKind::kGauge,
               Labels{"pipeline"},
               "Unix time up to which every record that the brokers had appended is in the table."},
    MetricInfo{Metric::kRetentionHeadroom, "firn_retention_headroom_records", MetricKind::kGauge,
               Labels{"pipeline", "topic", "partition"},
               "Records between the first one that the source still has and our position."},
    MetricInfo{Metric::kBatchSeconds, "firn_batch_seconds", MetricKind::kHistogram, Labels{"pipeline"},
               "Time from the first record of a batch to the start of its commit."},
    MetricInfo{Metric::kCommitSeconds, "firn_commit_seconds", MetricKind::kHistogram, Labels{"pipeline"},
               "Time from the start of a commit to its known outcome, retries included."},
    MetricInfo{Metric::kCommits, "firn_commits_total", MetricKind::kCounter,
               Labels{"pipeline", "table", "outcome"},
               "Commits by outcome: committed, already_committed, conflict, unknown, rejected."},
    MetricInfo{Metric::kCommitRetries, "firn_commit_retries_total", MetricKind::kCounter,
               Labels{"pipeline", "table"}, "Further tries of commits."},
    MetricInfo{Metric::kCommitConflicts, "firn_commit_conflicts_total", MetricKind::kCounter,
               Labels{"pipeline", "table"}, "Tries that lost against another writer of the table."},
    MetricInfo{Metric::kLastCommit, "firn_last_commit_timestamp_seconds", MetricKind::kGauge,
               Labels{"pipeline", "table"}, "Unix time of the last commit."},
    MetricInfo{Metric::kPipelineState, "firn_pipeline_state", MetricKind::kGauge, Labels{"pipeline", "state"},
               "1 for the state that the pipeline is in, 0 for the others."},
    MetricInfo{Metric::kDeadLetters, "firn_dead_letters_total", MetricKind::kCounter,
               Labels{"pipeline", "reason"}, "Records that went to the dead-letter table, by reason."},
    MetricInfo{Metric::kSkippedRecords, "firn_skipped_records_total", MetricKind::kCounter,
               Labels{"pipeline", "reason"},
               "Records that were left out because the configuration says so, by reason."},
    MetricInfo{Metric::kUnknownFields, "firn_unknown_fields_total", MetricKind::kCounter, Labels{"pipeline"},
               "Fields without a column that were left out because the configuration says so."},
    MetricInfo{Metric::kSchemaChanges, "firn_schema_changes_total", MetricKind::kCounter,
               Labels{"pipeline", "table"}, "Committed schema changes."},
    MetricInfo{Metric::kRebalances, "firn_rebalances_total", MetricKind::kCounter, Labels{"pipeline"},
               "Times that partitions were given to us or taken away."},
    MetricInfo{Metric::kSourceErrors, "firn_source_errors_total", MetricKind::kCounter, Labels{"pipeline"},
               "Errors that the source reported and that are being retried."},
    MetricInfo{
        Metric::kStoreRequests, "firn_store_requests_total", MetricKind::kCounter,
        Labels{"store", "kind", "outcome"},
        "Requests to the object store: read, write, head, list, delete; outcome ok or the kind of error."},
    MetricInfo{Metric::kStoreRequestSeconds, "firn_store_request_seconds", MetricKind::kHistogram,
               Labels{"store", "kind"}, "Time of requests to the object store."},
    MetricInfo{Metric::kStoreBytes, "firn_store_bytes_total", MetricKind::kCounter,
               Labels{"store", "direction"}, "Bytes read from and written to the object store."},
    MetricInfo{Metric::kMetadataBytes, "firn_table_metadata_bytes", MetricKind::kGauge,
               Labels{"pipeline", "table"}, "Size of the table's current metadata file."},
    MetricInfo{Metric::kOpenFiles, "firn_open_files", MetricKind::kGauge, Labels{"pipeline"},
               "Table writers that hold rows: filling or being closed."},
    MetricInfo{Metric::kPrefetchedBytes, "firn_prefetched_bytes", MetricKind::kGauge, Labels{"pipeline"},
               "Bytes read ahead from the source and not yet decoded (an estimate)."},
    MetricInfo{Metric::kReservedMemory, "firn_memory_reserved_bytes", MetricKind::kGauge, Labels{},
               "Memory reserved for rows, open files and records read ahead."},
    MetricInfo{
        Metric::kMemoryLimit, "firn_memory_limit_bytes", MetricKind::kGauge, Labels{},
        "What may be reserved: the part of resources.memory that the program does not need for itself."},
    MetricInfo{Metric::kResidentMemory, "process_resident_memory_bytes", MetricKind::kGauge, Labels{},
               "Resident memory of the process."},
    MetricInfo{Metric::kOpenDescriptors, "process_open_fds", MetricKind::kGauge, Labels{},
               "Open file descriptors of the process."},
    MetricInfo{Metric::kCpuSeconds, "process_cpu_seconds_total", MetricKind::kCounter, Labels{},
               "User and system time of the process."},
    MetricInfo{Metric::kBuildInfo, "firn_build_info", MetricKind::kGauge,
               Labels{"version", "git", "build_id"}, "Always 1."},
};

constexpr const MetricInfo& Info(Metric metric) { return kMetricList.at(static_cast<size_t>(metric)); }
constexpr size_t LabelCount(const MetricInfo& info) {
  size_t count = 0;
  while (count < info.labels.size() && !info.labels.at(count).empty()) ++count;
  return count;
}
/// Upper bounds in seconds; only for histograms.
std::span<const double> Buckets(Metric metric);

}  // namespace firn::obs
