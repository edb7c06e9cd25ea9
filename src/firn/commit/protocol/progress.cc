#include "firn/commit/protocol/progress.h"

#include <xxhash.h>

#include <algorithm>
#include <charconv>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace firn::commit {

namespace {

using nlohmann::json;
using record::PartitionPosition;
using record::SourceIdentity;
using record::SourcePartition;

constexpr int kProgressVersion = 1;

Error Corrupt(std::string why) { return {ErrorKind::kCorrupt, "progress property: " + std::move(why)}; }

// One entry a topic and identity: {"topic","cluster","topic-id","at":{"<partition>":[next, offset, timestamp,
// "hash", {"at","text","base"}]}}; fingerprint and cursor are there where the source has them.
json EncodeCursor(const record::SourceCursor& cursor) {
  json entry = {{"at", cursor.at}, {"text", cursor.text}};
  if (cursor.base != nullptr) entry["base"] = *cursor.base;
  return entry;
}

json EncodePosition(const PartitionPosition& position) {
  json entry = json::array({position.next});
  if (position.last) {
    entry.push_back(position.last->offset);
    entry.push_back(position.last->timestamp_ms);
    entry.push_back(fmt::format("{:016x}", position.last->hash));
  }
  if (position.cursor) entry.push_back(EncodeCursor(*position.cursor));
  return entry;
}

json EncodePositions(const record::Positions& positions) {
  json sources = json::array();
  const SourcePartition* previous = nullptr;
  const SourceIdentity* identity = nullptr;
  for (const auto& [partition, position] : positions) {
    if (previous == nullptr || previous->topic != partition.topic || !(*identity == position.identity)) {
      sources.push_back({{"topic", partition.topic}, {"at", json::object()}});
      if (!position.identity.cluster_id.empty()) sources.back()["cluster"] = position.identity.cluster_id;
      if (!position.identity.topic_id.empty()) sources.back()["topic-id"] = position.identity.topic_id;
    }
    previous = &partition;
    identity = &position.identity;
    sources.back()["at"][std::to_string(partition.partition)] = EncodePosition(position);
  }
  return sources;
}

Result<int32_t> ParsePartition(const std::string& text) {
  int32_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < 0)
    return Corrupt("partition \"" + text + "\"");
  return value;
}

Result<record::SourceCursor> DecodeCursor(const json& entry, int64_t next) {
  const auto at = entry.find("at");
  const auto text = entry.find("text");
  const auto base = entry.find("base");
  if (at == entry.end() || !at->is_number_integer() || text == entry.end() || !text->is_string() ||
      (base != entry.end() && !base->is_string())) {
    return Corrupt("a cursor needs \"at\" and \"text\"");
  }
  record::SourceCursor cursor{at->get<int64_t>(), text->get<std::string>()};
  if (cursor.at > next) return Corrupt("a cursor lies behind its position");
  if (base != entry.end()) cursor.base = std::make_shared<const std::string>(base->get<std::string>());
  return cursor;
}

Result<PartitionPosition> DecodePosition(const json& entry, const SourceIdentity& identity) {
  const size_t numbers = !entry.is_array()                            ? 0
                         : !entry.empty() && entry.back().is_object() ? entry.size() - 1
                                                                      : entry.size();
  if (numbers != 1 && numbers != 4)
    return Corrupt("a position is [next] or [next, offset, time, hash], with or without a cursor");
  for (size_t i = 0; i < numbers && i < 3; ++i) {
    if (!entry[i].is_number_integer()) return Corrupt("a position holds something that is not an integer");
  }
  PartitionPosition position{entry[0].get<int64_t>(), identity, std::nullopt};
  if (entry.size() > numbers) {
    FIRN_ASSIGN(position.cursor, DecodeCursor(entry.back(), position.next));
  }
  if (numbers == 1) return position;
  if (!entry[3].is_string()) return Corrupt("a fingerprint's hash is not text");
  const auto& hex = entry[3].get_ref<const std::string&>();
  record::Fingerprint last{entry[1].get<int64_t>(), entry[2].get<int64_t>(), 0};
  auto [end, error] = std::from_chars(hex.data(), hex.data() + hex.size(), last.hash, 16);
  if (error != std::errc{} || end != hex.data() + hex.size()) return Corrupt("fingerprint \"" + hex + "\"");
  position.last = last;
  return position;
}

Status DecodeSource(const json& source, record::Positions& out) {
  if (!source.is_object() || !source.contains("topic") || !source["topic"].is_string() ||
      !source.contains("at") || !source["at"].is_object()) {
    return Corrupt("a source needs \"topic\" and \"at\"");
  }
  SourceIdentity identity;
  if (auto it = source.find("cluster"); it != source.end() && it->is_string())
    identity.cluster_id = it->get<std::string>();
  if (auto it = source.find("topic-id"); it != source.end() && it->is_string())
    identity.topic_id = it->get<std::string>();
  const std::string topic = source["topic"].get<std::string>();
  for (const auto& [key, entry] : source["at"].items()) {
    FIRN_ASSIGN(int32_t partition, ParsePartition(key));
    FIRN_ASSIGN(auto position, DecodePosition(entry, identity));
    out.insert_or_assign(SourcePartition{topic, partition}, std::move(position));
  }
  return Ok();
}

template <typename T>
Result<T> Get(const json& object, const char* key) {
  auto it = object.find(key);
  if (it == object.end()) return Corrupt(fmt::format("\"{}\" is missing", key));
  bool fits = false;
  if constexpr (std::is_same_v<T, std::string>) {
    fits = it->is_string();
  } else {
    fits = it->is_number_integer();
  }
  if (!fits) return Corrupt(fmt::format("\"{}\" has the wrong type", key));
  return it->get<T>();
}

}  // namespace

std::string EncodePositionMap(const record::Positions& positions) {
  return EncodePositions(positions).dump();
}

Result<record::Positions> DecodePositionMap(std::string_view text) {
  const json sources = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!sources.is_array()) return Corrupt("\"sources\" is not a list");
  record::Positions positions;
  for (const json& source : sources) FIRN_TRY(DecodeSource(source, positions));
  return positions;
}

std::string ProgressKey(std::string_view pipeline_id, std::string_view branch) {
  std::string key = fmt::format("firn.progress.{}", pipeline_id);
  if (branch != iceberg::kMainBranch) key += fmt::format("@{}", branch);
  return key;
}

std::string EncodeProgress(const Progress& progress) {
  json object = {{"v", kProgressVersion},           {"table", progress.table_uuid},
                 {"branch", progress.branch},       {"snapshot", progress.snapshot_id},
                 {"seq", progress.sequence_number}, {"epoch", progress.epoch},
                 {"commit", progress.commit_id},    {"sources", EncodePositions(progress.positions)}};
  return object.dump();
}

Result<Progress> DecodeProgress(std::string_view text) {
  json object = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!object.is_object()) return Corrupt("not a JSON object");
  FIRN_ASSIGN(int64_t version, Get<int64_t>(object, "v"));
  if (version != kProgressVersion)
    return Corrupt(fmt::format("version {} was written by a newer Firn", version));
  Progress progress;
  FIRN_ASSIGN(progress.table_uuid, Get<std::string>(object, "table"));
  FIRN_ASSIGN(progress.branch, Get<std::string>(object, "branch"));
  FIRN_ASSIGN(progress.snapshot_id, Get<int64_t>(object, "snapshot"));
  FIRN_ASSIGN(progress.sequence_number, Get<int64_t>(object, "seq"));
  FIRN_ASSIGN(progress.epoch, Get<int64_t>(object, "epoch"));
  FIRN_ASSIGN(progress.commit_id, Get<std::string>(object, "commit"));
  auto sources = object.find("sources");
  if (sources == object.end() || !sources->is_array()) return Corrupt("\"sources\" is missing");
  for (const json& source : *sources) FIRN_TRY(DecodeSource(source, progress.positions));
  return progress;
}

Result<std::optional<Progress>> FindProgress(const iceberg::TableMetadata& table,
                                             std::string_view pipeline_id, std::string_view branch) {
  const std::string key = ProgressKey(pipeline_id, branch);
  auto it = table.properties.find(key);
  if (it == table.properties.end()) return std::optional<Progress>{};
  FIRN_ASSIGN_CTX(auto progress, DecodeProgress(it->second), "table property " + key);
  return std::optional<Progress>(std::move(progress));
}

std::string EncodeRanges(const record::PositionRanges& ranges, const record::Positions& merged) {
  json object = json::object();
  for (const auto& [partition, range] : ranges) {
    if (!range.empty()) object[partition.topic][std::to_string(partition.partition)] = {range.from, range.to};
  }
  const bool has_cursors =
      std::ranges::any_of(merged, [](const auto& entry) { return entry.second.cursor.has_value(); });
  if (merged.size() <= kWholeMapPartitions && !has_cursors) {
    for (const auto& [partition, position] : merged) {
      json& entry = object[partition.topic][std::to_string(partition.partition)];
      if (entry.is_null()) entry = {position.next, position.next};
    }
    object["*"] = true;
  }
  return object.dump();
}

Result<std::optional<record::Positions>> DecodeWholeMap(std::string_view ranges) {
  json object = json::parse(ranges, nullptr, /*allow_exceptions=*/false);
  if (!object.is_object()) return Error(ErrorKind::kCorrupt, "summary key firn.ranges: not a JSON object");
  if (!object.contains("*")) return std::optional<record::Positions>{};
  record::Positions positions;
  for (const auto& [topic, partitions] : object.items()) {
    if (topic == "*") continue;
    if (!partitions.is_object()) return Error(ErrorKind::kCorrupt, "summary key firn.ranges: topic " + topic);
    for (const auto& [key, range] : partitions.items()) {
      FIRN_ASSIGN(int32_t partition, ParsePartition(key));
      if (!range.is_array() || range.size() != 2 || !range[1].is_number_integer()) {
        return Error(ErrorKind::kCorrupt, "summary key firn.ranges: partition " + key + " of " + topic);
      }
      positions[{topic, partition}] = PartitionPosition{range[1].get<int64_t>(), {}, std::nullopt};
    }
  }
  return std::optional<record::Positions>(std::move(positions));
}

std::string CommitId(std::string_view pipeline_id, std::string_view table_uuid, std::string_view branch,
                     const record::PositionRanges& ranges) {
  std::string text = fmt::format("{}\n{}\n{}\n", pipeline_id, table_uuid, branch);
  for (const auto& [partition, range] : ranges) {
    if (range.empty()) continue;
    text += fmt::format("{}\t{}\t{}\t{}\t{}\t{}\n", partition.topic, partition.partition, range.from,
                        range.to, range.identity.cluster_id, range.identity.topic_id);
  }
  const XXH128_hash_t hash = XXH3_128bits(text.data(), text.size());
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

}  // namespace firn::commit
