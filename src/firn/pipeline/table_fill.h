#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "firn/base/result.h"
#include "firn/commit/protocol/shared_read.h"
#include "firn/pipeline/batch.h"
#include "firn/pipeline/takes_from.h"
#include "firn/record/position.h"

namespace firn::pipeline {

/// The records of one table between the lanes and its commits: what waits for a batch, which ranges are in
/// flight, and what the table is missing because it left the shared read, up to the seam where its own read
/// joins that again.
///
/// At the seam the lanes bring records from `joins` on while the own read still goes as far as that: those of
/// the lanes are held until it has come there. When the batch with the last part of the own read is committed
/// the table is behind no more. What is discarded at any moment leaves the table as far behind as before.
/// Control thread only; no I/O but removing files of what is discarded.
class TableFill {
 public:
  TableFill() = default;
  ~TableFill();
  TableFill(const TableFill&) = delete;
  TableFill& operator=(const TableFill&) = delete;

  // --- what waits for a batch

  /// A part of the lanes or of the own read. `read`: how far the read that fed it has come; `table`: where
  /// the table stands.
  Status Take(BatchPart part, const record::Positions& read, const record::Positions& table);
  /// The table takes part no more: the part is missing in it.
  void Refuse(BatchPart part);
  /// Records were left out of the table, the first per partition.
  void LeftOut(const commit::PendingFrom& missing);
  /// The lanes will tell anew of which partitions records wait.
  void ForgetUnsettled();
  /// What waits is read again.
  void Discard();
  const BatchPart& carry() const { return carry_; }

  // --- the batch

  struct Batch {
    BatchPart part;
    record::PositionRanges ranges;  ///< in the table's own terms (commit::JoinTableRanges)
  };
  /// What waits goes to its commit. None may be in flight.
  Batch TakeBatch(const record::Positions& table);
  /// The batch is in the table. True: with it the table is behind no more.
  bool Committed();
  /// The batch is not in the table and is read again; or it was one of letters alone.
  void Dropped() { in_flight_taken_.clear(); }
  /// True when the own read has come to the seam with nothing that needs a commit: behind no more. Not to be
  /// asked while a batch is in flight.
  bool CloseEmptySeam();

  // --- what is not in the table

  /// The table has failed: everything on its way is missing.
  void MissAll();
  bool touches(const std::vector<record::SourcePartition>& partitions) const;
  /// What is not committed and left the lanes; without partitions that the table is behind in.
  void AddPendingTo(commit::PendingFrom& pending) const;
  const commit::PendingFrom& behind() const { return behind_; }
  /// The same with the table's own positions, where those are further.
  commit::PendingFrom MissingFrom(const record::Positions& table) const;
  /// For the lanes.
  std::shared_ptr<const TakesFromMap> TakesFrom(const record::Positions& table) const;

  // --- the seam

  void Join(std::map<record::SourcePartition, int64_t> joins) { joins_ = std::move(joins); }
  /// The own read has come there; its last part was taken.
  void Joined();
  /// The own read is given up; the lanes hold nothing of the table.
  void AbandonJoin();
  bool joining() const { return !joins_.empty(); }

 private:
  void CloseSeam();

  BatchPart carry_;
  record::Positions reached_;  ///< how far the read had come with the last part
  BatchPart held_;             ///< from the lanes, above joins_
  record::Positions held_reached_;
  record::PositionRanges in_flight_taken_;
  commit::PendingFrom behind_;
  std::map<record::SourcePartition, int64_t> joins_;
  bool closing_seam_ = false;    ///< the own read has come to joins_; its last part is in carry_ or in flight
  bool seam_in_flight_ = false;  ///< that part is in the batch in flight
};

}  // namespace firn::pipeline
