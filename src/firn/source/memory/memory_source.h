#pragma once

#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "firn/source/source.h"

namespace firn::source {

/// A broker in memory that several MemorySources read: partitions of records, and who holds which.
/// Thread-safe.
class MemoryLog {
 public:
  struct Record {
    std::optional<std::string> key;
    std::optional<std::string> value;
    int64_t timestamp_ms = 0;
  };

  explicit MemoryLog(std::string cluster_id = "memory-cluster") : cluster_id_(std::move(cluster_id)) {}

  void AddPartition(const record::SourcePartition& partition, const std::string& topic_id = "topic-1");
  void Append(const record::SourcePartition& partition, Record record);
  void Append(const record::SourcePartition& partition, std::string value) {
    Append(partition, {std::nullopt, std::move(value), 1'000});
  }
  /// Records below `first` are gone.
  void Trim(const record::SourcePartition& partition, int64_t first);
  /// The topic is another one of the same name, empty.
  void Recreate(const record::SourcePartition& partition, const std::string& topic_id);
  /// Note stored with the group.
  void SetGroupNote(std::string note);
  std::vector<std::string> group_notes() const;

  std::map<record::SourcePartition, PartitionBounds> Bounds() const;
  /// Up to `max` records of [from, end) with the range they cover; empty when there are none.
  std::optional<record::RawBatch> Read(const record::SourcePartition& partition, int64_t from,
                                       size_t max) const;
  std::optional<record::Fingerprint> FingerprintAt(const record::SourcePartition& partition,
                                                   int64_t offset) const;

 private:
  struct Log {
    std::string topic_id;
    int64_t first = 0;
    std::deque<Record> records;  ///< of offsets first, first + 1, ...
    int64_t end() const { return first + static_cast<int64_t>(records.size()); }
  };

  const std::string cluster_id_;
  mutable std::mutex mutex_;
  std::map<record::SourcePartition, Log> logs_;
  std::vector<std::string> notes_;
};

/// A source over a MemoryLog: what tests and simulations of the pipeline read from. The test plays the group:
/// it queues events.
class MemorySource : public Source {
 public:
  MemorySource(std::shared_ptr<MemoryLog> log, int lanes);

  Status Open() override { return Ok(); }
  Result<std::map<record::SourcePartition, PartitionBounds>> ListPartitions() override;
  Result<std::map<record::SourcePartition, PartitionBounds>> Bounds(
      const std::vector<record::SourcePartition>& partitions) override;
  Result<record::Positions> ResolveStart(const std::vector<record::SourcePartition>& partitions) override;
  Result<std::optional<record::Fingerprint>> FingerprintBefore(const record::SourcePartition& partition,
                                                               int64_t position) override;
  Result<std::vector<std::string>> GroupNotes() override { return log_->group_notes(); }
  Status Subscribe(bool bounded) override;
  Result<std::vector<SourceEvent>> PollControl(int timeout_ms) override;
  Status Start(const record::Positions& positions) override;
  Status Release(const std::vector<record::SourcePartition>& partitions) override;
  Status Seek(const record::Positions& positions) override;
  void Acknowledge(const record::Positions& positions, const std::string& note) override;
  void Close() override {}
  Result<std::vector<record::RawBatch>> Poll(int lane, const PollBudget& budget) override;
  int64_t prefetched_bytes() const override { return 0; }

  /// The next PollControl tells these.
  void Push(SourceEvent event);
  std::map<record::SourcePartition, int64_t> held() const;

 private:
  int LaneOf(const record::SourcePartition& partition) const;

  const std::shared_ptr<MemoryLog> log_;
  const int lanes_;
  mutable std::mutex mutex_;
  std::vector<SourceEvent> events_;
  std::map<record::SourcePartition, int64_t> next_;
};

}  // namespace firn::source
