#include "firn/pipeline/pipeline_metrics.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>
#include <variant>

namespace firn::pipeline {

namespace {

using obs::Metric;

constexpr double kMsPerSecond = 1000.0;
constexpr std::array kStates = {PipelineState::kStarting, PipelineState::kRunning, PipelineState::kPaused,
                                PipelineState::kDegraded, PipelineState::kFailed,  PipelineState::kFinished};

std::string_view OutcomeName(const commit::CommitOutcome& outcome) {
  struct Name {
    std::string_view operator()(const commit::Committed&) const { return "committed"; }
    std::string_view operator()(const commit::AlreadyCommitted&) const { return "already_committed"; }
    std::string_view operator()(const commit::ConflictExhausted&) const { return "conflict"; }
    std::string_view operator()(const commit::UnknownOutcome&) const { return "unknown"; }
    std::string_view operator()(const commit::Rejected&) const { return "rejected"; }
  };
  return std::visit(Name{}, outcome);
}

bool Applied(const commit::CommitOutcome& outcome) {
  return std::holds_alternative<commit::Committed>(outcome) ||
         std::holds_alternative<commit::AlreadyCommitted>(outcome);
}

}  // namespace

TableMetrics::TableMetrics(obs::Metrics& metrics, std::string pipeline, std::string table)
    : metrics_(metrics),
      pipeline_(std::move(pipeline)),
      table_(std::move(table)),
      rows_committed_(metrics.counter(Metric::kRowsCommitted, {pipeline_, table_})),
      output_bytes_(metrics.counter(Metric::kOutputBytes, {pipeline_, table_})),
      data_files_(metrics.counter(Metric::kDataFiles, {pipeline_, table_})),
      retries_(metrics.counter(Metric::kCommitRetries, {pipeline_, table_})),
      conflicts_(metrics.counter(Metric::kCommitConflicts, {pipeline_, table_})),
      schema_changes_(metrics.counter(Metric::kSchemaChanges, {pipeline_, table_})),
      last_commit_(metrics.gauge(Metric::kLastCommit, {pipeline_, table_})),
      metadata_bytes_(metrics.gauge(Metric::kMetadataBytes, {pipeline_, table_})) {}

void TableMetrics::Batch(const BatchReport& report) {
  if (!report.outcome) return;
  metrics_.counter(Metric::kCommits, {pipeline_, table_, OutcomeName(*report.outcome)}).Add();
  if (const auto* done = std::get_if<commit::Committed>(&*report.outcome)) {
    retries_.Add(done->tries - 1);
    conflicts_.Add(done->tries - 1);
  }
  if (!Applied(*report.outcome)) return;
  rows_committed_.Add(static_cast<double>(report.rows));
  output_bytes_.Add(static_cast<double>(report.data_file_bytes));
  data_files_.Add(static_cast<double>(report.data_files));
}

PipelineMetrics::PipelineMetrics(obs::Metrics& metrics, std::string pipeline)
    : metrics_(metrics),
      pipeline_(std::move(pipeline)),
      rows_read_(metrics.counter(Metric::kRowsRead, {pipeline_})),
      input_bytes_(metrics.counter(Metric::kInputBytes, {pipeline_})),
      skipped_bad_(metrics.counter(Metric::kSkippedRecords, {pipeline_, "bad_record"})),
      skipped_tombstones_(metrics.counter(Metric::kSkippedRecords, {pipeline_, "tombstone"})),
      unknown_fields_(metrics.counter(Metric::kUnknownFields, {pipeline_})),
      rebalances_(metrics.counter(Metric::kRebalances, {pipeline_})),
      source_errors_(metrics.counter(Metric::kSourceErrors, {pipeline_})),
      freshness_(metrics.gauge(Metric::kFreshnessSeconds, {pipeline_})),
      valid_through_(metrics.gauge(Metric::kValidThrough, {pipeline_})),
      open_files_(metrics.gauge(Metric::kOpenFiles, {pipeline_})),
      prefetched_(metrics.gauge(Metric::kPrefetchedBytes, {pipeline_})),
      batch_seconds_(metrics.histogram(Metric::kBatchSeconds, {pipeline_})),
      commit_seconds_(metrics.histogram(Metric::kCommitSeconds, {pipeline_})) {}

void PipelineMetrics::Read(int64_t rows, int64_t bytes) {
  rows_read_.Add(static_cast<double>(rows - std::exchange(rows_seen_, rows)));
  input_bytes_.Add(static_cast<double>(bytes - std::exchange(bytes_seen_, bytes)));
}

void PipelineMetrics::Batch(const BatchReport& report, int64_t filled_ms) {
  batch_seconds_.Observe(static_cast<double>(filled_ms) / kMsPerSecond);
  if (report.failed) return;
  commit_seconds_.Observe(static_cast<double>(report.finish_ms + report.commit_ms) / kMsPerSecond);
  if (report.outcome && !Applied(*report.outcome)) return;
  skipped_bad_.Add(static_cast<double>(report.skipped));
  skipped_tombstones_.Add(static_cast<double>(report.tombstones_skipped));
  unknown_fields_.Add(static_cast<double>(report.unknown_fields_ignored));
  for (const auto& [reason, count] : report.dead_letters_by_reason) {
    metrics_.counter(Metric::kDeadLetters, {pipeline_, reason}).Add(static_cast<double>(count));
  }
}

void PipelineMetrics::Lag(const std::map<record::SourcePartition, int64_t>& records,
                          const std::map<record::SourcePartition, int64_t>& headroom) {
  for (const auto& [partition, count] : records) {
    metrics_.gauge(Metric::kLagRecords, {pipeline_, partition.topic, std::to_string(partition.partition)})
        .Set(static_cast<double>(count));
  }
  for (const auto& [partition, count] : headroom) {
    metrics_
        .gauge(Metric::kRetentionHeadroom, {pipeline_, partition.topic, std::to_string(partition.partition)})
        .Set(static_cast<double>(count));
  }
  Forget(Metric::kLagRecords, std::exchange(lag_, records), records);
  Forget(Metric::kRetentionHeadroom, std::exchange(headroom_, headroom), headroom);
}

// Partitions that are no longer ours must not show their last value for ever.
void PipelineMetrics::Forget(Metric metric, const std::map<record::SourcePartition, int64_t>& before,
                             const std::map<record::SourcePartition, int64_t>& now) {
  for (const auto& [partition, count] : before) {
    if (!now.contains(partition))
      metrics_.Remove(metric, {pipeline_, partition.topic, std::to_string(partition.partition)});
  }
}

void PipelineMetrics::LagSeconds(const std::map<record::SourcePartition, int64_t>& ms) {
  for (const auto& [partition, age] : ms) {
    metrics_.gauge(Metric::kLagSeconds, {pipeline_, partition.topic, std::to_string(partition.partition)})
        .Set(static_cast<double>(age) / kMsPerSecond);
  }
  Forget(Metric::kLagSeconds, std::exchange(lag_ms_, ms), ms);
}

void PipelineMetrics::Backlog(int64_t files, int64_t bytes) {
  metrics_.gauge(Metric::kWaitingFiles, {pipeline_}).Set(static_cast<double>(files));
  metrics_.gauge(Metric::kWaitingBytes, {pipeline_}).Set(static_cast<double>(bytes));
}

void PipelineMetrics::Freshness(int64_t ms) { freshness_.Set(static_cast<double>(ms) / kMsPerSecond); }

void PipelineMetrics::ValidThrough(int64_t time_ms) {
  valid_through_.Set(static_cast<double>(time_ms) / kMsPerSecond);
}

void PipelineMetrics::State(PipelineState state) {
  for (const PipelineState each : kStates) {
    std::string name(ToString(each));
    std::ranges::transform(name, name.begin(),
                           [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    metrics_.gauge(Metric::kPipelineState, {pipeline_, name}).Set(each == state ? 1 : 0);
  }
}

}  // namespace firn::pipeline
