#pragma once

#include <chrono>
#include <cstdint>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <stop_token>
#include <vector>

#include "firn/base/result.h"
#include "firn/commit/committer.h"
#include "firn/obs/log.h"
#include "firn/pipeline/batch_commit.h"
#include "firn/pipeline/dead_letter_sink.h"
#include "firn/pipeline/lane.h"
#include "firn/pipeline/pipeline.h"
#include "firn/pipeline/pipeline_metrics.h"
#include "firn/pipeline/start_plan.h"
#include "firn/pipeline/status_board.h"

namespace firn::pipeline {

/// The control thread of one run: serves the source, cuts the lanes' parts into batches and sends them to the
/// committer thread.
///
/// At most one batch commits (`in_flight_`) and one fills (in the lanes, plus `carry_`: what was cut without
/// being committed). Revocation is a barrier: lanes pause, what holds rows of the revoked partitions is
/// committed within a bound or discarded, only then are the partitions given up. After a discard everything
/// that is still ours is read again from the table's positions. Everything here runs on the caller's thread;
/// lanes, committer thread and I/O pool are owned and joined here.
class Controller {
 public:
  Controller(const PipelineConfig& config, PipelineDeps& deps, const RunOptions& options,
             StatusBoard& status);
  ~Controller();

  /// Returns when stopped, caught up or failed. Errors carry the way it ended (PipelineEnd follows from the
  /// kind).
  Status Run(const std::stop_token& stop, const std::stop_token& abort);

 private:
  Result<iceberg::SchemaPtr> InferColumnsAndTell(const std::stop_token& stop);
  Status SetUp(const std::stop_token& stop);
  Status Loop(const std::stop_token& stop, const std::stop_token& abort);
  Status Turn();

  Status Handle(const source::SourceEvent& event);
  Status OnAssigned(const std::vector<record::SourcePartition>& partitions);
  Status OnTrouble(const source::SourceTrouble& trouble);
  Result<StartPlan> PlanReading(const std::vector<record::SourcePartition>& partitions);
  Status OnRevoked(const source::PartitionsRevoked& revoked);

  Status CheckLanes();
  Status ServeSchemaRequest();
  Status CollectCommit();
  Status OnReport(BatchReport report);
  Status ServeRefusal();
  Status OnCommitted(const BatchReport& report, const iceberg::LoadedTable& table, int64_t snapshot_id);
  Status AdoptTable(const iceberg::LoadedTable& table);
  Status View(const iceberg::LoadedTable& table);

  bool BatchDue();
  bool OverLimits() const;
  Result<BatchPart> Cut(bool pause);
  Status Submit(BatchPart part);
  Status CheckDeadLetterRatio(const BatchPart& part);
  Status AwaitCommit(int64_t bound_ms);
  Status DiscardFilling();
  Status Resync();
  void ResumeLanes(bool drop_polled);
  Status Flush();
  bool CaughtUp() const;
  /// The run ends when everything that was there at its start is committed.
  bool bounded() const { return options_.until_caught_up || config_.bounded; }
  void AimAtEnds(const std::map<record::SourcePartition, source::PartitionBounds>& bounds);
  void ShowBacklog();
  void ShowLag(const std::map<record::SourcePartition, source::PartitionBounds>& bounds);

  Status RefreshLag();
  void Observe(commit::EndObservation observation);
  std::map<record::SourcePartition, int64_t> LagAges(const std::map<record::SourcePartition, int64_t>& lag);
  void WatchMetadata(const iceberg::LoadedTable& table);
  std::map<record::SourcePartition, int64_t> ReadPositions() const;
  void PublishCounters();
  void ShowTrouble(const Error& error);

  /// Calls until it succeeds, fails for good or the run is ended; shows DEGRADED meanwhile.
  template <typename T>
  Result<T> Persist(const std::function<Result<T>()>& call) {
    for (;;) {
      Result<T> result = call();
      if (result.ok() || result.error().retry() == RetryHint::kNo || abort_.stop_requested()) return result;
      ShowTrouble(result.error());
      clock_.SleepMs(kPersistPauseMs);
    }
  }

  static constexpr int64_t kPersistPauseMs = 500;
  static constexpr int64_t kTroubleLogMs = 10'000;

  const PipelineConfig& config_;
  PipelineDeps& deps_;
  const RunOptions& options_;
  StatusBoard& status_;
  runtime::Clock& clock_;
  PipelineMetrics metrics_;
  obs::RateLimitedLog trouble_log_{kTroubleLogMs};

  std::stop_source abort_;  ///< given to the committer; requested by the caller's abort or the shutdown limit
  std::unique_ptr<source::Source> source_;
  std::unique_ptr<runtime::Executor> io_;
  std::unique_ptr<runtime::Executor> commit_thread_;
  std::unique_ptr<commit::Committer> committer_;
  std::unique_ptr<DeadLetterSink> dead_letters_;
  std::vector<std::unique_ptr<Lane>> lanes_;

  TableViewPtr view_;
  record::Positions started_;  ///< partitions that are ours, where each was started or sought to last
  std::map<record::SourcePartition, int64_t> targets_;  ///< bounded runs: read up to here
  bool targets_known_ = false;
  std::set<record::SourcePartition> endless_;  ///< bounded runs: the source tells their ends when it is there
  std::vector<record::RefusedChange> refused_changes_;
  BatchPart carry_;
  std::optional<std::future<BatchReport>> in_flight_;
  std::optional<commit::FenceMismatch>
      refused_by_;  ///< the fence refused a batch: everything is read again from the table
  std::vector<commit::EndObservation> observed_;
  int refusals_ = 0;  ///< times the fence refused partitions of ours since the last assignment
  int64_t epoch_ = 0;
  int64_t batch_begin_ns_ = 0;  ///< 0: nothing fills
  int64_t next_lag_ns_ = 0;
  int64_t trouble_until_ns_ = 0;
  int64_t window_records_ = 0;  ///< of fail_above
  int64_t window_bad_ = 0;
  int64_t filled_ms_ = 0;  ///< how long the batch in flight was filled
  int64_t valid_through_ms_ = 0;
  int64_t in_flight_writers_ = 0;
  std::map<record::SourcePartition, int64_t> at_end_ms_;
  bool told_of_metadata_ = false;
  bool held_ = false;
};

}  // namespace firn::pipeline
