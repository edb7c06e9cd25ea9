#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "firn/obs/metrics.h"
#include "firn/pipeline/batch_commit.h"
#include "firn/pipeline/status.h"
#include "firn/record/position.h"

namespace firn::pipeline {

/// The time series of one table of a pipeline. Control thread only.
class TableMetrics {
 public:
  TableMetrics(obs::Metrics& metrics, std::string pipeline, std::string table);

  /// A batch ended, whatever the outcome.
  void Batch(const BatchReport& report);
  void MetadataBytes(int64_t bytes) { metadata_bytes_.Set(static_cast<double>(bytes)); }
  void SchemaChanged() { schema_changes_.Add(); }
  void Committed(int64_t now_ms) { last_commit_.Set(static_cast<double>(now_ms) / 1000.0); }

 private:
  obs::Metrics& metrics_;
  const std::string pipeline_;
  const std::string table_;
  obs::Counter rows_committed_;
  obs::Counter output_bytes_;
  obs::Counter data_files_;
  obs::Counter retries_;
  obs::Counter conflicts_;
  obs::Counter schema_changes_;
  obs::Gauge last_commit_;
  obs::Gauge metadata_bytes_;
};

/// One pipeline's time series (docs/metrics.md). Control thread only.
class PipelineMetrics {
 public:
  PipelineMetrics(obs::Metrics& metrics, std::string pipeline);

  /// Totals of what the lanes have read so far.
  void Read(int64_t rows, int64_t bytes);
  /// A batch ended, whatever the outcome. Dead letters are counted by reason when they are committed.
  void Batch(const BatchReport& report, int64_t filled_ms);
  void Lag(const std::map<record::SourcePartition, int64_t>& records,
           const std::map<record::SourcePartition, int64_t>& headroom);
  void LagSeconds(const std::map<record::SourcePartition, int64_t>& ms);
  void Backlog(int64_t files, int64_t bytes);
  void Freshness(int64_t ms);
  void OpenFiles(int64_t count) { open_files_.Set(static_cast<double>(count)); }
  void Prefetched(int64_t bytes) { prefetched_.Set(static_cast<double>(bytes)); }
  void ValidThrough(int64_t time_ms);
  void State(PipelineState state);
  void Rebalanced() { rebalances_.Add(); }
  void SourceTroubled() { source_errors_.Add(); }

 private:
  void Forget(obs::Metric metric, const std::map<record::SourcePartition, int64_t>& before,
              const std::map<record::SourcePartition, int64_t>& now);

  obs::Metrics& metrics_;
  const std::string pipeline_;
  obs::Counter rows_read_;
  obs::Counter input_bytes_;
  obs::Counter skipped_bad_;
  obs::Counter skipped_tombstones_;
  obs::Counter unknown_fields_;
  obs::Counter rebalances_;
  obs::Counter source_errors_;
  obs::Gauge freshness_;
  obs::Gauge valid_through_;
  obs::Gauge open_files_;
  obs::Gauge prefetched_;
  obs::Histogram batch_seconds_;
  obs::Histogram commit_seconds_;
  int64_t rows_seen_ = 0;
  int64_t bytes_seen_ = 0;
  std::map<record::SourcePartition, int64_t> lag_;
  std::map<record::SourcePartition, int64_t> headroom_;
  std::map<record::SourcePartition, int64_t> lag_ms_;
};

}  // namespace firn::pipeline
