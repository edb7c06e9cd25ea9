#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "firn/commit/outcome.h"
#include "firn/pipeline/batch_commit.h"
#include "firn/pipeline/metadata_watch.h"
#include "firn/pipeline/pipeline_metrics.h"
#include "firn/pipeline/status_board.h"
#include "firn/runtime/clock.h"

namespace firn::pipeline {

/// What people see of one table while it is fed, in status, metrics and log alike; what it counts counts for
/// the pipeline as well. Of the records without a table only the latter. Decides nothing. Control thread
/// only.
class TableProgress {
 public:
  /// `table` empty: records that go to no table. `sole`: the pipeline has this table alone.
  TableProgress(std::string pipeline_id, std::string table, bool sole, StatusBoard& status,
                PipelineMetrics& pipeline_metrics, obs::Metrics& metrics, runtime::Clock& clock);

  /// The table is read and written (again).
  void Running();
  /// DEGRADED for some seconds.
  void Trouble(const Error& error);
  /// Trouble that was shown for long enough goes.
  void ForgetOldTrouble();
  void Failed(const Error& error);

  void Opened(const std::string& how, const std::vector<std::string>& notes);
  void SchemaChanged(const std::string& change);
  void ChangeRefused(const record::RefusedChange& refused);
  /// Where the table is now.
  void At(const iceberg::LoadedTable& table, const record::Positions& positions);

  /// A batch ended, whatever the outcome.
  void Batch(const BatchReport& report, int64_t filled_ms);
  /// It was one of letters alone.
  void LettersCommitted(const BatchReport& report);
  void Committed(const BatchReport& report, const iceberg::LoadedTable& table, int64_t snapshot_id,
                 int64_t epoch);
  /// Whether the commit that begins now may ask the store for the size of the metadata file.
  bool MayAskMetadataSize() { return metadata_watch_.TakeTurn(clock_.MonotonicNs()); }

 private:
  void WatchMetadata(int64_t bytes, const iceberg::LoadedTable& table);
  void Publish(const std::function<void(TableStatus&)>& change);

  const std::string pipeline_id_;
  const std::string table_;
  const bool sole_;
  StatusBoard& status_;
  PipelineMetrics& pipeline_metrics_;
  runtime::Clock& clock_;
  std::optional<TableMetrics> metrics_;
  MetadataWatch metadata_watch_;
  int64_t trouble_until_ns_ = 0;  ///< 0: none is shown
};

}  // namespace firn::pipeline
