#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "firn/base/result.h"
#include "firn/record/position.h"
#include "firn/source/kafka/config.h"
#include "firn/source/kafka/handles.h"
#include "firn/source/kafka/properties.h"

namespace firn::source::kafka {

struct TopicInfo {
  std::string name;
  std::string id;  ///< base64; empty when the broker knows none
  int32_t partition_count = 0;
  std::optional<Error> error;  ///< why the rest is unknown
};

/// One librdkafka consumer and the questions asked of its cluster. Every question blocks up to its bound.
/// Control thread only; lanes use the handle through their queues.
class Client {
 public:
  static constexpr int kRequestTimeoutMs = 15'000;

  static Result<std::unique_ptr<Client>> Make(const KafkaConfig& config, ClientRole role,
                                              const Prefetch& prefetch);
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  rd_kafka_t* handle() const { return handle_; }
  /// Rebalances, errors, commit results.
  rd_kafka_queue_t* events() const { return events_.get(); }

  /// The group has fenced this static member: the client is of no use any more, but to be asked questions.
  bool IsFenced() const;
  /// Waits until a broker answers, or until `stop`. The error names the address and librdkafka's last reason;
  /// it is retriable unless waiting does not help: credentials, certificates, hosts that nobody knows.
  Status Connect(int timeout_ms, const std::stop_token& stop = {});
  Result<std::string> ClusterId();
  Result<std::vector<std::string>> TopicNames();
  /// The same question without waiting; the answer comes to `answers`, for DescribedTopics.
  void AskToDescribe(const std::vector<std::string>& topics, rd_kafka_queue_t* answers);
  /// What has come to `answers` by now; failed questions are left out.
  static std::vector<TopicInfo> DescribedTopics(rd_kafka_queue_t* answers);
  Result<std::vector<TopicInfo>> Describe(const std::vector<std::string>& topics);
  /// `spec`: a timestamp in ms, or RD_KAFKA_OFFSET_SPEC_EARLIEST or _LATEST. LATEST obeys the isolation level
  /// (last stable offset); a timestamp after the last record gives -1.
  Result<std::map<record::SourcePartition, int64_t>> ListOffsets(
      const std::vector<record::SourcePartition>& partitions, int64_t spec);
  /// Metadata notes of the group's committed offsets, those that are not empty.
  Result<std::vector<std::string>> CommittedNotes(const std::vector<record::SourcePartition>& partitions);
  /// What a group has committed; partitions without an offset are left out. A group that does not exist has
  /// none.
  Result<std::map<record::SourcePartition, int64_t>> GroupOffsets(
      const std::vector<record::SourcePartition>& partitions, const std::string& group);
  /// Asks the cluster for a sign of life without waiting; the answer shows in Answered.
  void Ping();
  bool Answered();

 private:
  explicit Client(const KafkaConfig& config);
  Result<EventPtr> Await(rd_kafka_queue_t* queue, std::string_view what);
  AdminOptionsPtr Options(rd_kafka_admin_op_t operation, int timeout_ms) const;
  Error Unreachable(int timeout_ms) const;
  void NoteTrouble();
  std::string What(std::string_view question) const;

  const std::string bootstrap_servers_;
  const IsolationLevel isolation_level_;
  rd_kafka_t* handle_ = nullptr;
  QueuePtr events_;
  QueuePtr pings_;
  rd_kafka_resp_err_t last_code_ = RD_KAFKA_RESP_ERR_NO_ERROR;  ///< while connecting
  std::string last_reason_;
  bool unknown_host_ = false;   ///< nobody knows the name of a server
  bool other_trouble_ = false;  ///< with another one there was something else
};

/// A librdkafka list of these partitions, with offsets invalid.
PartitionListPtr ListOf(const std::vector<record::SourcePartition>& partitions);

}  // namespace firn::source::kafka
