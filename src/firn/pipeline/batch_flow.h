#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "firn/base/result.h"
#include "firn/commit/committer.h"
#include "firn/pipeline/bound_keeper.h"
#include "firn/pipeline/end_observations.h"
#include "firn/pipeline/lane_maker.h"
#include "firn/pipeline/lane_set.h"
#include "firn/pipeline/own_reads.h"
#include "firn/pipeline/progress_view.h"
#include "firn/pipeline/table_set.h"

namespace firn::pipeline {

/// The way of the batches of one run: from the lanes to their tables, on to the commits, and what follows
/// from those (group offsets, the lower bound). Answers what lanes and own reads ask for, cuts what is due,
/// sets tables aside that fail. Knows which partitions are ours and where they were started; when they are
/// assigned, revoked or read again is the Controller's business, which tells it at a barrier.
///
/// Owns lanes, tables and own reads; the executors are the caller's and outlive it. Control thread only.
class BatchFlow {
 public:
  BatchFlow(const TableServices& services, TargetBook& book, std::shared_ptr<const route::Router> router,
            ProgressView& view);
  ~BatchFlow();
  BatchFlow(const BatchFlow&) = delete;
  BatchFlow& operator=(const BatchFlow&) = delete;

  /// The pipeline's only table, before Start. Waits.
  Status OpenSole(const TargetPtr& only, const InferColumns& infer);
  /// Makes the lanes, paused. The source outlives this.
  Status Start(source::Source& source);

  // --- once a turn

  /// What lanes ask for; an error of theirs.
  Status ServeLanes();
  /// What has come to an end at the tables.
  Status PollTables();
  Status ServeOwnReads();
  /// Cuts and submits the tables that are due.
  Status CutDue();
  /// Writes the lower bound when it is time.
  Status ServeBound();
  /// Holds the lanes back while memory is short and batches are in flight.
  void ServePressure();

  // --- barriers

  Status Cut(const CutOrder& order);
  /// What the own reads have filled; with `pause` they then stand still.
  Status CutOwnReads(bool pause);
  Status SubmitAll();
  /// Waits until nothing is in flight, at most `bound_ms` or until aborted; with `all` until nothing is
  /// opened or changed either.
  Status Await(int64_t bound_ms, bool all = false);
  bool AnyInFlight() const { return tables_.AnyInFlight(); }
  /// Cuts everything, pauses, and drops it: it is read again. Until the lanes go on from the tables'
  /// positions (Resume with drop_waiting) the read is ahead of what was dropped, and nothing may be
  /// committed: it would move positions over what is missing.
  Status DiscardFilling();
  bool read_is_ahead() const { return read_is_ahead_ || refused().has_value(); }
  void DiscardCarry() { tables_.DiscardCarry(); }
  void Resume(bool drop_waiting);
  /// At a clean stop, when nothing is in flight: the lower bound, at once.
  Status StoreBound();

  // --- partitions

  const record::Positions& started() const { return started_; }
  /// What the control table knows: tables that were made, and those that are behind in these partitions.
  void AdoptControl(const ControlTable::State& control,
                    const std::vector<record::SourcePartition>& partitions);
  /// Looks at the tables again. Nothing may be in flight.
  Status Refresh(const Patience& patience);
  /// These partitions are read from here on; the lanes stand still and hold nothing of them.
  void StartAt(const record::Positions& positions);
  /// They are ours no more. The lanes stand still.
  void Forget(const std::vector<record::SourcePartition>& partitions);
  /// Once the source has released them.
  void DropWaiting(const std::vector<record::SourcePartition>& partitions) { lanes_.DropWaiting(partitions); }
  void GiveUpOwnReads();

  // --- how it stands

  /// A batch was refused by the fence, or because its table was altered: everything is to be read again from
  /// the tables.
  const std::optional<commit::Rejected>& refused() const { return refused_; }
  std::optional<commit::Rejected> TakeRefusal() { return std::exchange(refused_, std::nullopt); }
  /// Records that were read up to `positions` (asked for before this) are with their tables, or set aside.
  bool Settled() const;
  std::map<record::SourcePartition, int64_t> ReadPositions() const { return lanes_.Positions(started_); }
  /// Below these positions of ours everything is committed, or there was nothing to commit.
  std::map<record::SourcePartition, int64_t> CommittedPositions() const;
  /// The newest time for which `committed` tells that every record appended until then is in its table; 0:
  /// there is none, or a table that failed lacks some.
  int64_t ValidThrough(const std::map<record::SourcePartition, int64_t>& committed) const;
  TableSet& tables() { return tables_; }
  const TableSet& tables() const { return tables_; }
  void Observe(int64_t time_ms, const std::map<record::SourcePartition, source::PartitionBounds>& bounds) {
    ends_.Add(time_ms, bounds);
  }
  ProgressView::Counters Counters() const;

 private:
  Status ServeRequest(const TableRequest& request);
  Status ServeOwnRead(OwnReadNews& news);
  Status JoinRead(TableRun& table);
  Status EndRead(TableRun& table);
  Status Heed(TableRun& table, Result<TableNews> news);
  Status TableFailed(TableRun& table, Error error);
  void Offer(const TableRun& table);
  void Acknowledge();
  void OpenBehind(const TargetPtr& target, const commit::PendingFrom& missing);
  commit::Complete OursComplete() const;
  std::string ClusterId() const;

  const TableServices& services_;
  TargetBook& book_;
  ProgressView& view_;
  source::Source* source_ = nullptr;
  LaneMaker maker_;
  TableSet tables_;
  LaneSet lanes_;
  OwnReads own_reads_;
  BoundKeeper bound_;
  EndObservations ends_;

  record::Positions started_;  ///< partitions that are ours, where each was started or sought to last
  std::optional<commit::Rejected> refused_;
  bool held_ = false;
  bool read_is_ahead_ = false;
};

}  // namespace firn::pipeline
