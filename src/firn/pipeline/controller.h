#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
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
#include "firn/pipeline/catch_up.h"
#include "firn/pipeline/control_table.h"
#include "firn/pipeline/lane.h"
#include "firn/pipeline/pipeline.h"
#include "firn/pipeline/pipeline_metrics.h"
#include "firn/pipeline/read_ledger.h"
#include "firn/pipeline/start_plan.h"
#include "firn/pipeline/status_board.h"
#include "firn/pipeline/table_run.h"
#include "firn/pipeline/target.h"

namespace firn::pipeline {

/// The control thread of one run: serves the source, tells the lanes which tables to cut, and gives what they
/// hand over to the tables (TableRun), which commit it on the committers' pool.
///
/// Revocation is a barrier: lanes pause, what holds rows of the revoked partitions is committed within a
/// bound or discarded, only then are the partitions given up. After a discard everything that is still ours
/// is read again: a pipeline of one table from the table's positions, one of many from the lower bound in the
/// control table, where each table drops what it has. A table that fails leaves the shared read and the
/// others go on; in the next run it catches up by a read of its own (CatchUp). Everything here runs on the
/// caller's thread; lanes, committers and I/O pool are owned and joined here.
class Controller {
 public:
  Controller(const PipelineConfig& config, PipelineDeps& deps, const RunOptions& options,
             StatusBoard& status);
  ~Controller();

  /// Returns when stopped, caught up or failed. Errors carry the way it ended (PipelineEnd follows from the
  /// kind).
  Status Run(const std::stop_token& stop, const std::stop_token& abort);

 private:
  /// A table's own read, or the attempt at one.
  struct OwnRead {
    std::optional<std::future<Result<std::unique_ptr<source::Source>>>> connecting;
    record::Positions from;
    std::unique_ptr<CatchUp> read;
  };

  Status SetUp(const std::stop_token& stop);
  Status MakeLanes();
  Result<Sorter> MakeSorter();
  LaneConfig LaneSettings(int index) const;
  Result<iceberg::SchemaPtr> InferColumnsAndTell(const std::stop_token& stop);
  Status Loop(const std::stop_token& stop, const std::stop_token& abort);
  Status Turn();

  // --- source
  Status Handle(const source::SourceEvent& event);
  Status OnAssigned(const std::vector<record::SourcePartition>& partitions);
  Status OnTrouble(const source::SourceTrouble& trouble);
  Status OnRevoked(const source::PartitionsRevoked& revoked);
  Status PlanReading(const std::vector<record::SourcePartition>& partitions, record::Positions* positions);
  Status AdoptControl(const ControlTable::State& control,
                      const std::vector<record::SourcePartition>& partitions);
  Status Resync();
  void ResumeLanes(bool drop_waiting);

  // --- tables
  TableRun& TableOf(const TargetPtr& target);
  Status ServeLanes();
  Status ServeRequest(const TableRequest& request);
  Status PollTables();
  Status Heed(TableRun& table, Result<TableNews> news);
  Status TableFailed(TableRun& table, Error error);
  using Records = std::shared_ptr<const std::vector<record::RawBatch>>;
  Result<Records> SampleOf(const TargetPtr& target);
  void OfferToAll(TableRun& table);
  Status RefreshTables();
  Status ServeRefusal();
  Status FailedTables() const;
  std::string FailureText() const;

  // --- batches
  Status Cut(const CutOrder& order);
  Status CutDue();
  std::set<uint32_t> Due();
  Status SubmitAll();
  Status AwaitTables(int64_t bound_ms, bool all = false);
  bool AnyInFlight() const;
  Status DiscardFilling();
  Status Flush();
  bool CaughtUp() const;
  /// The run ends when everything that was there at its start is committed.
  bool bounded() const { return options_.until_caught_up || config_.bounded; }
  void AimAtEnds(const std::map<record::SourcePartition, source::PartitionBounds>& bounds);

  // --- lower bound
  commit::Complete OursComplete();
  Status ServeComplete();
  Status StoreComplete();
  void Acknowledge();

  // --- catching up
  Status ServeCatchUps();
  Status StartCatchUps();
  Status ServeCatchUp(TableRun& table, CatchUp& read);
  Status JoinRead(TableRun& table, CatchUp& read);
  void DropOwnReads(const std::function<bool(const OwnRead&)>& which);

  Status RefreshLag();
  void ShowBacklog();
  void ShowLag(const std::map<record::SourcePartition, source::PartitionBounds>& bounds);
  void Observe(commit::EndObservation observation);
  std::vector<commit::EndObservation> Observed() const;
  std::map<record::SourcePartition, int64_t> LagAges(const std::map<record::SourcePartition, int64_t>& lag);
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

  std::stop_source
      abort_;  ///< given to the committers; requested by the caller's abort or the shutdown limit
  std::shared_ptr<const route::Router> router_;
  TargetBook book_;
  ControlTable control_;
  std::unique_ptr<source::Source> source_;
  std::unique_ptr<runtime::Executor> io_;
  std::unique_ptr<runtime::Executor> committers_;
  std::unique_ptr<TableServices> services_;
  std::map<uint32_t, std::unique_ptr<TableRun>> tables_;
  std::vector<std::unique_ptr<Lane>> lanes_;
  std::unique_ptr<ReadLedger> ledger_;

  record::Positions started_;  ///< partitions that are ours, where each was started or sought to last
  std::map<record::SourcePartition, int64_t> targets_;  ///< bounded runs: read up to here
  bool targets_known_ = false;
  std::set<record::SourcePartition> endless_;  ///< bounded runs: the source tells their ends when it is there
  std::optional<commit::FenceMismatch>
      refused_by_;    ///< the fence refused a batch: everything is read again from the tables
  int refusals_ = 0;  ///< times the fence refused partitions of ours since the last assignment
  std::vector<commit::EndObservation> observed_;
  record::Positions acknowledged_;

  commit::Complete stored_;  ///< as the control table has it
  std::string control_uuid_;
  std::map<std::string, commit::PendingFrom> strangers_behind_;  ///< of tables that no rule makes any more
  std::mutex missing_mutex_;
  std::map<uint32_t, commit::PendingFrom> missing_of_;  ///< as the control table had it; read on the pool
  std::optional<std::future<Result<ControlTable::State>>> storing_;
  bool worth_storing_ = false;
  int64_t next_store_ns_ = 0;
  std::map<uint32_t, OwnRead> own_reads_;

  int64_t pipeline_records_ = 0;  ///< since records without a table were last looked at
  int64_t next_lag_ns_ = 0;
  int64_t trouble_until_ns_ = 0;
  int64_t valid_through_ms_ = 0;
  std::map<record::SourcePartition, int64_t> at_end_ms_;
  size_t failed_tables_ = 0;
  bool held_ = false;
};

}  // namespace firn::pipeline
