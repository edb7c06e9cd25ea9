#include "firn/source/kafka/lane.h"

#include <algorithm>
#include <chrono>
#include <optional>

#include "firn/source/kafka/kafka_error.h"

namespace firn::source::kafka {

namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kMaxBurst = 4096;
constexpr int kWaitSliceMs = 200;
// A queue that was left to fill costs half as much per message as one that is emptied message by message.
constexpr int kLingerMs = 8;
constexpr int64_t kMessageOverheadBytes = 512;
constexpr size_t kMaxOpenBytes = size_t{512} << 20;  // an arena holds 1 GiB; stop well before

int64_t RemainingMs(Clock::time_point deadline) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
}

std::optional<std::string_view> Bytes(const void* data, size_t size) {
  if (data == nullptr) return std::nullopt;
  return std::string_view(static_cast<const char*>(data), size);
}

RecordView ViewOf(const rd_kafka_message_t& message) {
  rd_kafka_timestamp_type_t type{};
  const int64_t timestamp_ms = rd_kafka_message_timestamp(&message, &type);
  return {.offset = message.offset,
          .timestamp_ms = type == RD_KAFKA_TIMESTAMP_NOT_AVAILABLE ? -1 : timestamp_ms,
          .key = Bytes(message.key, message.key_len),
          .value = Bytes(message.payload, message.len)};
}

}  // namespace

Lane::Lane(rd_kafka_t* client, bool headers)
    : client_(client), headers_(headers), queue_(rd_kafka_queue_new(client)), messages_(kMaxBurst) {}

Lane::Hold::Hold(Lane& lane) : lane_(&lane) {
  lane.holds_.fetch_add(1);
  rd_kafka_queue_yield(lane.queue_.get());
  lane.gate_.lock();
}

Lane::Hold::~Hold() {
  if (lane_ == nullptr) return;
  lane_->holds_.fetch_sub(1);
  lane_->gate_.unlock();
  lane_->gate_opened_.notify_all();
}

std::unique_lock<std::mutex> Lane::Enter() {
  std::unique_lock lock(gate_);
  gate_opened_.wait(lock, [this] { return holds_.load() == 0; });
  return lock;
}

void Lane::Attach(rd_kafka_t* client) {
  ready_.clear();
  client_ = client;
  queue_.reset(rd_kafka_queue_new(client));
}

void Lane::Forward(const record::SourcePartition& partition) {
  const QueuePtr source(rd_kafka_queue_get_partition(client_, partition.topic.c_str(), partition.partition));
  rd_kafka_queue_forward(source.get(), queue_.get());
}

void Lane::Begin(const record::SourcePartition& partition, const record::PartitionPosition& position) {
  Forward(partition);
  readers_.insert_or_assign(Key(partition.topic, partition.partition), PartitionReader(partition, position));
}

void Lane::DropReady(const record::SourcePartition& partition) {
  std::erase_if(ready_, [&](const record::RawBatch& batch) { return batch.partition == partition; });
}

void Lane::End(const record::SourcePartition& partition) {
  DropReady(partition);
  readers_.erase(Key(partition.topic, partition.partition));
}

void Lane::MoveTo(const record::SourcePartition& partition, const record::PartitionPosition& position) {
  DropReady(partition);
  const auto reader = readers_.find(Key(partition.topic, partition.partition));
  if (reader != readers_.end()) reader->second.MoveTo(position);
}

void Lane::Close(const record::SourcePartition& partition) {
  const auto reader = readers_.find(Key(partition.topic, partition.partition));
  if (reader != readers_.end()) reader->second.Close();
}

void Lane::Reopen(const record::SourcePartition& partition) {
  const auto reader = readers_.find(Key(partition.topic, partition.partition));
  if (reader != readers_.end()) reader->second.Reopen();
}

const PartitionReader* Lane::Find(const record::SourcePartition& partition) const {
  const auto reader = readers_.find(Key(partition.topic, partition.partition));
  return reader == readers_.end() ? nullptr : &reader->second;
}

std::vector<PartitionTrouble> Lane::TakeTroubles() {
  const std::lock_guard lock(troubles_mutex_);
  return std::exchange(troubles_, {});
}

int64_t Lane::prefetched_bytes() const {
  const auto messages = static_cast<int64_t>(rd_kafka_queue_length(queue_.get()));
  return messages * (average_bytes_.load(std::memory_order_relaxed) + kMessageOverheadBytes);
}

std::vector<record::RawBatch> Lane::Poll(const PollBudget& budget) {
  const auto deadline = Clock::now() + std::chrono::milliseconds(budget.timeout_ms);
  Taken taken;
  while (true) {
    const auto inside = Enter();
    const auto remaining_ms = std::max<int64_t>(RemainingMs(deadline), 0);
    const int wait_ms =
        taken.records > 0 ? 0 : static_cast<int>(std::min<int64_t>(remaining_ms, kWaitSliceMs));
    const bool dry = Drain(budget, wait_ms, taken);
    const bool full = taken.records >= budget.max_records || taken.bytes >= budget.max_bytes;
    const bool late = RemainingMs(deadline) <= 0;
    std::vector<record::RawBatch> batches;
    if (full || dry || late) batches = Cut();
    if (full || late || !batches.empty()) return batches;
  }
}

size_t Lane::BurstSize(const PollBudget& budget, const Taken& taken) const {
  const size_t records = budget.max_records > taken.records ? budget.max_records - taken.records : 1;
  const size_t bytes = budget.max_bytes > taken.bytes ? budget.max_bytes - taken.bytes : 1;
  const auto average = static_cast<size_t>(average_bytes_.load(std::memory_order_relaxed));
  return std::clamp<size_t>(std::min(records, bytes / average), 1, kMaxBurst);
}

bool Lane::Drain(const PollBudget& budget, int wait_ms, Taken& taken) {
  const size_t burst = BurstSize(budget, taken);
  const ssize_t first = rd_kafka_consume_batch_queue(queue_.get(), wait_ms, messages_.data(), 1);
  if (first <= 0) return true;
  ssize_t more = 0;
  if (burst > 1)
    more = rd_kafka_consume_batch_queue(queue_.get(), kLingerMs, messages_.data() + 1, burst - 1);
  const size_t count = 1 + static_cast<size_t>(std::max<ssize_t>(more, 0));
  const Taken before = taken;
  TakeAll(count, taken);
  progress_.fetch_add(static_cast<int64_t>(count), std::memory_order_relaxed);
  if (taken.records > before.records) {
    const size_t average = (taken.bytes - before.bytes) / (taken.records - before.records);
    average_bytes_.store(static_cast<int64_t>(std::max<size_t>(average, 16)), std::memory_order_relaxed);
  }
  return count < burst;
}

void Lane::TakeAll(size_t count, Taken& taken) {
  const rd_kafka_topic_t* topic = nullptr;
  int32_t partition = -1;
  PartitionReader* reader = nullptr;
  for (size_t i = 0; i < count; ++i) {
    const MessagePtr message(messages_[i]);
    if (message->rkt == nullptr) continue;
    if (message->rkt != topic || message->partition != partition) {
      topic = message->rkt;
      partition = message->partition;
      const auto found = readers_.find(std::pair(std::string_view(rd_kafka_topic_name(topic)), partition));
      reader = found == readers_.end() ? nullptr : &found->second;
    }
    if (reader == nullptr) continue;  // released in the meantime
    if (message->err != RD_KAFKA_RESP_ERR_NO_ERROR) {
      TakeError(*reader, *message);
    } else {
      TakeRecord(*reader, *message, taken);
    }
  }
}

void Lane::TakeRecord(PartitionReader& reader, const rd_kafka_message_t& message, Taken& taken) {
  const RecordView record = ViewOf(message);
  if (reader.open_bytes() + record.bytes() > kMaxOpenBytes) {
    if (auto batch = reader.Cut()) ready_.push_back(std::move(*batch));
  }
  if (!reader.Take(record)) return;
  if (headers_) TakeHeaders(reader, message);
  ++taken.records;
  taken.bytes += record.bytes();
}

void Lane::TakeHeaders(PartitionReader& reader, const rd_kafka_message_t& message) {
  rd_kafka_headers_t* headers = nullptr;
  if (rd_kafka_message_headers(&message, &headers) != RD_KAFKA_RESP_ERR_NO_ERROR) return;
  const char* name = nullptr;
  const void* value = nullptr;
  size_t size = 0;
  for (size_t i = 0; rd_kafka_header_get_all(headers, i, &name, &value, &size) == RD_KAFKA_RESP_ERR_NO_ERROR;
       ++i) {
    reader.AddHeader(name, Bytes(value, size));
  }
}

void Lane::TakeError(PartitionReader& reader, const rd_kafka_message_t& message) {
  if (message.err == RD_KAFKA_RESP_ERR__PARTITION_EOF) {
    reader.ReachEnd(message.offset);
    return;
  }
  // An error of a fetch from before a seek carries no version and may come late.
  if (reader.closed() || (message.offset >= 0 && message.offset < reader.next())) return;
  if (!IsPassing(message.err)) reader.Close();
  const std::lock_guard lock(troubles_mutex_);
  troubles_.push_back({.partition = reader.partition(),
                       .code = message.err,
                       .offset = message.offset,
                       .text = rd_kafka_message_errstr(&message)});
}

std::vector<record::RawBatch> Lane::Cut() {
  std::vector<record::RawBatch> batches = std::exchange(ready_, {});
  for (auto& [key, reader] : readers_) {
    if (auto batch = reader.Cut()) batches.push_back(std::move(*batch));
  }
  return batches;
}

}  // namespace firn::source::kafka
