#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "firn/base/result.h"
#include "firn/pipeline/lane_board.h"
#include "firn/pipeline/lane_protocol.h"
#include "firn/pipeline/lane_work.h"
#include "firn/pipeline/pipeline.h"
#include "firn/pipeline/sorter.h"
#include "firn/pipeline/target.h"
#include "firn/source/source.h"

namespace firn::pipeline {

/// One thread that owns some partitions and feeds their records to tables (LaneWork): takes orders between
/// two steps, keeps filling until the control thread cuts. Built stopped and paused.
///
/// Threads: everything public is called by the control thread. A cut is a short rendezvous: the lane answers
/// between two polls, whatever its state. Without Start nobody works but a caller of Turn, one turn at a
/// time, all on one thread; a cut is then answered as it is collected.
class Lane {
 public:
  Lane(LaneConfig config, source::Source& source, const DecoderFactory& make_decoder, Sorter sorter,
       const TargetPtr& unrouted);
  ~Lane();
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;

  /// Begins the thread; the lane is paused until Resume.
  void Start();
  /// Asks for what was filled so far; the lane goes on filling, or pauses. Collect waits for it.
  void RequestCut(CutOrder order);
  LaneCut CollectCut();
  /// Lets a paused lane go on. Drops records that it had taken from the source and not given to a table when
  /// `drop_waiting` is set (after a seek).
  void Resume(bool drop_waiting);
  /// Answers a request, or tells of a change. A view is taken at once where records wait for it, else at the
  /// next cut.
  void Offer(uint32_t target, TableOffer offer);
  /// Holds the lane back from polling (back-pressure), or lets it go on.
  void Hold(bool hold);
  /// Records at or above these positions are not taken (the end of a read of one table). Only while paused.
  void SetEnds(std::map<record::SourcePartition, int64_t> ends);
  /// Drops what waits of partitions that were given up. Only while paused.
  void Forget(const std::vector<record::SourcePartition>& partitions);
  /// Ends the thread and discards the parts it held. Idempotent.
  void Stop();

  enum class Did : uint8_t {
    kNothing,  ///< paused, or it cannot go on: until something is asked
    kHeld,     ///< all but polling: a pause is in order
    kWorked,
  };
  /// Takes the orders that came, then answers a cut or goes one step.
  Did Turn();

  /// The lane cannot go on; it stands still until Stop.
  std::optional<Error> error() const;
  /// New ones since the last call.
  std::vector<TableRequest> TakeRequests() { return board_.TakeRequests(); }
  /// How far the partitions seen so far were read.
  std::map<record::SourcePartition, int64_t> positions() const { return board_.positions(); }

  int64_t waiting_bytes() const { return board_.waiting_bytes.load(std::memory_order_relaxed); }
  int64_t filling_tables() const { return board_.filling_tables.load(std::memory_order_relaxed); }
  int64_t rows_total() const { return board_.rows_total.load(std::memory_order_relaxed); }
  int64_t bytes_total() const { return board_.bytes_total.load(std::memory_order_relaxed); }

 private:
  void Run();
  Did Turn(std::unique_lock<std::mutex>& lock);
  bool idle() const { return !command_ && (paused_ || error_); }
  void TakeOrders();

  const LaneConfig config_;
  LaneBoard board_;
  LaneWork work_;

  mutable std::mutex mutex_;
  const std::unique_ptr<runtime::Condition> changed_;
  std::optional<CutOrder> command_;
  std::optional<LaneCut> cut_;
  bool paused_ = true;
  bool held_ = false;
  bool stop_ = false;
  bool drop_waiting_ = false;
  std::vector<record::SourcePartition> forget_;
  std::map<uint32_t, TableOffer> offers_;
  std::optional<std::map<record::SourcePartition, int64_t>> ends_;
  std::optional<Error> error_;

  std::unique_ptr<runtime::Thread> thread_;
};

}  // namespace firn::pipeline
