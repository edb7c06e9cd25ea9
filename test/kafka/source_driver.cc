// Runs one KafkaSource by commands on stdin (a JSON object a line) and tells what happens on stdout
// (likewise), so that a test in Python is the pipeline. The configuration is the first argument.

#include <atomic>
#include <iostream>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "firn/source/kafka/kafka_source.h"

namespace {

using firn::Error;
using firn::record::Positions;
using firn::record::SourcePartition;
using firn::source::PartitionBounds;
using firn::source::Source;
using json = nlohmann::json;
namespace kafka = firn::source::kafka;

std::mutex g_out;

void Tell(const json& line) {
  const std::lock_guard lock(g_out);
  std::cout << line.dump(-1, ' ', true, json::error_handler_t::replace) << std::endl;
}

json ErrorJson(const Error& error) {
  return {{"error", error.ToString()},
          {"kind", firn::ToString(error.kind())},
          {"retry", error.retry() == firn::RetryHint::kYes}};
}

template <typename T, typename Show>
void Answer(const firn::Result<T>& result, Show show) {
  json line = {{"type", "answer"}};
  if (result.ok()) {
    line["ok"] = show(*result);
  } else {
    line.update(ErrorJson(result.error()));
  }
  Tell(line);
}

void Answer(const firn::Status& status) {
  json line = {{"type", "answer"}};
  if (status.ok()) {
    line["ok"] = true;
  } else {
    line.update(ErrorJson(status.error()));
  }
  Tell(line);
}

json PartitionJson(const SourcePartition& partition) {
  return json::array({partition.topic, partition.partition});
}

json PartitionsJson(const std::vector<SourcePartition>& partitions) {
  json all = json::array();
  for (const auto& partition : partitions) all.push_back(PartitionJson(partition));
  return all;
}

json IdentityJson(const firn::record::SourceIdentity& identity) {
  return {{"cluster_id", identity.cluster_id}, {"topic_id", identity.topic_id}};
}

json FingerprintJson(const std::optional<firn::record::Fingerprint>& print) {
  if (!print) return nullptr;
  return {{"offset", print->offset}, {"timestamp_ms", print->timestamp_ms}, {"hash", print->hash}};
}

json BoundsJson(const std::map<SourcePartition, PartitionBounds>& bounds) {
  json all = json::array();
  for (const auto& [partition, bound] : bounds) {
    all.push_back({{"partition", PartitionJson(partition)},
                   {"first", bound.first},
                   {"end", *bound.end},
                   {"identity", IdentityJson(bound.identity)}});
  }
  return all;
}

json PositionsJson(const Positions& positions) {
  json all = json::array();
  for (const auto& [partition, position] : positions) {
    all.push_back({{"partition", PartitionJson(partition)},
                   {"next", position.next},
                   {"identity", IdentityJson(position.identity)}});
  }
  return all;
}

/// {"topic:0": 17, ...}
Positions PositionsOf(const json& object) {
  Positions positions;
  for (const auto& [name, next] : object.items()) {
    const size_t colon = name.rfind(':');
    positions[{.topic = name.substr(0, colon), .partition = std::stoi(name.substr(colon + 1))}].next = next;
  }
  return positions;
}

std::vector<SourcePartition> PartitionsOf(const json& array) {
  std::vector<SourcePartition> partitions;
  for (const auto& pair : array) partitions.push_back({.topic = pair[0], .partition = pair[1]});
  return partitions;
}

json EventJson(const firn::source::SourceEvent& event) {
  struct Visitor {
    json operator()(const firn::source::PartitionsAssigned& e) const {
      return {{"type", "assigned"}, {"partitions", PartitionsJson(e.partitions)}};
    }
    json operator()(const firn::source::PartitionsRevoked& e) const {
      return {{"type", "revoked"}, {"partitions", PartitionsJson(e.partitions)}, {"lost", e.lost}};
    }
    json operator()(const firn::source::SourceTrouble& e) const {
      json line = ErrorJson(e.error);
      line["type"] = "trouble";
      if (e.partition) line["partition"] = PartitionJson(*e.partition);
      return line;
    }
    json operator()(const firn::source::SourceRecovered&) const { return {{"type", "recovered"}}; }
    json operator()(const firn::source::PartitionEnded&) const { return {{"type", "ended"}}; }
  };
  return std::visit(Visitor{}, event);
}

json BatchJson(const firn::record::RawBatch& batch, int lane, bool values) {
  json line = {{"type", "batch"},
               {"lane", lane},
               {"partition", PartitionJson(batch.partition)},
               {"from", batch.range.from},
               {"to", batch.range.to},
               {"offsets", batch.offsets},
               {"last", FingerprintJson(batch.range.last)}};
  if (!values) return line;
  json& rows = line["records"] = json::array();
  for (size_t i = 0; i < batch.size(); ++i) {
    const bool no_key = batch.keys[i].is_null();
    const bool no_value = batch.values[i].is_null();
    rows.push_back({no_key ? json() : json(std::string(batch.key(i))),
                    no_value ? json() : json(std::string(batch.value(i))), batch.timestamps_ms[i]});
  }
  json& headers = line["headers"] = json::array();
  for (const auto& header : batch.headers) {
    const auto text = [&](const firn::record::Slice& slice) {
      return slice.is_null() ? json() : json(std::string(batch.arena.View(slice.begin, slice.length)));
    };
    headers.push_back({header.record, text(header.name), text(header.value)});
  }
  return line;
}

kafka::KafkaConfig ConfigOf(const json& object) {
  kafka::KafkaConfig config;
  config.bootstrap_servers = object.at("bootstrap_servers");
  config.topics = object.value("topics", std::vector<std::string>());
  config.topics_pattern = object.value("topics_pattern", "");
  config.group_id = object.value("group_id", "firn-driver");
  config.group_instance_id = object.value("group_instance_id", "");
  config.headers = object.value("headers", false);
  config.properties = object.value("properties", std::map<std::string, std::string>());
  if (object.value("isolation_level", "read_committed") == "read_uncommitted") {
    config.isolation_level = kafka::IsolationLevel::kReadUncommitted;
  }
  if (object.value("start_at", "earliest") == "latest") config.starting_offsets.at = kafka::StartAt::kLatest;
  if (object.contains("starting_timestamp_ms"))
    config.starting_timestamp_ms = object["starting_timestamp_ms"];
  if (object.contains("starting_offsets")) {
    config.starting_offsets.at = kafka::StartAt::kOffsets;
    for (const auto& [partition, position] : PositionsOf(object["starting_offsets"])) {
      config.starting_offsets.offsets[partition.topic][partition.partition] = position.next;
    }
  }
  return config;
}

class Driver {
 public:
  Driver(std::unique_ptr<Source> source, const json& config)
      : source_(std::move(source)),
        lane_count_(config.value("lanes", 2)),
        values_(config.value("values", false)) {}

  void Run() {
    std::jthread reader([this](const std::stop_token&) { ReadCommands(); });
    while (!done_) {
      Serve();
      const auto command = NextCommand();
      if (command) Do(*command);
    }
    StopLanes();
    source_->Close();
    Tell({{"type", "closed"}});
  }

 private:
  void ReadCommands() {
    std::string line;
    while (std::getline(std::cin, line)) {
      const std::lock_guard lock(commands_mutex_);
      commands_.push_back(json::parse(line));
    }
    const std::lock_guard lock(commands_mutex_);
    commands_.push_back({{"do", "close"}});
  }

  std::optional<json> NextCommand() {
    const std::lock_guard lock(commands_mutex_);
    if (commands_.empty()) return std::nullopt;
    json command = commands_.front();
    commands_.erase(commands_.begin());
    return command;
  }

  void Serve() {
    if (!subscribed_) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      return;
    }
    const auto events = source_->PollControl(20);
    if (!events.ok()) return Tell(ErrorJson(events.error()));
    for (const auto& event : *events) Tell(EventJson(event));
  }

  void Do(const json& command) {
    const std::string verb = command.at("do");
    if (verb == "close") done_ = true;  // also at the end of stdin
    if (verb == "open") Answer(source_->Open());
    if (verb == "subscribe") Subscribe(command.value("bounded", false));
    if (verb == "start") Start(PositionsOf(command.at("positions")));
    if (verb == "release") Answer(source_->Release(PartitionsOf(command.at("partitions"))));
    if (verb == "seek") Seek(PositionsOf(command.at("positions")));
    if (verb == "list") Answer(source_->ListPartitions(), BoundsJson);
    if (verb == "bounds") Answer(source_->Bounds(PartitionsOf(command.at("partitions"))), BoundsJson);
    if (verb == "resolve")
      Answer(source_->ResolveStart(PartitionsOf(command.at("partitions"))), PositionsJson);
    if (verb == "notes") Answer(source_->GroupNotes(), [](const auto& notes) { return json(notes); });
    if (verb == "acknowledge") Acknowledge(command);
    if (verb == "fingerprint") Fingerprint(command);
    if (verb == "prefetched") Tell({{"type", "answer"}, {"ok", source_->prefetched_bytes()}});
  }

  void Start(Positions positions) {
    std::vector<SourcePartition> partitions;
    for (const auto& [partition, position] : positions) partitions.push_back(partition);
    const auto bounds = source_->Bounds(partitions);
    if (!bounds.ok()) return Answer(firn::Status(bounds.error()));
    for (auto& [partition, position] : positions) position.identity = bounds->at(partition).identity;
    Answer(source_->Start(positions));
  }

  void Subscribe(bool bounded) {
    const firn::Status status = source_->Subscribe(bounded);
    subscribed_ = status.ok();
    Answer(status);
    if (!subscribed_) return;
    for (int lane = 0; lane < lane_count_; ++lane) {
      lanes_.emplace_back([this, lane](const std::stop_token& stop) { ReadLane(lane, stop); });
    }
  }

  void ReadLane(int lane, const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      {
        const std::lock_guard lock(lane_mutexes_[static_cast<size_t>(lane)]);
        const auto batches = source_->Poll(lane, {.timeout_ms = 100});
        if (!batches.ok()) return Tell(ErrorJson(batches.error()));
        for (const auto& batch : *batches) Tell(BatchJson(batch, lane, values_));
      }
      while (still_) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }

  void Seek(const Positions& positions) {
    still_ = true;
    std::vector<std::unique_lock<std::mutex>> still;
    for (int lane = 0; lane < lane_count_; ++lane)
      still.emplace_back(lane_mutexes_[static_cast<size_t>(lane)]);
    const firn::Status sought = source_->Seek(positions);
    Tell({{"type", "sought"}});
    Answer(sought);
    still_ = false;
  }

  void Acknowledge(const json& command) {
    source_->Acknowledge(PositionsOf(command.at("positions")), command.at("note"));
    Answer(firn::Ok());
  }

  void Fingerprint(const json& command) {
    const SourcePartition partition = PartitionsOf(json::array({command.at("partition")})).front();
    Answer(source_->FingerprintBefore(partition, command.at("position")), FingerprintJson);
  }

  void StopLanes() {
    for (auto& lane : lanes_) lane.request_stop();
    lanes_.clear();
  }

  std::unique_ptr<Source> source_;
  const int lane_count_;
  const bool values_;
  bool subscribed_ = false;
  bool done_ = false;
  std::atomic<bool> still_ = false;
  std::mutex lane_mutexes_[16];
  std::vector<std::jthread> lanes_;
  std::mutex commands_mutex_;
  std::vector<json> commands_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const json config = json::parse(argv[1]);
  kafka::KafkaDeps deps;
  deps.lanes = config.value("lanes", 2);
  deps.connect_timeout_ms = config.value("connect_timeout_ms", 15'000);
  deps.prefetch_bytes = config.value("prefetch_bytes", int64_t{64} << 20);
  auto source = kafka::MakeKafkaSource(ConfigOf(config), deps);
  if (!source.ok()) {
    Tell(ErrorJson(source.error()));
    return 2;
  }
  Driver(std::move(*source), config).Run();
  return 0;
}
