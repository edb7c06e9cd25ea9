#include "firn/source/kafka/assignment.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "firn/obs/log.h"
#include "firn/source/kafka/kafka_error.h"

namespace firn::source::kafka {

namespace {

using Clock = std::chrono::steady_clock;

constexpr int kSeekTimeoutMs = 10'000;
constexpr int kClosePollMs = 100;

std::string Name(const record::SourcePartition& partition) {
  return fmt::format("{}[{}]", partition.topic, partition.partition);
}

std::vector<record::SourcePartition> PartitionsOf(const rd_kafka_topic_partition_list_t& list) {
  std::vector<record::SourcePartition> partitions;
  for (int i = 0; i < list.cnt; ++i) {
    partitions.push_back({.topic = list.elems[i].topic, .partition = list.elems[i].partition});
  }
  return partitions;
}

Status StatusOf(rd_kafka_error_t* raw, std::string_view what) {
  const ErrorPtr error(raw);
  if (error == nullptr) return Ok();
  return FromKafka(rd_kafka_error_code(error.get()), what, rd_kafka_error_string(error.get()));
}

}  // namespace

std::vector<Lane::Hold> Assignment::HoldLanes() {
  std::vector<Lane::Hold> holds;
  holds.reserve(lanes_.size());
  for (auto& lane : lanes_) holds.emplace_back(*lane);
  return holds;
}

Lane& Assignment::LeastLoaded() {
  return **std::ranges::min_element(lanes_, {}, [](const auto& lane) { return lane->partition_count(); });
}

std::optional<int64_t> Assignment::next(const record::SourcePartition& partition) const {
  const auto reading = reading_.find(partition);
  if (reading == reading_.end()) return std::nullopt;
  const PartitionReader* reader = reading->second->Find(partition);
  return reader == nullptr ? std::nullopt : std::optional(reader->next());
}

Assignment::Partitions Assignment::ReadingWithout(const record::Positions& excluded) const {
  Partitions partitions;
  for (const auto& [partition, lane] : reading_) {
    if (!excluded.contains(partition)) partitions.push_back(partition);
  }
  return partitions;
}

std::optional<SourceEvent> Assignment::OnAssigned(const Partitions& partitions) {
  pending_ = Pending::kAssign;
  undecided_ = {partitions.begin(), partitions.end()};
  starting_.clear();
  if (!undecided_.empty()) return PartitionsAssigned{.partitions = {undecided_.begin(), undecided_.end()}};
  const auto holds = HoldLanes();
  const Status answered = FinishAssign();
  if (answered.ok()) return std::nullopt;
  return SourceTrouble{.error = answered.error(), .partition = std::nullopt};
}

std::optional<SourceEvent> Assignment::OnRevoked(const Partitions& partitions, bool lost) {
  pending_ = Pending::kRevoke;
  leaving_.clear();
  undecided_.clear();
  for (const auto& partition : partitions) {
    if (reading_.contains(partition)) undecided_.insert(partition);
  }
  if (!undecided_.empty()) {
    return PartitionsRevoked{.partitions = {undecided_.begin(), undecided_.end()}, .lost = lost};
  }
  const auto holds = HoldLanes();
  const Status answered = FinishRevoke();
  if (answered.ok()) return std::nullopt;
  return SourceTrouble{.error = answered.error(), .partition = std::nullopt};
}

Status Assignment::Start(const record::Positions& positions) {
  for (const auto& [partition, position] : positions) {
    if (reading_.contains(partition)) {
      return Error(ErrorKind::kInternal, fmt::format("{} is being read already", Name(partition)));
    }
    starting_[partition] = position;
    undecided_.erase(partition);
  }
  if (pending_ == Pending::kRevoke) {
    return Error(ErrorKind::kInternal, "partitions cannot start while others wait to be released");
  }
  if (!undecided_.empty()) return Ok();
  const auto holds = HoldLanes();
  return FinishAssign();
}

Status Assignment::FinishAssign() {
  const record::Positions starting = std::exchange(starting_, {});
  pending_ = Pending::kNone;
  Partitions partitions;
  for (const auto& [partition, position] : starting) {
    Lane& lane = LeastLoaded();
    lane.Begin(partition, position);
    reading_[partition] = &lane;
    partitions.push_back(partition);
  }
  FIRN_TRY(AssignInLibrary(partitions));
  return SeekInLibrary(ReadingWithout(starting));
}

Status Assignment::Release(const Partitions& partitions) {
  const auto holds = HoldLanes();
  for (const auto& partition : partitions) {
    undecided_.erase(partition);
    starting_.erase(partition);
    lagging_.erase(partition);
    const auto reading = reading_.find(partition);
    if (reading == reading_.end()) continue;
    reading->second->End(partition);
    reading_.erase(reading);
    leaving_.push_back(partition);
  }
  if (pending_ == Pending::kRevoke) return undecided_.empty() ? FinishRevoke() : Ok();
  const Partitions leaving = std::exchange(leaving_, {});
  if (!leaving.empty()) FIRN_TRY(UnassignInLibrary(leaving));
  return pending_ == Pending::kAssign && undecided_.empty() ? FinishAssign() : Ok();
}

Status Assignment::FinishRevoke() {
  const Partitions leaving = std::exchange(leaving_, {});
  pending_ = Pending::kNone;
  FIRN_TRY(UnassignInLibrary(leaving));
  return SeekInLibrary(ReadingWithout({}));
}

Status Assignment::Seek(const record::Positions& positions) {
  const auto holds = HoldLanes();
  Partitions partitions;
  for (const auto& [partition, position] : positions) {
    const auto reading = reading_.find(partition);
    if (reading == reading_.end()) {
      return Error(ErrorKind::kInternal,
                   fmt::format("{} is not being read: it cannot be sought", Name(partition)));
    }
    reading->second->MoveTo(partition, position);
    partitions.push_back(partition);
  }
  return SeekInLibrary(partitions);
}

Status Assignment::Resume(const record::SourcePartition& partition) {
  const auto holds = HoldLanes();
  const auto reading = reading_.find(partition);
  if (reading == reading_.end()) return Ok();
  reading->second->Reopen(partition);
  return SeekInLibrary({partition});
}

void Assignment::Stop(const std::string& topic) {
  const auto holds = HoldLanes();
  for (const auto& [partition, lane] : reading_) {
    if (partition.topic == topic) lane->Close(partition);
  }
}

Status Assignment::AssignInLibrary(const Partitions& partitions) {
  const PartitionListPtr list = ListOf(partitions);
  for (int i = 0; i < list->cnt; ++i)
    list->elems[i].offset = next(partitions[static_cast<size_t>(i)]).value_or(0);
  return StatusOf(rd_kafka_incremental_assign(client_.handle(), list.get()), "taking partitions");
}

Status Assignment::UnassignInLibrary(const Partitions& partitions) {
  const PartitionListPtr list = ListOf(partitions);
  FIRN_TRY(StatusOf(rd_kafka_incremental_unassign(client_.handle(), list.get()), "giving partitions up"));
  AwaitStop(partitions);
  return Ok();
}

void Assignment::AwaitStop(const Partitions& partitions) {
  if (partitions.empty()) return;
  // Stopping a partition undoes its forwarding, on librdkafka's own thread. A seek queues behind the stop and
  // is refused after it, whatever it says: its answer is the sign.
  const PartitionListPtr list = ListOf(partitions);
  for (int i = 0; i < list->cnt; ++i) list->elems[i].offset = 0;
  const ErrorPtr ignored(rd_kafka_seek_partitions(client_.handle(), list.get(), kSeekTimeoutMs));
}

Status Assignment::SeekInLibrary(const Partitions& partitions) {
  if (!partitions.empty()) {
    const PartitionListPtr list = ListOf(partitions);
    for (int i = 0; i < list->cnt; ++i)
      list->elems[i].offset = next(partitions[static_cast<size_t>(i)]).value_or(0);
    FIRN_TRY(StatusOf(rd_kafka_seek_partitions(client_.handle(), list.get(), kSeekTimeoutMs), "seeking"));
    for (const auto& partition : PartitionsOf(*list)) {
      const auto* sought =
          rd_kafka_topic_partition_list_find(list.get(), partition.topic.c_str(), partition.partition);
      if (sought->err != RD_KAFKA_RESP_ERR_NO_ERROR) lagging_.insert(partition);
    }
  }
  return RestartLagging();
}

Status Assignment::RestartLagging() {
  // While a rebalance waits, librdkafka would take these calls for its answer.
  if (pending_ != Pending::kNone || lagging_.empty()) return Ok();
  const Partitions partitions(lagging_.begin(), lagging_.end());
  lagging_.clear();
  FIRN_TRY(UnassignInLibrary(partitions));
  for (const auto& partition : partitions) reading_.at(partition)->Forward(partition);
  return AssignInLibrary(partitions);
}

void Assignment::AnswerWhileClosing(rd_kafka_event_t* event) {
  if (rd_kafka_event_type(event) != RD_KAFKA_EVENT_REBALANCE) return;
  // Everything was given up already; librdkafka only waits for the calls.
  const PartitionListPtr none = ListOf({});
  const bool assigned = rd_kafka_event_error(event) == RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS;
  const ErrorPtr error(assigned ? rd_kafka_incremental_assign(client_.handle(), none.get())
                                : rd_kafka_incremental_unassign(client_.handle(), none.get()));
  if (error == nullptr) return;
  obs::Log(obs::Level::kWarning, "leaving the group", {{"error", rd_kafka_error_string(error.get())}});
}

Assignment::Partitions Assignment::Abandon() {
  const auto holds = HoldLanes();
  Partitions held = ReadingWithout({});
  for (const auto& [partition, lane] : reading_) lane->End(partition);
  for (const auto& [partition, position] : starting_) held.push_back(partition);
  reading_.clear();
  undecided_.clear();
  starting_.clear();
  leaving_.clear();
  lagging_.clear();
  pending_ = Pending::kNone;
  return held;
}

void Assignment::Close(int timeout_ms) {
  const auto holds = HoldLanes();
  Partitions held = ReadingWithout({});
  held.insert(held.end(), leaving_.begin(), leaving_.end());
  for (const auto& [partition, lane] : reading_) lane->End(partition);
  reading_.clear();
  if (pending_ == Pending::kAssign) Ignore(AssignInLibrary({}));  // nothing of it is wanted any more
  if (!held.empty() || pending_ == Pending::kRevoke) Ignore(UnassignInLibrary(held));
  pending_ = Pending::kNone;

  const auto deadline = Clock::now() + std::chrono::milliseconds(timeout_ms);
  const ErrorPtr error(rd_kafka_consumer_close_queue(client_.handle(), client_.events()));
  while (error == nullptr && !rd_kafka_consumer_closed(client_.handle()) && Clock::now() < deadline) {
    const EventPtr event(rd_kafka_queue_poll(client_.events(), kClosePollMs));
    if (event != nullptr) AnswerWhileClosing(event.get());
  }
}

}  // namespace firn::source::kafka
