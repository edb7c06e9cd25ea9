#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <unordered_map>
#include <vector>

#include "firn/base/result.h"
#include "firn/pipeline/lane_board.h"
#include "firn/pipeline/lane_protocol.h"
#include "firn/pipeline/lane_table.h"
#include "firn/pipeline/retry_pause.h"
#include "firn/pipeline/sorter.h"
#include "firn/source/source.h"

namespace firn::pipeline {

/// What a lane does, step by step: drains the records of its partitions, sorts them by table and gives them
/// to their tables (LaneTable), until it is told to hand over what was filled. Waits for nobody but the
/// source, and for that a moment. One thread at a time; what others may see meanwhile is on the board.
class LaneWork {
 public:
  /// All outlive it.
  LaneWork(const LaneConfig& config, source::Source& source, const DecoderFactory& make_decoder,
           Sorter sorter, const TargetPtr& unrouted, LaneBoard& board);
  ~LaneWork() { Discard(); }
  LaneWork(const LaneWork&) = delete;
  LaneWork& operator=(const LaneWork&) = delete;

  /// Goes on with records that wait, and with `poll` takes new ones. An error: the lane cannot go on.
  Status Step(bool poll);
  /// So many records wait, for their tables or to be sorted, that no more should be taken.
  bool full() const;

  // --- orders, between two steps

  /// Hands the parts of these tables over, and tells what stays.
  LaneCut Cut(const CutOrder& order);
  void Offer(uint32_t target, TableOffer offer);
  /// After a seek: what was taken and not given to a table is read again.
  void DropWaiting();
  /// These partitions were given up.
  void Forget(const std::vector<record::SourcePartition>& partitions);
  /// Records at or above these positions are not taken.
  void SetEnds(std::map<record::SourcePartition, int64_t> ends) { ends_ = std::move(ends); }
  /// Drops the parts that were not handed over.
  void Discard();

 private:
  struct Slot {
    Slot(const LaneConfig& config, const DecoderFactory& make_decoder, LaneBoard& board)
        : table(config, make_decoder, board) {}
    LaneTable table;
    uint64_t last_used = 0;
  };

  Slot& SlotAt(uint32_t target);
  LaneTable& TableOf(const TargetPtr& target);
  Status DispatchPolled();
  Status Dispatch(record::RawBatch raw);
  void Clip(record::RawBatch& raw) const;
  void MakeRoomForDecoder();
  void PublishWaiting();

  const LaneConfig& config_;
  source::Source& source_;
  const DecoderFactory& make_decoder_;
  Sorter sorter_;
  LaneBoard& board_;

  std::deque<record::RawBatch> polled_;  ///< not dispatched yet: as if they had not been read
  RetryPause sorting_;                   ///< the sorter has asked for patience
  std::unordered_map<uint32_t, Slot> slots_;
  LaneTable unrouted_;
  record::PositionRanges read_;  ///< since the last cut
  std::map<record::SourcePartition, int64_t> ends_;
  uint64_t uses_ = 0;
};

}  // namespace firn::pipeline
