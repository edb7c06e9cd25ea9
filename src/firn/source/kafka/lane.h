#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "firn/record/position.h"
#include "firn/record/raw_batch.h"
#include "firn/source/kafka/handles.h"
#include "firn/source/kafka/partition_reader.h"
#include "firn/source/source.h"

namespace firn::source::kafka {

/// An error that librdkafka put into a partition's queue.
struct PartitionTrouble {
  record::SourcePartition partition;
  rd_kafka_resp_err_t code = RD_KAFKA_RESP_ERR_NO_ERROR;
  int64_t offset = -1;  ///< where the fetch stood
  std::string text;
};

/// The partitions that one thread reads: their queues are forwarded into the lane's one queue, which is
/// drained in bursts.
///
/// Threads: Poll belongs to the lane's thread. Everything that changes partitions belongs to the control
/// thread and needs a Hold: while one lives, the lane stands between two drains, so that nothing of an old
/// position is in flight when it moves.
class Lane {
 public:
  Lane(rd_kafka_t* client, bool headers);
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;

  class [[nodiscard]] Hold {
   public:
    explicit Hold(Lane& lane);
    Hold(Hold&& other) noexcept : lane_(std::exchange(other.lane_, nullptr)) {}
    Hold& operator=(Hold&&) = delete;
    ~Hold();

   private:
    Lane* lane_;
  };

  /// Goes on with another client. Nothing may be begun; what was prefetched of the former one is dropped.
  void Attach(rd_kafka_t* client);
  /// Forwards the partition's queue to this lane and begins to take its records from `position` on.
  void Begin(const record::SourcePartition& partition, const record::PartitionPosition& position);
  /// Forwards again, after librdkafka stopped the partition (which undoes the forwarding).
  void Forward(const record::SourcePartition& partition);
  void End(const record::SourcePartition& partition);
  void MoveTo(const record::SourcePartition& partition, const record::PartitionPosition& position);
  /// Takes nothing more until it is moved.
  void Close(const record::SourcePartition& partition);
  /// Takes records again after the reader closed itself.
  void Reopen(const record::SourcePartition& partition);
  /// Position of a begun partition, and whether it closed itself.
  const PartitionReader* Find(const record::SourcePartition& partition) const;
  size_t partition_count() const { return readers_.size(); }

  /// Any thread.
  std::vector<PartitionTrouble> TakeTroubles();
  int64_t prefetched_bytes() const;
  /// Monotonic count of messages and end-of-partition events taken: moves while brokers answer.
  int64_t progress() const { return progress_.load(std::memory_order_relaxed); }

  /// Lane thread: up to the budget of records, or what is there once the queue has run dry. Empty on timeout.
  std::vector<record::RawBatch> Poll(const PollBudget& budget);

 private:
  using Key = std::pair<std::string, int32_t>;
  struct KeyLess {
    using is_transparent = void;
    template <typename A, typename B>
    bool operator()(const A& a, const B& b) const {
      if (a.second != b.second) return a.second < b.second;
      return std::string_view(a.first) < std::string_view(b.first);
    }
  };
  struct Taken {
    size_t records = 0;
    size_t bytes = 0;
  };

  std::unique_lock<std::mutex> Enter();
  /// One burst; true when the queue ran dry.
  bool Drain(const PollBudget& budget, int wait_ms, Taken& taken);
  size_t BurstSize(const PollBudget& budget, const Taken& taken) const;
  void TakeAll(size_t count, Taken& taken);
  void TakeRecord(PartitionReader& reader, const rd_kafka_message_t& message, Taken& taken);
  void TakeHeaders(PartitionReader& reader, const rd_kafka_message_t& message);
  void TakeError(PartitionReader& reader, const rd_kafka_message_t& message);
  std::vector<record::RawBatch> Cut();
  void DropReady(const record::SourcePartition& partition);

  rd_kafka_t* client_;
  const bool headers_;
  QueuePtr queue_;
  std::vector<rd_kafka_message_t*> messages_;
  std::map<Key, PartitionReader, KeyLess> readers_;
  std::vector<record::RawBatch> ready_;  ///< cut early because they were large

  std::mutex gate_;
  std::condition_variable gate_opened_;
  std::atomic<int> holds_{0};

  std::atomic<int64_t> average_bytes_{
      64 << 10};  ///< payload of a record; high at first, so that the first burst is small
  std::atomic<int64_t> progress_{0};
  std::mutex troubles_mutex_;
  std::vector<PartitionTrouble> troubles_;
};

}  // namespace firn::source::kafka
