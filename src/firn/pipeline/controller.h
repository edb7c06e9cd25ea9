#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <vector>

#include "firn/base/result.h"
#include "firn/pipeline/batch_flow.h"
#include "firn/pipeline/control_table.h"
#include "firn/pipeline/pipeline.h"
#include "firn/pipeline/pipeline_metrics.h"
#include "firn/pipeline/progress_view.h"
#include "firn/pipeline/read_goal.h"
#include "firn/pipeline/start_plan.h"
#include "firn/pipeline/status_board.h"
#include "firn/pipeline/table_run.h"
#include "firn/pipeline/target.h"

namespace firn::pipeline {

/// The control thread of one run: serves the source's events, and turn by turn the way of the batches
/// (BatchFlow), until the run is stopped, has caught up or fails.
///
/// Revocation is a barrier: lanes pause, what holds rows of the revoked partitions is committed within a
/// bound or discarded, only then are the partitions given up. After a discard everything that is still ours
/// is read again: a pipeline of one table from the table's positions, one of many from the lower bound in the
/// control table, where each table drops what it has. A table that fails leaves the shared read and the
/// others go on; in the next run it catches up by a read of its own (CatchUp). Everything here runs on the
/// caller's thread; the source and the executors are owned and joined here.
class Controller {
 public:
  Controller(const PipelineConfig& config, PipelineDeps& deps, const RunOptions& options,
             StatusBoard& status);
  ~Controller();

  /// Returns when stopped, caught up or failed. Errors carry the way it ended (PipelineEnd follows from the
  /// kind).
  Status Run(const std::stop_token& stop, const std::stop_token& abort);

 private:
  Status SetUp(const std::stop_token& stop);
  Status OpenSource(const Patience& patience);
  Result<iceberg::SchemaPtr> InferColumnsAndTell(const std::stop_token& stop);
  Status Loop(const std::stop_token& stop, const std::stop_token& abort);
  Status Turn();
  Status Flush();
  Status StoreBound(int64_t limit_ms);
  bool CaughtUp() const;
  /// The run ends when everything that was there at its start is committed.
  bool bounded() const { return options_.until_caught_up || config_.bounded; }

  // --- source
  Status Handle(const source::SourceEvent& event);
  Status OnAssigned(const std::vector<record::SourcePartition>& partitions);
  Status OnRevoked(const source::PartitionsRevoked& revoked);
  Status OnTrouble(const source::SourceTrouble& trouble);
  Status AimAtEnds();
  Result<record::Positions> PlanReading(const std::vector<record::SourcePartition>& partitions);
  Result<StartPlan> PlanForOne(StartContext context, const std::vector<record::SourcePartition>& partitions);
  Result<StartPlan> PlanForMany(const StartContext& context,
                                const std::vector<record::SourcePartition>& partitions);
  Status Resync();
  Status ServeRefusal();
  Status ReadAgainFrom(const commit::FenceMismatch& fence);

  Status RefreshLag();
  /// At the start: what is away (WaitingMayHelp) has kMaxStartWaitMs to come back. DEGRADED meanwhile.
  Patience ToBegin(const std::stop_token& stop);
  /// Shows DEGRADED and pauses, until the run is ended.
  Patience UntilAborted();

  const PipelineConfig& config_;
  PipelineDeps& deps_;
  const RunOptions& options_;
  StatusBoard& status_;
  runtime::Clock& clock_;
  PipelineMetrics metrics_;
  ProgressView view_;

  std::stop_source
      abort_;  ///< given to the committers; requested by the caller's abort or the shutdown limit
  TargetBook book_;
  ControlTable control_;
  std::unique_ptr<source::Source> source_;
  std::unique_ptr<runtime::Executor> io_;
  std::unique_ptr<runtime::Executor> committers_;
  std::unique_ptr<TableServices> services_;
  std::unique_ptr<BatchFlow> flow_;

  ReadGoal goal_;     ///< of bounded runs
  int refusals_ = 0;  ///< times the fence refused partitions of ours since the last assignment
  int64_t next_lag_ns_ = 0;
};

}  // namespace firn::pipeline
