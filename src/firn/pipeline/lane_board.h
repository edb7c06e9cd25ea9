#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "firn/pipeline/lane_protocol.h"

namespace firn::pipeline {

/// What a lane shows of itself while it works. Written by the lane, read by the control thread. Thread-safe.
///
/// Who has read a position sees that its records wait, or are with their tables: a lane adds to the waiting
/// bytes before it tells the position.
class LaneBoard {
 public:
  void Request(TableRequest request) {
    const std::lock_guard lock(mutex_);
    requests_.push_back(std::move(request));
    has_requests_.store(true);
  }
  /// New ones since the last call.
  std::vector<TableRequest> TakeRequests() {
    if (!has_requests_.exchange(false)) return {};
    const std::lock_guard lock(mutex_);
    return std::exchange(requests_, {});
  }

  void TellPosition(const record::SourcePartition& partition, int64_t next) {
    const std::lock_guard lock(mutex_);
    positions_[partition] = next;
  }
  void ForgetPositions() {
    const std::lock_guard lock(mutex_);
    positions_.clear();
  }
  void ForgetPositions(const std::vector<record::SourcePartition>& partitions) {
    const std::lock_guard lock(mutex_);
    for (const record::SourcePartition& partition : partitions) positions_.erase(partition);
  }
  /// How far the partitions seen so far were read.
  std::map<record::SourcePartition, int64_t> positions() const {
    const std::lock_guard lock(mutex_);
    return positions_;
  }

  std::atomic<int64_t> waiting_bytes{0};
  std::atomic<int64_t> filling_tables{0};
  std::atomic<int64_t> rows_total{0};
  std::atomic<int64_t> bytes_total{0};

 private:
  mutable std::mutex mutex_;
  std::vector<TableRequest> requests_;
  std::atomic<bool> has_requests_{false};
  std::map<record::SourcePartition, int64_t> positions_;
};

}  // namespace firn::pipeline
