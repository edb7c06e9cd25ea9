#include "firn/source/kafka/record_probe.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <string_view>
#include <utility>

#include "firn/record/fingerprint.h"
#include "firn/source/kafka/kafka_error.h"

namespace firn::source::kafka {

namespace {

using Clock = std::chrono::steady_clock;

// Usually the record right below is there; behind it may lie control records, or a compacted stretch.
constexpr std::array<int64_t, 4> kStepsBack = {1, 64, 4096, 262'144};

std::optional<std::string_view> Bytes(const void* data, size_t size) {
  if (data == nullptr) return std::nullopt;
  return std::string_view(static_cast<const char*>(data), size);
}

record::Fingerprint FingerprintOfMessage(const rd_kafka_message_t& message) {
  rd_kafka_timestamp_type_t type{};
  const int64_t timestamp_ms = rd_kafka_message_timestamp(&message, &type);
  return record::FingerprintOf(message.offset, type == RD_KAFKA_TIMESTAMP_NOT_AVAILABLE ? -1 : timestamp_ms,
                               Bytes(message.key, message.key_len), Bytes(message.payload, message.len));
}

}  // namespace

/// Nothing is fetched while nobody asks.
struct RecordProbe::Unassign {
  Client& client;
  ~Unassign() { rd_kafka_assign(client.handle(), nullptr); }
};

struct RecordProbe::Scan {
  int64_t position;
  Clock::time_point deadline;
};

Result<std::unique_ptr<RecordProbe>> RecordProbe::Make(const KafkaConfig& config, int connect_timeout_ms) {
  FIRN_ASSIGN(auto client, Client::Make(config, ClientRole::kProbe, Prefetch{}));
  FIRN_TRY(client->Connect(connect_timeout_ms));
  return std::unique_ptr<RecordProbe>(new RecordProbe(std::move(client)));
}

Result<std::optional<record::Fingerprint>> RecordProbe::LastBelow(const record::SourcePartition& partition,
                                                                  int64_t first, int64_t position,
                                                                  int timeout_ms) {
  const Unassign at_end{*client_};
  Scan scan{.position = position, .deadline = Clock::now() + std::chrono::milliseconds(timeout_ms)};
  for (const int64_t step : kStepsBack) {
    const int64_t from = std::max(first, position - step);
    if (from >= position) return std::optional<record::Fingerprint>();
    FIRN_ASSIGN(auto found, ScanFrom(partition, from, scan));
    if (found || from == first) return found;
  }
  return std::optional<record::Fingerprint>();
}

Result<std::optional<record::Fingerprint>> RecordProbe::ScanFrom(const record::SourcePartition& partition,
                                                                 int64_t from, Scan& scan) {
  const std::string what = fmt::format("reading the record before position {} of {}[{}]", scan.position,
                                       partition.topic, partition.partition);
  const PartitionListPtr list = ListOf({partition});
  list->elems[0].offset = from;
  const auto assigned = rd_kafka_assign(client_->handle(), list.get());
  if (assigned != RD_KAFKA_RESP_ERR_NO_ERROR) return FromKafka(assigned, what);

  std::optional<record::Fingerprint> last;
  while (Clock::now() < scan.deadline) {
    const MessagePtr message(rd_kafka_consumer_poll(client_->handle(), 100));
    if (message == nullptr || message->rkt == nullptr) continue;
    const bool other =
        message->partition != partition.partition || partition.topic != rd_kafka_topic_name(message->rkt);
    if (other) continue;
    const bool end = message->err == RD_KAFKA_RESP_ERR__PARTITION_EOF;
    if (end || (message->err == RD_KAFKA_RESP_ERR_NO_ERROR && message->offset >= scan.position)) return last;
    if (message->err == RD_KAFKA_RESP_ERR_NO_ERROR) {
      last = FingerprintOfMessage(*message);
      if (message->offset == scan.position - 1) return last;
    } else if (!IsPassing(message->err)) {
      return FromKafka(message->err, what, rd_kafka_message_errstr(message.get()));
    }
  }
  return FromKafka(RD_KAFKA_RESP_ERR__TIMED_OUT, what);
}

}  // namespace firn::source::kafka
