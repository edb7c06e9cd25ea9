#include "firn/source/kafka/kafka_source.h"

#include <fmt/format.h>
#include <string.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "firn/base/text_distance.h"
#include "firn/obs/log.h"
#include "firn/source/kafka/assignment.h"
#include "firn/source/kafka/client.h"
#include "firn/source/kafka/fencing.h"
#include "firn/source/kafka/health.h"
#include "firn/source/kafka/identity_watch.h"
#include "firn/source/kafka/kafka_error.h"
#include "firn/source/kafka/lane.h"
#include "firn/source/kafka/record_probe.h"
#include "firn/source/kafka/topic_selection.h"

namespace firn::source::kafka {

namespace {

using Partitions = std::vector<record::SourcePartition>;
using BoundsMap = std::map<record::SourcePartition, PartitionBounds>;

constexpr int kProbeTimeoutMs = 20'000;
constexpr int kCloseTimeoutMs = 10'000;

std::string Name(const record::SourcePartition& partition) {
  return fmt::format("{}[{}]", partition.topic, partition.partition);
}

Error MissingTopic(const std::string& topic, const std::vector<std::string>& existing) {
  Error error(ErrorKind::kNotFound, fmt::format("topic '{}' does not exist", topic));
  const auto nearest = NearestName(topic, existing);
  if (!nearest) return std::move(error).WithRemedy("Create it, or correct the name under topics.");
  return std::move(error).WithRemedy(fmt::format("The nearest existing topic is '{}'.", *nearest));
}

Error TrimmedLog(const record::SourcePartition& partition, int64_t next, int64_t first) {
  return Error(ErrorKind::kDataLoss, fmt::format("{}: positions {} to {} are gone, the log now begins at {}",
                                                 Name(partition), next, first - 1, first))
      .WithRemedy(
          "`on_data_loss: earliest` goes on behind the gap; keep the records longer (retention) to avoid "
          "it.");
}

Error RewrittenLog(const record::SourcePartition& partition, int64_t next, int64_t end) {
  return Error(ErrorKind::kDataLoss,
               fmt::format(
                   "{}: the log ends at {}, before our position {}: the topic was re-created or truncated",
                   Name(partition), end, next))
      .WithRemedy("'firn offsets reset' or 'firn offsets set' decides where to go on.");
}

Error RecreatedTopic(const IdentityWatch::Finding& finding) {
  return Error(ErrorKind::kDataLoss,
               fmt::format("topic '{}' was re-created while it was read (its id was {}, now it is {})",
                           finding.topic, finding.was, finding.is))
      .WithRemedy("'firn offsets reset' or 'firn offsets set' decides where to go on.");
}

Error DeletedTopic(const std::string& topic) {
  return Error(ErrorKind::kNotFound, fmt::format("topic '{}' was deleted while it was read", topic))
      .WithRetry(RetryHint::kYes)
      .WithRemedy("Remove it from topics.");
}

bool IsOutOfRange(rd_kafka_resp_err_t code) {
  return code == RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET || code == RD_KAFKA_RESP_ERR_OFFSET_OUT_OF_RANGE;
}

void SetNote(rd_kafka_topic_partition_t& partition, const std::string& note) {
  if (note.empty()) return;
  partition.metadata = strdup(note.c_str());  // freed with the list
  partition.metadata_size = note.size();
}

}  // namespace

/// See source.h for the contract, README.md of this folder for how it is kept.
class KafkaSource final : public Source, public PositionLookup {
 public:
  KafkaSource(KafkaConfig config, const KafkaDeps& deps, TopicSelection selection)
      : config_(std::move(config)), deps_(deps), selection_(std::move(selection)) {}
  ~KafkaSource() override { Close(); }

  Status Open() override;
  Result<BoundsMap> ListPartitions() override;
  Result<BoundsMap> Bounds(const Partitions& partitions) override;
  Result<record::Positions> ResolveStart(const Partitions& partitions) override;
  Result<std::optional<record::Fingerprint>> FingerprintBefore(const record::SourcePartition& partition,
                                                               int64_t position) override;
  Result<std::vector<std::string>> GroupNotes() override;
  Status Subscribe(bool bounded) override;
  Result<std::vector<SourceEvent>> PollControl(int timeout_ms) override;
  Status Start(const record::Positions& positions) override {
    watch_->Expect(positions);
    return UnlessFenced(assignment_->Start(positions));
  }
  Status Release(const Partitions& partitions) override {
    return UnlessFenced(assignment_->Release(partitions));
  }
  Status Seek(const record::Positions& positions) override {
    return UnlessFenced(assignment_->Seek(positions));
  }
  void Acknowledge(const record::Positions& positions, const std::string& note) override;
  void Close() override;
  Result<std::vector<record::RawBatch>> Poll(int lane, const PollBudget& budget) override {
    return lanes_.at(static_cast<size_t>(lane))->Poll(budget);
  }
  int64_t prefetched_bytes() const override;
  PositionLookup* position_lookup() override { return this; }
  Result<Offsets> OffsetsAt(const Partitions& partitions, int64_t time_ms) override;
  Result<Offsets> OffsetsOfGroup(const Partitions& partitions, const std::string& group) override {
    return client_->GroupOffsets(partitions, group);
  }

 private:
  Prefetch prefetch() const { return {.lanes = deps_.lanes, .bytes = deps_.prefetch_bytes}; }
  Status CheckTopics();
  Result<std::vector<TopicInfo>> SelectedTopics();
  Result<Partitions> MatchingPartitions();
  Result<std::map<std::string, std::string>> TopicIds(const Partitions& partitions);
  Result<std::map<record::SourcePartition, int64_t>> StartOffsets(const Partitions& partitions,
                                                                  const BoundsMap& bounds);
  Result<int64_t> ConfiguredStart(const record::SourcePartition& partition,
                                  const PartitionBounds& bounds) const;
  void Equip();
  Status JoinGroup();
  bool IsFenced() const { return in_group_ && client_->IsFenced(); }
  // What a fence has overtaken need not succeed: PollControl tells that the partitions are lost.
  Status UnlessFenced(const Status& status) const { return !status.ok() && IsFenced() ? Ok() : status; }
  Status ServeFenced(int timeout_ms, std::vector<SourceEvent>& told);
  SourceTrouble Fenced();
  Status ReturnToGroup();

  void OnEvent(rd_kafka_event_t* event, std::vector<SourceEvent>& told);
  void OnRebalance(rd_kafka_event_t* event, std::vector<SourceEvent>& told);
  void OnError(rd_kafka_resp_err_t code, std::string_view text, std::vector<SourceEvent>& told);
  void OnPartitionTrouble(const PartitionTrouble& trouble, std::vector<SourceEvent>& told);
  void OnFinding(const IdentityWatch::Finding& finding, std::vector<SourceEvent>& told);
  void OnOutOfRange(const PartitionTrouble& trouble, std::vector<SourceEvent>& told);

  const KafkaConfig config_;
  const KafkaDeps deps_;
  const TopicSelection selection_;
  std::unique_ptr<Client> client_;
  std::unique_ptr<RecordProbe> probe_;  ///< made on first use
  std::vector<std::unique_ptr<Lane>> lanes_;
  std::unique_ptr<Assignment> assignment_;
  std::unique_ptr<Health> health_;
  std::unique_ptr<IdentityWatch> watch_;
  std::string cluster_id_;
  std::vector<SourceEvent> untold_;
  bool in_group_ = false;  ///< subscribed, in a run without bounds
  Fencing fencing_;
  std::optional<Fencing::TimePoint> return_at_;  ///< fenced: when the place in the group is taken again
};

Result<std::unique_ptr<Source>> MakeKafkaSource(KafkaConfig config, const KafkaDeps& deps) {
  FIRN_ASSIGN(TopicSelection selection, TopicSelection::Make(config));
  FIRN_ASSIGN(const ConfPtr checked, MakeConf(config, ClientRole::kReader, Prefetch{}));
  return std::unique_ptr<Source>(
      std::make_unique<KafkaSource>(std::move(config), deps, std::move(selection)));
}

// --- before reading

Status KafkaSource::Open() {
  FIRN_ASSIGN(client_, Client::Make(config_, ClientRole::kReader, prefetch()));
  FIRN_TRY(client_->Connect(deps_.connect_timeout_ms, deps_.stop));
  FIRN_ASSIGN(cluster_id_, client_->ClusterId());
  for (int i = 0; i < deps_.lanes; ++i)
    lanes_.push_back(std::make_unique<Lane>(client_->handle(), config_.headers));
  Equip();
  return CheckTopics();
}

// What works with the client of the group.
void KafkaSource::Equip() {
  assignment_ = std::make_unique<Assignment>(*client_, lanes_);
  health_ = std::make_unique<Health>(*client_);
  watch_ = std::make_unique<IdentityWatch>(*client_);
}

Status KafkaSource::CheckTopics() {
  FIRN_ASSIGN(const auto topics, SelectedTopics());
  if (topics.empty()) {
    obs::Log(obs::Level::kWarning, "no topic matches yet", {{"topics_pattern", config_.topics_pattern}});
  }
  return Ok();
}

Result<std::vector<TopicInfo>> KafkaSource::SelectedTopics() {
  std::vector<std::string> existing;
  if (selection_.is_pattern()) {
    FIRN_ASSIGN(existing, client_->TopicNames());
  }
  FIRN_ASSIGN(auto topics, client_->Describe(selection_.Select(existing)));
  for (const TopicInfo& topic : topics) {
    if (!topic.error) continue;
    if (topic.error->kind() != ErrorKind::kNotFound) return *topic.error;
    FIRN_ASSIGN(const auto names, client_->TopicNames());
    return MissingTopic(topic.name, names);
  }
  return topics;
}

Result<Partitions> KafkaSource::MatchingPartitions() {
  FIRN_ASSIGN(const auto topics, SelectedTopics());
  Partitions partitions;
  for (const TopicInfo& topic : topics) {
    for (int32_t i = 0; i < topic.partition_count; ++i)
      partitions.push_back({.topic = topic.name, .partition = i});
  }
  return partitions;
}

Result<BoundsMap> KafkaSource::ListPartitions() {
  FIRN_ASSIGN(const auto partitions, MatchingPartitions());
  return Bounds(partitions);
}

Result<std::map<std::string, std::string>> KafkaSource::TopicIds(const Partitions& partitions) {
  std::set<std::string> names;
  for (const auto& partition : partitions) names.insert(partition.topic);
  FIRN_ASSIGN(const auto topics, client_->Describe({names.begin(), names.end()}));
  std::map<std::string, std::string> ids;
  for (const TopicInfo& topic : topics) {
    if (topic.error) return *topic.error;
    ids[topic.name] = topic.id;
  }
  return ids;
}

Result<BoundsMap> KafkaSource::Bounds(const Partitions& partitions) {
  FIRN_ASSIGN(const auto ids, TopicIds(partitions));
  FIRN_ASSIGN(const auto firsts, client_->ListOffsets(partitions, RD_KAFKA_OFFSET_SPEC_EARLIEST));
  FIRN_ASSIGN(const auto ends, client_->ListOffsets(partitions, RD_KAFKA_OFFSET_SPEC_LATEST));
  BoundsMap bounds;
  for (const auto& partition : partitions) {
    const auto first = firsts.find(partition);
    const auto end = ends.find(partition);
    const auto id = ids.find(partition.topic);
    if (first == firsts.end() || end == ends.end() || id == ids.end()) {
      return Error(ErrorKind::kNotFound, fmt::format("{} does not exist", Name(partition)));
    }
    bounds[partition] = {.first = first->second,
                         .end = end->second,
                         .identity = {.cluster_id = cluster_id_, .topic_id = id->second}};
  }
  return bounds;
}

Result<std::map<record::SourcePartition, int64_t>> KafkaSource::StartOffsets(const Partitions& partitions,
                                                                             const BoundsMap& bounds) {
  std::map<record::SourcePartition, int64_t> offsets;
  if (config_.starting_timestamp_ms) {
    FIRN_ASSIGN(offsets, client_->ListOffsets(partitions, *config_.starting_timestamp_ms));
  }
  for (const auto& partition : partitions) {
    const PartitionBounds& bound = bounds.at(partition);
    if (!config_.starting_timestamp_ms) {
      FIRN_ASSIGN(offsets[partition], ConfiguredStart(partition, bound));
    } else if (int64_t& offset = offsets.try_emplace(partition, -1).first->second; offset < 0) {
      offset = *bound.end;  // nothing that late yet
    }
  }
  return offsets;
}

Result<int64_t> KafkaSource::ConfiguredStart(const record::SourcePartition& partition,
                                             const PartitionBounds& bounds) const {
  const StartingOffsets& start = config_.starting_offsets;
  if (start.at == StartAt::kLatest) return *bounds.end;
  const auto topic = start.offsets.find(partition.topic);
  if (topic == start.offsets.end() || !topic->second.contains(partition.partition)) return bounds.first;
  const int64_t offset = topic->second.at(partition.partition);
  if (offset >= bounds.first && offset <= *bounds.end) return offset;
  return Error(ErrorKind::kInvalidArgument,
               fmt::format("starting_offsets: {} of {} is outside of what the log holds, {} to {}", offset,
                           Name(partition), bounds.first, *bounds.end))
      .WithRemedy("Name an offset in this range, or `earliest`.");
}

Result<record::Positions> KafkaSource::ResolveStart(const Partitions& partitions) {
  FIRN_ASSIGN(const auto bounds, Bounds(partitions));
  FIRN_ASSIGN(const auto offsets, StartOffsets(partitions, bounds));
  record::Positions positions;
  for (const auto& [partition, bound] : bounds) {
    positions[partition] = {.next = offsets.at(partition), .identity = bound.identity, .last = std::nullopt};
  }
  return positions;
}

Result<std::optional<record::Fingerprint>> KafkaSource::FingerprintBefore(
    const record::SourcePartition& partition, int64_t position) {
  FIRN_ASSIGN(const auto firsts, client_->ListOffsets({partition}, RD_KAFKA_OFFSET_SPEC_EARLIEST));
  FIRN_ASSIGN(const auto ends, client_->ListOffsets({partition}, RD_KAFKA_OFFSET_SPEC_LATEST));
  if (!firsts.contains(partition) || !ends.contains(partition)) {
    return Error(ErrorKind::kNotFound, fmt::format("{} does not exist", Name(partition)));
  }
  const int64_t first = firsts.at(partition);
  if (position <= first || position > ends.at(partition)) return std::optional<record::Fingerprint>();
  if (probe_ == nullptr) {
    FIRN_ASSIGN(probe_, RecordProbe::Make(config_, deps_.connect_timeout_ms));
  }
  return probe_->LastBelow(partition, first, position, kProbeTimeoutMs);
}

Result<std::vector<std::string>> KafkaSource::GroupNotes() {
  FIRN_ASSIGN(const auto partitions, MatchingPartitions());
  return client_->CommittedNotes(partitions);
}

Result<PositionLookup::Offsets> KafkaSource::OffsetsAt(const Partitions& partitions, int64_t time_ms) {
  FIRN_ASSIGN(auto offsets, client_->ListOffsets(partitions, time_ms));
  FIRN_ASSIGN(const auto ends, client_->ListOffsets(partitions, RD_KAFKA_OFFSET_SPEC_LATEST));
  for (auto& [partition, offset] : offsets) {
    const auto end = ends.find(partition);
    if (offset < 0 && end != ends.end()) offset = end->second;  // nothing that late yet
  }
  return offsets;
}

// --- reading

Status KafkaSource::Subscribe(bool bounded) {
  if (!bounded) return JoinGroup();
  FIRN_ASSIGN(const auto partitions, MatchingPartitions());
  if (auto event = assignment_->OnAssigned(partitions)) untold_.push_back(std::move(*event));
  return Ok();
}

Status KafkaSource::JoinGroup() {
  const std::vector<std::string> topics = selection_.subscription();
  const PartitionListPtr list(rd_kafka_topic_partition_list_new(static_cast<int>(topics.size())));
  for (const auto& topic : topics)
    rd_kafka_topic_partition_list_add(list.get(), topic.c_str(), RD_KAFKA_PARTITION_UA);
  const auto code = rd_kafka_subscribe(client_->handle(), list.get());
  if (code != RD_KAFKA_RESP_ERR_NO_ERROR)
    return FromKafka(code, fmt::format("joining group '{}'", config_.group_id));
  in_group_ = true;
  return Ok();
}

Result<std::vector<SourceEvent>> KafkaSource::PollControl(int timeout_ms) {
  std::vector<SourceEvent> told = std::exchange(untold_, {});
  if (IsFenced()) {
    FIRN_TRY(ServeFenced(timeout_ms, told));
    return told;
  }
  EventPtr event(rd_kafka_queue_poll(client_->events(), told.empty() ? timeout_ms : 0));
  for (; event != nullptr; event.reset(rd_kafka_queue_poll(client_->events(), 0))) OnEvent(event.get(), told);
  for (auto& lane : lanes_) {
    for (const auto& trouble : lane->TakeTroubles()) OnPartitionTrouble(trouble, told);
  }
  if (auto change = health_->Tick()) told.push_back(std::move(*change));
  for (const auto& finding : watch_->Tick()) OnFinding(finding, told);
  return told;
}

// Another member has taken this static member's place, or the group takes it for its own double after its
// session. Its partitions are lost; a new client takes the place again, and they are read from the table on.
Status KafkaSource::ServeFenced(int timeout_ms, std::vector<SourceEvent>& told) {
  if (!return_at_) {
    const Partitions held = assignment_->Abandon();
    if (!held.empty()) told.emplace_back(PartitionsRevoked{.partitions = held, .lost = true});
    told.emplace_back(Fenced());
  } else if (Fencing::Clock::now() >= *return_at_) {
    return_at_.reset();
    FIRN_TRY(ReturnToGroup());
    told.emplace_back(SourceRecovered{});
  } else {
    const EventPtr nothing_new(rd_kafka_queue_poll(client_->events(), timeout_ms));
  }
  return Ok();
}

SourceTrouble KafkaSource::Fenced() {
  const auto now = Fencing::Clock::now();
  const auto pause = fencing_.OnFenced(now);
  const std::string name =
      fmt::format("group_instance_id '{}' in group '{}'", config_.group_instance_id, config_.group_id);
  if (!pause) {
    return {.error = Error(ErrorKind::kConflict,
                           fmt::format("{}: another process takes this one's place again and again", name))
                         .WithDomain(ErrorDomain::kUser)
                         .WithRetry(RetryHint::kNo)
                         .WithRemedy("Give each process a group_instance_id of its own, or none."),
            .partition = std::nullopt};
  }
  return_at_ = now + *pause;
  return {
      .error = Error(ErrorKind::kConflict,
                     fmt::format("{}: fenced, because its session ended or another process uses the name; "
                                 "joining again in {} ms",
                                 name, pause->count()))
                   .WithRetry(RetryHint::kYes),
      .partition = std::nullopt};
}

Status KafkaSource::ReturnToGroup() {
  FIRN_ASSIGN(std::unique_ptr<Client> client, Client::Make(config_, ClientRole::kReader, prefetch()));
  for (auto& lane : lanes_) {
    const Lane::Hold hold(*lane);
    lane->Attach(client->handle());
  }
  assignment_.reset();
  health_.reset();
  watch_.reset();
  client_ = std::move(client);
  Equip();
  return JoinGroup();
}

void KafkaSource::OnEvent(rd_kafka_event_t* event, std::vector<SourceEvent>& told) {
  switch (rd_kafka_event_type(event)) {
    case RD_KAFKA_EVENT_REBALANCE:
      OnRebalance(event, told);
      break;
    case RD_KAFKA_EVENT_ERROR:
      OnError(rd_kafka_event_error(event), rd_kafka_event_error_string(event), told);
      break;
    case RD_KAFKA_EVENT_OFFSET_COMMIT:
      if (const auto code = rd_kafka_event_error(event); code != RD_KAFKA_RESP_ERR_NO_ERROR) {
        obs::Log(obs::Level::kDebug, "group offsets not recorded", {{"error", rd_kafka_err2str(code)}});
      }
      break;
    case RD_KAFKA_EVENT_FETCH:
      // A partition's records went to this queue instead of its lane's: they would be missing there.
      told.emplace_back(
          SourceTrouble{.error = Error(ErrorKind::kInternal, "records arrived outside of the lanes"),
                        .partition = std::nullopt});
      break;
    default:
      break;
  }
}

void KafkaSource::OnRebalance(rd_kafka_event_t* event, std::vector<SourceEvent>& told) {
  const rd_kafka_topic_partition_list_t* list = rd_kafka_event_topic_partition_list(event);
  Partitions partitions;
  for (int i = 0; i < list->cnt; ++i) {
    partitions.push_back({.topic = list->elems[i].topic, .partition = list->elems[i].partition});
  }
  const bool assigned = rd_kafka_event_error(event) == RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS;
  const bool lost = rd_kafka_assignment_lost(client_->handle()) != 0;
  auto tell = assigned ? assignment_->OnAssigned(partitions) : assignment_->OnRevoked(partitions, lost);
  if (tell) told.push_back(std::move(*tell));
}

void KafkaSource::OnError(rd_kafka_resp_err_t code, std::string_view text, std::vector<SourceEvent>& told) {
  char fatal[512] = "";
  if (code == RD_KAFKA_RESP_ERR__FATAL) {
    code = rd_kafka_fatal_error(client_->handle(), fatal, sizeof(fatal));
    text = fatal;
  }
  if (IsFenced()) return;  // the next call of PollControl serves it
  Error error = FromKafka(code, fmt::format("Kafka at {}", config_.bootstrap_servers), text);
  // A named topic may be missing for a moment after a broker has restarted.
  const bool passing = IsPassing(code) || code == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART;
  if (!passing) {
    told.emplace_back(SourceTrouble{.error = std::move(error), .partition = std::nullopt});
  } else if (auto change = health_->OnError(std::move(error), code == RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN)) {
    told.push_back(std::move(*change));
  }
}

void KafkaSource::OnPartitionTrouble(const PartitionTrouble& trouble, std::vector<SourceEvent>& told) {
  if (IsPassing(trouble.code)) return OnError(trouble.code, trouble.text, told);
  if (IsOutOfRange(trouble.code)) return OnOutOfRange(trouble, told);
  told.emplace_back(SourceTrouble{
      .error =
          FromKafka(trouble.code, fmt::format("{} at position {}", Name(trouble.partition), trouble.offset),
                    trouble.text),
      .partition = trouble.partition});
}

void KafkaSource::OnFinding(const IdentityWatch::Finding& finding, std::vector<SourceEvent>& told) {
  if (!finding.is.empty()) {
    assignment_->Stop(finding.topic);
    told.emplace_back(SourceTrouble{.error = RecreatedTopic(finding), .partition = std::nullopt});
  } else if (selection_.is_pattern()) {
    obs::Log(obs::Level::kWarning, "a topic was deleted", {{"topic", finding.topic}});
    watch_->Forget(finding.topic);
  } else {
    told.emplace_back(SourceTrouble{.error = DeletedTopic(finding.topic), .partition = std::nullopt});
  }
}

void KafkaSource::OnOutOfRange(const PartitionTrouble& trouble, std::vector<SourceEvent>& told) {
  const auto next = assignment_->next(trouble.partition);
  if (!next) return;
  const auto bounds = Bounds({trouble.partition});
  const auto tell = [&](Error error) {
    told.emplace_back(SourceTrouble{.error = std::move(error), .partition = trouble.partition});
  };
  if (!bounds.ok()) return tell(FromKafka(trouble.code, Name(trouble.partition), trouble.text));
  const PartitionBounds& bound = bounds->at(trouble.partition);
  if (*next < bound.first) return tell(TrimmedLog(trouble.partition, *next, bound.first));
  if (*next > *bound.end) return tell(RewrittenLog(trouble.partition, *next, *bound.end));
  // The position is in the log: the error was of an earlier position, or of a leader that lagged.
  obs::Log(obs::Level::kWarning, "reading again",
           {{"partition", Name(trouble.partition)}, {"position", *next}, {"after", trouble.text}});
  if (const Status resumed = assignment_->Resume(trouble.partition); !resumed.ok()) tell(resumed.error());
}

void KafkaSource::Acknowledge(const record::Positions& positions, const std::string& note) {
  if (positions.empty()) return;
  const PartitionListPtr list(rd_kafka_topic_partition_list_new(static_cast<int>(positions.size())));
  for (const auto& [partition, position] : positions) {
    auto* entry = rd_kafka_topic_partition_list_add(list.get(), partition.topic.c_str(), partition.partition);
    entry->offset = position.next;
    SetNote(*entry, note);
  }
  // For people and monitors only: the outcome arrives as an event and is logged.
  static_cast<void>(rd_kafka_commit(client_->handle(), list.get(), /*async=*/1));
}

void KafkaSource::Close() {
  if (client_ == nullptr) return;
  if (assignment_ != nullptr) assignment_->Close(kCloseTimeoutMs);
  assignment_.reset();
  health_.reset();
  watch_.reset();
  lanes_.clear();
  probe_.reset();
  client_.reset();
}

int64_t KafkaSource::prefetched_bytes() const {
  int64_t bytes = 0;
  for (const auto& lane : lanes_) bytes += lane->prefetched_bytes();
  return bytes;
}

}  // namespace firn::source::kafka
