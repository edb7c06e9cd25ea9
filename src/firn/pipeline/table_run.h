#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "firn/base/result.h"
#include "firn/commit/committer.h"
#include "firn/commit/protocol/shared_read.h"
#include "firn/obs/log.h"
#include "firn/pipeline/batch_commit.h"
#include "firn/pipeline/control_table.h"
#include "firn/pipeline/dead_letter_limit.h"
#include "firn/pipeline/lane_protocol.h"
#include "firn/pipeline/pipeline.h"
#include "firn/pipeline/pipeline_metrics.h"
#include "firn/pipeline/status_board.h"
#include "firn/pipeline/table_fill.h"
#include "firn/pipeline/table_opening.h"
#include "firn/pipeline/table_progress.h"
#include "firn/pipeline/table_setup.h"
#include "firn/pipeline/target.h"

namespace firn::pipeline {

/// What the tables of a pipeline share; outlives them.
struct TableServices {
  const PipelineConfig& config;
  PipelineDeps& deps;
  const RunOptions& options;
  StatusBoard& status;
  PipelineMetrics& metrics;
  ControlTable& control;
  runtime::Executor& io;          ///< closes files
  runtime::Executor& committers;  ///< everything that talks to a catalog
  std::stop_token abort;
  bool sole = false;  ///< the pipeline has this one table (route::Router::sole)
};

/// Share of the memory limit from which batches are cut early and the lanes are held back.
inline constexpr double kFlushPressure = 0.7;

/// Something the control thread must know of.
struct TableNews {
  bool opened = false;
  bool view_changed = false;
  bool committed = false;
  int64_t valid_through_ms = 0;
  std::optional<commit::Rejected>
      refused;                 ///< by the fence, or because the table was altered: everything is read again
  std::optional<Error> fatal;  ///< the pipeline cannot go on, not only this table
  bool any() const { return opened || view_changed || committed || refused || fatal; }
};

/// One table's life in one run: opened when its first record comes, fed by the lanes' parts, committed batch
/// by batch, its schema changed when records ask for it, until the run ends or it fails. The records that go
/// to no table have one as well, which only commits letters.
///
/// At most one batch commits (`in_flight_`) and one fills (in the lanes, plus what TableFill holds). Commits,
/// changes and opening run on the committers' pool, never two of them at a time: one committer per table.
/// Everything else is the control thread's. Poll tells what has come to an end; an error of it is the end of
/// the table.
class TableRun {
 public:
  TableRun(TargetPtr target, const TableServices& services);
  ~TableRun();
  TableRun(const TableRun&) = delete;
  TableRun& operator=(const TableRun&) = delete;

  // --- opening

  /// OpenTable, again and again while the catalog cannot be reached. Poll tells the outcome.
  void Open(OpenOrder order);
  /// At once, on this thread (the pipeline's only table).
  Status OpenNow(const InferColumns& infer);
  /// Positions as the table has them now. Nothing may be in flight.
  runtime::Future<Result<iceberg::LoadedTable>> Load();
  Status Refresh(Result<iceberg::LoadedTable> loaded);

  // --- filling

  /// A lane's part; `read`: how far the read that fed it has come. Of a table that failed: what it held is
  /// missing from there on.
  Status Take(BatchPart part, const record::Positions& read);
  /// What was left out of the table, first position per partition.
  void LeftOut(const commit::PendingFrom& missing) { fill_.LeftOut(missing); }
  bool filling() const { return target_->records.load(std::memory_order_relaxed) > 0 || carry().records > 0; }
  bool OverLimits() const;
  /// The interval counts from the first record of the batch.
  int64_t AgeMs();
  /// The lanes were told to hand their parts over.
  void Cut();
  /// Hands the filled batch to its committer if it is worth a commit and nothing else runs.
  /// `pipeline_records`: read for any table since the last time, for the share of records without one.
  Status Submit(const std::vector<commit::EndObservation>& observed, int64_t pipeline_records);
  /// What was filled is read again.
  void DiscardCarry();

  // --- what runs

  Result<TableNews> Poll();
  bool in_flight() const { return in_flight_.has_value(); }
  bool busy() const { return in_flight_ || change_ || open_; }
  bool opening() const { return open_.has_value() || retry_open_ns_ > 0; }
  /// Waits for what is in flight, at most `ms`.
  void WaitFor(int64_t ms) const;

  // --- schema

  /// A lane waits for this change. True: the view is newer already.
  bool Want(const TableRequest& request);

  // --- state

  /// The table takes part no more; what it has not committed is missing from there on.
  void Fail(Error error);
  void ShowTrouble(const Error& error) { progress_.Trouble(error); }
  const std::optional<Error>& failed() const { return failed_; }
  bool opened() const { return view_ != nullptr || target_->name.empty(); }
  const TargetPtr& target() const { return target_; }
  const TableViewPtr& view() const { return view_; }
  const TableConfig& config() const { return config_; }
  commit::Committer& committer() { return *committer_; }
  const record::Positions& positions() const { return positions_; }
  int64_t epoch() const { return epoch_; }
  void set_epoch(int64_t epoch) { epoch_ = std::max(epoch_, epoch); }
  std::string uuid() const { return view_ == nullptr ? std::string() : view_->table.metadata->table_uuid; }
  TableOffer Offer() const;
  int64_t bytes_filling() const {
    return target_->bytes.load(std::memory_order_relaxed) + carry().input_bytes;
  }
  int64_t writers_in_flight() const { return writers_in_flight_; }
  bool touches(const std::vector<record::SourcePartition>& partitions) const {
    return fill_.touches(partitions);
  }
  const BatchPart& carry() const { return fill_.carry(); }

  // --- see TableFill

  void AddPendingTo(commit::PendingFrom& pending) const { fill_.AddPendingTo(pending); }
  const commit::PendingFrom& behind() const { return fill_.behind(); }
  commit::PendingFrom MissingFrom() const { return fill_.MissingFrom(positions_); }
  void Join(std::map<record::SourcePartition, int64_t> joins) { fill_.Join(std::move(joins)); }
  void Joined() { fill_.Joined(); }
  void AbandonJoin() { fill_.AbandonJoin(); }
  bool joining() const { return fill_.joining(); }

 private:
  struct Changed {
    iceberg::LoadedTable table;
    std::vector<record::RefusedChange> refused;
    std::string summary;
  };

  Status MakeCommitter();
  void StartOpening();
  Status PollOpen(TableNews& news);
  Status PollChange(TableNews& news);
  void StartChange();
  Status OnReport(BatchReport report, TableNews& news);
  Status OnCommitted(const BatchReport& report, const iceberg::LoadedTable& table, int64_t snapshot_id,
                     TableNews& news);
  Status Adopt(const iceberg::LoadedTable& table, TableNews& news);
  Status View(const iceberg::LoadedTable& table);
  std::vector<commit::EndObservation> Reachable(const std::vector<commit::EndObservation>& observed,
                                                const record::PositionRanges& ranges) const;

  const TargetPtr target_;
  const TableServices& services_;
  runtime::Clock& clock_;
  TableConfig config_;  ///< of the rule, with the table's own name
  std::shared_ptr<iceberg::Catalog> catalog_;
  std::unique_ptr<commit::Committer> committer_;
  TableProgress progress_;

  TableViewPtr view_;
  record::Positions positions_;  ///< where the table stands
  int64_t epoch_ = 0;
  std::optional<Error> failed_;
  std::vector<record::RefusedChange> refused_changes_;

  std::optional<runtime::Future<Result<TableOpened>>> open_;
  OpenOrder open_order_;
  int64_t retry_open_ns_ = 0;  ///< 0: no
  std::optional<runtime::Future<Result<Changed>>> change_;
  std::deque<record::SchemaDelta> wanted_;

  TableFill fill_;
  int64_t batch_begin_ns_ = 0;  ///< 0: nothing fills
  int64_t filled_ms_ = 0;
  std::optional<runtime::Future<BatchReport>> in_flight_;
  int64_t writers_in_flight_ = 0;
  DeadLetterLimit dead_letter_limit_;
};

}  // namespace firn::pipeline
