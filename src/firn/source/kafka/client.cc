#include "firn/source/kafka/client.h"

#include <fmt/format.h>
#include <netdb.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "firn/obs/log.h"
#include "firn/source/kafka/kafka_error.h"

namespace firn::source::kafka {

namespace {

using Clock = std::chrono::steady_clock;

constexpr int kConnectSliceMs = 250;

obs::Level LevelOf(int syslog_level) {
  if (syslog_level <= 3) return obs::Level::kError;
  if (syslog_level == 4) return obs::Level::kWarning;
  return syslog_level <= 6 ? obs::Level::kInfo : obs::Level::kDebug;
}

void ForwardLog(const rd_kafka_t* /*handle*/, int level, const char* facility, const char* text) {
  obs::Log(LevelOf(level), "librdkafka", {{"facility", facility}, {"text", text}});
}

bool IsFinal(rd_kafka_resp_err_t code) {
  return code == RD_KAFKA_RESP_ERR__AUTHENTICATION || code == RD_KAFKA_RESP_ERR_SASL_AUTHENTICATION_FAILED ||
         code == RD_KAFKA_RESP_ERR__SSL;
}

// A name server that does not answer, or one that asks to come again, is another matter.
bool IsUnknownHost(rd_kafka_resp_err_t code, std::string_view reason) {
  return code == RD_KAFKA_RESP_ERR__RESOLVE &&
         (reason.contains(gai_strerror(EAI_NONAME)) || reason.contains(gai_strerror(EAI_NODATA)));
}

record::SourcePartition PartitionOf(const rd_kafka_topic_partition_t& partition) {
  return {.topic = partition.topic, .partition = partition.partition};
}

TopicInfo InfoOf(const rd_kafka_TopicDescription_t* description) {
  TopicInfo info;
  info.name = rd_kafka_TopicDescription_name(description);
  const rd_kafka_error_t* error = rd_kafka_TopicDescription_error(description);
  if (rd_kafka_error_code(error) != RD_KAFKA_RESP_ERR_NO_ERROR) {
    info.error = FromKafka(rd_kafka_error_code(error), fmt::format("topic '{}'", info.name));
    return info;
  }
  size_t count = 0;
  rd_kafka_TopicDescription_partitions(description, &count);
  info.partition_count = static_cast<int32_t>(count);
  const rd_kafka_Uuid_t* id = rd_kafka_TopicDescription_topic_id(description);
  const bool known = id != nullptr && (rd_kafka_Uuid_most_significant_bits(id) != 0 ||
                                       rd_kafka_Uuid_least_significant_bits(id) != 0);
  if (known) info.id = rd_kafka_Uuid_base64str(id);
  return info;
}

void AppendTopics(rd_kafka_event_t* answer, std::vector<TopicInfo>& infos) {
  const auto* result = rd_kafka_event_DescribeTopics_result(answer);
  if (result == nullptr) return;
  size_t count = 0;
  const auto** descriptions = rd_kafka_DescribeTopics_result_topics(result, &count);
  for (size_t i = 0; i < count; ++i) infos.push_back(InfoOf(descriptions[i]));
}

}  // namespace

PartitionListPtr ListOf(const std::vector<record::SourcePartition>& partitions) {
  PartitionListPtr list(rd_kafka_topic_partition_list_new(static_cast<int>(partitions.size())));
  for (const auto& partition : partitions) {
    rd_kafka_topic_partition_list_add(list.get(), partition.topic.c_str(), partition.partition);
  }
  return list;
}

Client::Client(const KafkaConfig& config)
    : bootstrap_servers_(config.bootstrap_servers), isolation_level_(config.isolation_level) {}

Result<std::unique_ptr<Client>> Client::Make(const KafkaConfig& config, ClientRole role,
                                             const Prefetch& prefetch) {
  FIRN_ASSIGN(ConfPtr conf, MakeConf(config, role, prefetch));
  std::unique_ptr<Client> client(new Client(config));
  rd_kafka_conf_set_log_cb(conf.get(), ForwardLog);
  rd_kafka_conf_set_events(conf.get(),
                           RD_KAFKA_EVENT_REBALANCE | RD_KAFKA_EVENT_ERROR | RD_KAFKA_EVENT_OFFSET_COMMIT);
  char reason[512];
  client->handle_ = rd_kafka_new(RD_KAFKA_CONSUMER, conf.get(), reason, sizeof(reason));
  if (client->handle_ == nullptr) {
    return Error(ErrorKind::kInvalidArgument, fmt::format("the Kafka client cannot be made: {}", reason))
        .WithDomain(ErrorDomain::kUser)
        .WithRemedy("Check the source's properties.");
  }
  [[maybe_unused]] const rd_kafka_conf_t* owned_by_handle = conf.release();
  rd_kafka_poll_set_consumer(client->handle_);
  client->events_.reset(rd_kafka_queue_get_consumer(client->handle_));
  client->pings_.reset(rd_kafka_queue_new(client->handle_));
  return client;
}

Client::~Client() {
  events_.reset();
  pings_.reset();
  if (handle_ != nullptr) rd_kafka_destroy_flags(handle_, RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE);
}

bool Client::IsFenced() const {
  return rd_kafka_fatal_error(handle_, nullptr, 0) == RD_KAFKA_RESP_ERR_FENCED_INSTANCE_ID;
}

std::string Client::What(std::string_view question) const {
  return fmt::format("Kafka at {}: {}", bootstrap_servers_, question);
}

void Client::NoteTrouble() {
  while (const EventPtr event{rd_kafka_queue_poll(events_.get(), 0)}) {
    if (rd_kafka_event_type(event.get()) != RD_KAFKA_EVENT_ERROR) continue;
    const rd_kafka_resp_err_t code = rd_kafka_event_error(event.get());
    // "All brokers down" follows the error that says why.
    if (code == RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN && last_code_ != RD_KAFKA_RESP_ERR_NO_ERROR) continue;
    last_code_ = code;
    last_reason_ = rd_kafka_event_error_string(event.get());
    const bool unknown_host = IsUnknownHost(code, last_reason_);
    unknown_host_ = unknown_host_ || unknown_host;
    other_trouble_ = other_trouble_ || (!unknown_host && code != RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN);
  }
}

Error Client::Unreachable(int timeout_ms) const {
  const std::string what =
      fmt::format("no answer from Kafka at {} within {} ms", bootstrap_servers_, timeout_ms);
  if (last_code_ == RD_KAFKA_RESP_ERR_NO_ERROR)
    return FromKafka(RD_KAFKA_RESP_ERR__TRANSPORT, what, "no connection");
  const bool final = IsFinal(last_code_);
  Error error =
      FromKafka(last_code_, final ? fmt::format("Kafka at {}", bootstrap_servers_) : what, last_reason_);
  const bool stays = final || (unknown_host_ && !other_trouble_);
  return stays ? std::move(error).WithRetry(RetryHint::kNo) : error;
}

Status Client::Connect(int timeout_ms, const std::stop_token& stop) {
  const auto deadline = Clock::now() + std::chrono::milliseconds(timeout_ms);
  while (true) {
    const struct rd_kafka_metadata* metadata = nullptr;
    const auto code = rd_kafka_metadata(handle_, /*all_topics=*/0, nullptr, &metadata, kConnectSliceMs);
    if (code == RD_KAFKA_RESP_ERR_NO_ERROR) {
      rd_kafka_metadata_destroy(metadata);
      return Ok();
    }
    NoteTrouble();
    if (IsFinal(last_code_) || stop.stop_requested() || Clock::now() >= deadline)
      return Unreachable(timeout_ms);
  }
}

Result<std::string> Client::ClusterId() {
  char* id = rd_kafka_clusterid(handle_, kRequestTimeoutMs);
  if (id == nullptr) return std::string();
  std::string copy(id);
  rd_kafka_mem_free(handle_, id);
  return copy;
}

Result<std::vector<std::string>> Client::TopicNames() {
  const struct rd_kafka_metadata* metadata = nullptr;
  const auto code = rd_kafka_metadata(handle_, /*all_topics=*/1, nullptr, &metadata, kRequestTimeoutMs);
  if (code != RD_KAFKA_RESP_ERR_NO_ERROR) return FromKafka(code, What("listing topics"));
  std::vector<std::string> names;
  for (int i = 0; i < metadata->topic_cnt; ++i) names.emplace_back(metadata->topics[i].topic);
  rd_kafka_metadata_destroy(metadata);
  std::ranges::sort(names);
  return names;
}

AdminOptionsPtr Client::Options(rd_kafka_admin_op_t operation, int timeout_ms) const {
  AdminOptionsPtr options(rd_kafka_AdminOptions_new(handle_, operation));
  char reason[128];
  rd_kafka_AdminOptions_set_request_timeout(options.get(), timeout_ms, reason, sizeof(reason));
  return options;
}

Result<EventPtr> Client::Await(rd_kafka_queue_t* queue, std::string_view what) {
  EventPtr event(rd_kafka_queue_poll(queue, kRequestTimeoutMs + 1000));
  if (event == nullptr) return FromKafka(RD_KAFKA_RESP_ERR__TIMED_OUT, What(what));
  const auto code = rd_kafka_event_error(event.get());
  if (code != RD_KAFKA_RESP_ERR_NO_ERROR)
    return FromKafka(code, What(what), rd_kafka_event_error_string(event.get()));
  return event;
}

void Client::AskToDescribe(const std::vector<std::string>& topics, rd_kafka_queue_t* answers) {
  std::vector<const char*> names;
  for (const auto& topic : topics) names.push_back(topic.c_str());
  const TopicCollectionPtr collection(rd_kafka_TopicCollection_of_topic_names(names.data(), names.size()));
  const AdminOptionsPtr options = Options(RD_KAFKA_ADMIN_OP_DESCRIBETOPICS, kRequestTimeoutMs);
  rd_kafka_DescribeTopics(handle_, collection.get(), options.get(), answers);
}

std::vector<TopicInfo> Client::DescribedTopics(rd_kafka_queue_t* answers) {
  std::vector<TopicInfo> infos;
  while (const EventPtr event{rd_kafka_queue_poll(answers, 0)}) {
    if (rd_kafka_event_error(event.get()) == RD_KAFKA_RESP_ERR_NO_ERROR) AppendTopics(event.get(), infos);
  }
  return infos;
}

Result<std::vector<TopicInfo>> Client::Describe(const std::vector<std::string>& topics) {
  std::vector<TopicInfo> infos;
  if (topics.empty()) return infos;
  const QueuePtr queue(rd_kafka_queue_new(handle_));
  AskToDescribe(topics, queue.get());
  FIRN_ASSIGN(const EventPtr event, Await(queue.get(), "describing topics"));
  AppendTopics(event.get(), infos);
  return infos;
}

Result<std::map<record::SourcePartition, int64_t>> Client::ListOffsets(
    const std::vector<record::SourcePartition>& partitions, int64_t spec) {
  std::map<record::SourcePartition, int64_t> offsets;
  if (partitions.empty()) return offsets;
  const PartitionListPtr list = ListOf(partitions);
  for (int i = 0; i < list->cnt; ++i) list->elems[i].offset = spec;
  const AdminOptionsPtr options = Options(RD_KAFKA_ADMIN_OP_LISTOFFSETS, kRequestTimeoutMs);
  const bool committed = isolation_level_ == IsolationLevel::kReadCommitted;
  const ErrorPtr refused(rd_kafka_AdminOptions_set_isolation_level(
      options.get(),
      committed ? RD_KAFKA_ISOLATION_LEVEL_READ_COMMITTED : RD_KAFKA_ISOLATION_LEVEL_READ_UNCOMMITTED));
  const QueuePtr queue(rd_kafka_queue_new(handle_));
  rd_kafka_ListOffsets(handle_, list.get(), options.get(), queue.get());
  FIRN_ASSIGN(const EventPtr event, Await(queue.get(), "listing offsets"));
  size_t count = 0;
  const auto** infos =
      rd_kafka_ListOffsets_result_infos(rd_kafka_event_ListOffsets_result(event.get()), &count);
  for (size_t i = 0; i < count; ++i) {
    const auto* found = rd_kafka_ListOffsetsResultInfo_topic_partition(infos[i]);
    if (found->err != RD_KAFKA_RESP_ERR_NO_ERROR) {
      return FromKafka(found->err, What(fmt::format("offsets of {}[{}]", found->topic, found->partition)));
    }
    offsets.emplace(PartitionOf(*found), found->offset);
  }
  return offsets;
}

Result<std::vector<std::string>> Client::CommittedNotes(
    const std::vector<record::SourcePartition>& partitions) {
  std::vector<std::string> notes;
  if (partitions.empty()) return notes;
  const PartitionListPtr list = ListOf(partitions);
  const auto code = rd_kafka_committed(handle_, list.get(), kRequestTimeoutMs);
  if (code != RD_KAFKA_RESP_ERR_NO_ERROR)
    return FromKafka(code, What("reading the group's committed offsets"));
  for (int i = 0; i < list->cnt; ++i) {
    const auto& partition = list->elems[i];
    if (partition.metadata_size == 0) continue;
    notes.emplace_back(static_cast<const char*>(partition.metadata), partition.metadata_size);
  }
  std::ranges::sort(notes);
  notes.erase(std::ranges::unique(notes).begin(), notes.end());
  return notes;
}

Result<std::map<record::SourcePartition, int64_t>> Client::GroupOffsets(
    const std::vector<record::SourcePartition>& partitions, const std::string& group) {
  std::map<record::SourcePartition, int64_t> offsets;
  if (partitions.empty()) return offsets;
  const std::string question = fmt::format("offsets of group '{}'", group);
  const PartitionListPtr list = ListOf(partitions);
  const GroupOffsetsQueryPtr query(rd_kafka_ListConsumerGroupOffsets_new(group.c_str(), list.get()));
  const AdminOptionsPtr options = Options(RD_KAFKA_ADMIN_OP_LISTCONSUMERGROUPOFFSETS, kRequestTimeoutMs);
  const QueuePtr queue(rd_kafka_queue_new(handle_));
  rd_kafka_ListConsumerGroupOffsets_t* asked = query.get();
  rd_kafka_ListConsumerGroupOffsets(handle_, &asked, 1, options.get(), queue.get());
  FIRN_ASSIGN(const EventPtr event, Await(queue.get(), question));
  size_t count = 0;
  const auto** groups = rd_kafka_ListConsumerGroupOffsets_result_groups(
      rd_kafka_event_ListConsumerGroupOffsets_result(event.get()), &count);
  for (size_t g = 0; g < count; ++g) {
    if (const auto* error = rd_kafka_group_result_error(groups[g]))
      return FromKafka(rd_kafka_error_code(error), What(question));
    const auto* answers = rd_kafka_group_result_partitions(groups[g]);
    for (int i = 0; i < answers->cnt; ++i) {
      if (answers->elems[i].offset >= 0)
        offsets.emplace(PartitionOf(answers->elems[i]), answers->elems[i].offset);
    }
  }
  return offsets;
}

void Client::Ping() {
  const AdminOptionsPtr options = Options(RD_KAFKA_ADMIN_OP_DESCRIBECLUSTER, 2000);
  rd_kafka_DescribeCluster(handle_, options.get(), pings_.get());
}

bool Client::Answered() {
  bool answered = false;
  while (const EventPtr event{rd_kafka_queue_poll(pings_.get(), 0)}) {
    answered = answered || rd_kafka_event_error(event.get()) == RD_KAFKA_RESP_ERR_NO_ERROR;
  }
  return answered;
}

}  // namespace firn::source::kafka
