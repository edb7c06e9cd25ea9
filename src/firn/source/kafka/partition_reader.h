#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "firn/record/position.h"
#include "firn/record/raw_batch.h"

namespace firn::source::kafka {

/// One message as it lies in librdkafka's memory.
struct RecordView {
  int64_t offset = 0;
  int64_t timestamp_ms = -1;  ///< -1: none
  std::optional<std::string_view> key;
  std::optional<std::string_view> value;
  size_t bytes() const { return (key ? key->size() : 0) + (value ? value->size() : 0); }
};

/// Where reading stands in one started partition, and the batch being filled. Guards the contract of the
/// ranges: a record below the position was handed out already (a re-fetch after a rebalance) and is dropped;
/// gaps above it are legal. After corrupt data librdkafka goes on behind it, so the reader closes itself and
/// drops everything until it is moved. No locks: the lane's gate guards it.
class PartitionReader {
 public:
  PartitionReader(record::SourcePartition partition, const record::PartitionPosition& position);

  /// Copies the record; false: dropped.
  bool Take(const RecordView& record);
  void AddHeader(std::string_view name, std::optional<std::string_view> value);
  /// The end-of-partition event: nothing that we may read lies below `offset`.
  void ReachEnd(int64_t offset);
  /// Hands out what was read since the last cut; empty when the position did not move.
  std::optional<record::RawBatch> Cut();
  /// Reads on from elsewhere; what was not cut is dropped.
  void MoveTo(const record::PartitionPosition& position);
  void Close() { closed_ = true; }
  void Reopen() { closed_ = false; }

  const record::SourcePartition& partition() const { return partition_; }
  int64_t next() const { return next_; }
  bool closed() const { return closed_; }
  bool has_news() const { return next_ != batch_.range.from; }
  size_t open_bytes() const { return batch_.arena.size(); }

 private:
  record::Slice Copy(std::optional<std::string_view> bytes);
  void OpenBatch(size_t records, size_t bytes);

  record::SourcePartition partition_;
  record::SourceIdentity identity_;
  int64_t next_ = 0;
  bool closed_ = false;
  record::RawBatch batch_;
};

}  // namespace firn::source::kafka
