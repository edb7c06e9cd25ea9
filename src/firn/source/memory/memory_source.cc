#include "firn/source/memory/memory_source.h"

#include <xxhash.h>

#include <algorithm>
#include <utility>

#include "firn/runtime/clock.h"

namespace firn::source {

using record::SourcePartition;

namespace {

constexpr int kIdlePauseMs = 1;

uint64_t HashOf(const MemoryLog::Record& record) {
  const std::string text = record.key.value_or("") + '\0' + record.value.value_or("");
  return XXH3_64bits(text.data(), text.size());
}

record::Slice Store(record::Arena& arena, const std::optional<std::string>& bytes) {
  if (!bytes) return {};
  return {arena.Append(*bytes), static_cast<uint32_t>(bytes->size())};
}

}  // namespace

void MemoryLog::AddPartition(const SourcePartition& partition, const std::string& topic_id) {
  const std::lock_guard lock(mutex_);
  logs_[partition].topic_id = topic_id;
}

void MemoryLog::Append(const SourcePartition& partition, Record record) {
  const std::lock_guard lock(mutex_);
  logs_.at(partition).records.push_back(std::move(record));
}

void MemoryLog::Trim(const SourcePartition& partition, int64_t first) {
  const std::lock_guard lock(mutex_);
  Log& log = logs_.at(partition);
  for (; log.first < first && !log.records.empty(); ++log.first) log.records.pop_front();
}

void MemoryLog::Recreate(const SourcePartition& partition, const std::string& topic_id) {
  const std::lock_guard lock(mutex_);
  logs_[partition] = Log{topic_id, 0, {}};
}

void MemoryLog::SetGroupNote(std::string note) {
  const std::lock_guard lock(mutex_);
  notes_ = {std::move(note)};
}

std::vector<std::string> MemoryLog::group_notes() const {
  const std::lock_guard lock(mutex_);
  return notes_;
}

std::map<SourcePartition, PartitionBounds> MemoryLog::Bounds() const {
  const std::lock_guard lock(mutex_);
  std::map<SourcePartition, PartitionBounds> bounds;
  for (const auto& [partition, log] : logs_)
    bounds[partition] = {log.first, log.end(), {cluster_id_, log.topic_id}};
  return bounds;
}

std::optional<record::RawBatch> MemoryLog::Read(const SourcePartition& partition, int64_t from,
                                                size_t max) const {
  const std::lock_guard lock(mutex_);
  const Log& log = logs_.at(partition);
  const int64_t begin = std::max(from, log.first);
  const int64_t end = std::min(log.end(), begin + static_cast<int64_t>(max));
  if (begin >= end) return std::nullopt;
  record::RawBatch raw;
  raw.partition = partition;
  raw.range = {from, end, {cluster_id_, log.topic_id}, std::nullopt};
  for (int64_t offset = begin; offset < end; ++offset) {
    const Record& record = log.records[static_cast<size_t>(offset - log.first)];
    raw.offsets.push_back(offset);
    raw.timestamps_ms.push_back(record.timestamp_ms);
    raw.keys.push_back(Store(raw.arena, record.key));
    raw.values.push_back(Store(raw.arena, record.value));
    raw.range.last = record::Fingerprint{offset, record.timestamp_ms, HashOf(record)};
  }
  return raw;
}

std::optional<record::Fingerprint> MemoryLog::FingerprintAt(const SourcePartition& partition,
                                                            int64_t offset) const {
  const std::lock_guard lock(mutex_);
  const Log& log = logs_.at(partition);
  if (offset < log.first || offset >= log.end()) return std::nullopt;
  const Record& record = log.records[static_cast<size_t>(offset - log.first)];
  return record::Fingerprint{offset, record.timestamp_ms, HashOf(record)};
}

MemorySource::MemorySource(std::shared_ptr<MemoryLog> log, int lanes) : log_(std::move(log)), lanes_(lanes) {}

Result<std::map<SourcePartition, PartitionBounds>> MemorySource::ListPartitions() { return log_->Bounds(); }

Result<std::map<SourcePartition, PartitionBounds>> MemorySource::Bounds(
    const std::vector<SourcePartition>& partitions) {
  const auto all = log_->Bounds();
  std::map<SourcePartition, PartitionBounds> bounds;
  for (const SourcePartition& partition : partitions) bounds[partition] = all.at(partition);
  return bounds;
}

Result<record::Positions> MemorySource::ResolveStart(const std::vector<SourcePartition>& partitions) {
  FIRN_ASSIGN(auto bounds, Bounds(partitions));
  record::Positions start;
  for (const auto& [partition, bound] : bounds)
    start[partition] = {bound.first, bound.identity, std::nullopt};
  return start;
}

Result<std::optional<record::Fingerprint>> MemorySource::FingerprintBefore(const SourcePartition& partition,
                                                                           int64_t position) {
  return log_->FingerprintAt(partition, position - 1);
}

Status MemorySource::Subscribe(bool /*bounded*/) {
  PartitionsAssigned assigned;
  for (const auto& [partition, bound] : log_->Bounds()) assigned.partitions.push_back(partition);
  Push(assigned);
  return Ok();
}

Result<std::vector<SourceEvent>> MemorySource::PollControl(int timeout_ms) {
  if (timeout_ms > 0) runtime::SystemClock().SleepMs(std::min(timeout_ms, kIdlePauseMs));
  const std::lock_guard lock(mutex_);
  return std::exchange(events_, {});
}

Status MemorySource::Start(const record::Positions& positions) {
  const std::lock_guard lock(mutex_);
  for (const auto& [partition, position] : positions) next_[partition] = position.next;
  return Ok();
}

Status MemorySource::Release(const std::vector<SourcePartition>& partitions) {
  const std::lock_guard lock(mutex_);
  for (const SourcePartition& partition : partitions) next_.erase(partition);
  return Ok();
}

Status MemorySource::Seek(const record::Positions& positions) { return Start(positions); }

void MemorySource::Acknowledge(const record::Positions& /*positions*/, const std::string& note) {
  log_->SetGroupNote(note);
}

Result<std::vector<record::RawBatch>> MemorySource::Poll(int lane, const PollBudget& budget) {
  std::vector<record::RawBatch> batches;
  {
    const std::lock_guard lock(mutex_);
    for (auto& [partition, next] : next_) {
      if (LaneOf(partition) != lane) continue;
      if (auto raw = log_->Read(partition, next, budget.max_records)) {
        next = raw->range.to;
        batches.push_back(*std::move(raw));
      }
    }
  }
  if (batches.empty()) runtime::SystemClock().SleepMs(kIdlePauseMs);
  return batches;
}

void MemorySource::Push(SourceEvent event) {
  const std::lock_guard lock(mutex_);
  events_.push_back(std::move(event));
}

std::map<SourcePartition, int64_t> MemorySource::held() const {
  const std::lock_guard lock(mutex_);
  return next_;
}

int MemorySource::LaneOf(const SourcePartition& partition) const { return partition.partition % lanes_; }

}  // namespace firn::source
