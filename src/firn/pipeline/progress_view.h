#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "firn/obs/log.h"
#include "firn/pipeline/pipeline_metrics.h"
#include "firn/pipeline/status_board.h"
#include "firn/record/position.h"
#include "firn/runtime/clock.h"
#include "firn/source/source.h"

namespace firn::pipeline {

/// What people see of a run while it goes on: state with its reason, lag and its age, backlog, counters; in
/// the status and the metrics alike. Decides nothing. Control thread only.
class ProgressView {
 public:
  ProgressView(std::string pipeline_id, StatusBoard& status, PipelineMetrics& metrics, runtime::Clock& clock);

  /// The pipeline tries something again: DEGRADED with this reason for some seconds, or until TroubleOver.
  void Trouble(const Error& error);
  void TroubleOver() { trouble_until_ns_ = 0; }
  /// What a run begins with is away: DEGRADED until it runs.
  void WaitsToBegin(const Error& error);

  /// `bounds`: of all partitions; `positions`: up to where ours are committed.
  void Lag(const std::map<record::SourcePartition, source::PartitionBounds>& bounds,
           const std::map<record::SourcePartition, int64_t>& positions);
  /// Of sources that count in files; nothing of the others.
  void Backlog(const std::optional<source::Backlog>& backlog);
  /// Everything appended by this time is in the table; the newest such time counts.
  void ValidThrough(int64_t time_ms);

  struct Counters {
    int64_t rows = 0;   ///< decoded so far
    int64_t bytes = 0;  ///< read so far
    int64_t open_files = 0;
    int64_t filling_ms = 0;  ///< age of the oldest batch that fills
    int64_t prefetched_bytes = 0;
    std::string failures;  ///< TableSet::FailureText
  };
  void Show(const Counters& counters);

 private:
  std::map<record::SourcePartition, int64_t> LagAges(const std::map<record::SourcePartition, int64_t>& lag);

  const std::string pipeline_id_;
  StatusBoard& status_;
  PipelineMetrics& metrics_;
  runtime::Clock& clock_;
  obs::RateLimitedLog trouble_log_;
  int64_t trouble_until_ns_ = 0;  ///< 0: none is shown
  int64_t valid_through_ms_ = 0;
  std::map<record::SourcePartition, int64_t> at_end_ms_;  ///< when each was last seen committed to its end
};

}  // namespace firn::pipeline
