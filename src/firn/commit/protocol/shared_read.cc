#include "firn/commit/protocol/shared_read.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "firn/commit/protocol/progress.h"

namespace firn::commit {

namespace {

using nlohmann::json;
using record::SourcePartition;

constexpr int kCompleteVersion = 1;

Error Corrupt(std::string_view why) {
  return {ErrorKind::kCorrupt, fmt::format("property firn.complete: {}", why)};
}

Error TakenTwice(const SourcePartition& partition, int64_t at, int64_t from) {
  return {ErrorKind::kInternal,
          fmt::format("{}[{}]: records from {} on were taken again, up to {} they are in", partition.topic,
                      partition.partition, from, at)};
}

json EncodeBehind(const PendingFrom& pending) {
  json topics = json::object();
  for (const auto& [partition, from] : pending)
    topics[partition.topic][std::to_string(partition.partition)] = from;
  return topics;
}

Result<PendingFrom> DecodeBehind(const json& topics) {
  PendingFrom pending;
  if (!topics.is_object()) return Corrupt("\"behind\" holds no map of topics");
  for (const auto& [topic, partitions] : topics.items()) {
    if (!partitions.is_object()) return Corrupt("a topic of \"behind\" holds no partitions");
    for (const auto& [key, from] : partitions.items()) {
      int32_t number = -1;
      const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), number);
      if (error != std::errc{} || end != key.data() + key.size() || number < 0 || !from.is_number_integer())
        return Corrupt("a position of \"behind\" is none");
      pending[{topic, number}] = from.get<int64_t>();
    }
  }
  return pending;
}

std::string TextOf(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

}  // namespace

void AddPending(PendingFrom& pending, const SourcePartition& partition, int64_t from) {
  const auto [it, fresh] = pending.try_emplace(partition, from);
  if (!fresh) it->second = std::min(it->second, from);
}

void AddPending(PendingFrom& pending, const record::PositionRanges& ranges) {
  for (const auto& [partition, range] : ranges) AddPending(pending, partition, range.from);
}

record::Positions LowerBound(const record::Positions& read, const PendingFrom& pending) {
  record::Positions bound = read;
  for (const auto& [partition, from] : pending) {
    const auto it = bound.find(partition);
    if (it == bound.end() || it->second.next <= from) continue;
    it->second.next = from;
    it->second.last.reset();  // it may lie above
    if (it->second.cursor && it->second.cursor->at > from) it->second.cursor.reset();
  }
  return bound;
}

int64_t TakesFrom(const record::Positions& table, const SourcePartition& partition, int64_t read_from) {
  const auto it = table.find(partition);
  return it == table.end() ? read_from : std::max(it->second.next, read_from);
}

record::PositionRanges JoinTableRanges(const record::Positions& table, const record::PositionRanges& taken,
                                       const record::Positions& reached,
                                       const std::set<SourcePartition>& apart) {
  record::PositionRanges ranges = taken;
  for (auto& [partition, range] : ranges) {
    const auto at = table.find(partition);
    if (at == table.end()) continue;
    if (range.from >= at->second.next) range.from = at->second.next;
  }
  for (const auto& [partition, read] : reached) {
    if (apart.contains(partition)) continue;
    auto range = ranges.find(partition);
    if (range == ranges.end()) {
      const auto at = table.find(partition);
      if (at == table.end() || at->second.next >= read.next) continue;
      range =
          ranges
              .emplace(partition, record::PositionRange{at->second.next, at->second.next, read.identity, {}})
              .first;
    }
    if (range->second.to >= read.next) continue;
    range->second.to = read.next;
    if (read.last) range->second.last = read.last;
    if (read.cursor) range->second.cursor = read.cursor;
  }
  return ranges;
}

Status JoinTaken(record::PositionRanges& taken, const SourcePartition& partition,
                 const record::PositionRange& next) {
  const auto [it, fresh] = taken.try_emplace(partition, next);
  if (fresh) return Ok();
  record::PositionRange& range = it->second;
  if (next.from < range.to || next.to < next.from) return TakenTwice(partition, range.to, next.from);
  range.to = next.to;
  range.identity = next.identity;
  if (next.last) range.last = next.last;
  if (next.cursor) range.cursor = next.cursor;
  return Ok();
}

std::string CompleteKey(std::string_view pipeline_id) { return fmt::format("firn.complete.{}", pipeline_id); }

std::string EncodeComplete(const Complete& complete) {
  json tables = json::object();
  for (const auto& [name, table] : complete.tables)
    tables[name] = {{"uuid", table.uuid}, {"rule", table.rule}, {"key", table.key}};
  json behind = json::object();
  for (const auto& [name, pending] : complete.behind) behind[name] = EncodeBehind(pending);
  const json object = {{"v", kCompleteVersion},
                       {"sources", json::parse(EncodePositionMap(complete.bound))},
                       {"tables", std::move(tables)},
                       {"behind", std::move(behind)}};
  // What a template took is bytes of the source, which need not be UTF-8.
  return object.dump(-1, ' ', false, json::error_handler_t::replace);
}

Result<Complete> DecodeComplete(std::string_view text) {
  const json object = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!object.is_object()) return Corrupt("not a JSON object");
  if (object.value("v", json()) != kCompleteVersion)
    return Corrupt("a version that this Firn does not know: use a newer one");
  if (!object.contains("sources") || !object.contains("tables") || !object["tables"].is_object() ||
      !object.contains("behind") || !object["behind"].is_object()) {
    return Corrupt("\"sources\", \"tables\" or \"behind\" is missing");
  }
  Complete complete;
  FIRN_ASSIGN(complete.bound, DecodePositionMap(object["sources"].dump()));
  for (const auto& [name, table] : object["tables"].items()) {
    if (!table.is_object()) return Corrupt("a table is no map");
    complete.tables[name] = {TextOf(table, "uuid"), TextOf(table, "rule"), TextOf(table, "key")};
  }
  for (const auto& [name, topics] : object["behind"].items()) {
    FIRN_ASSIGN(complete.behind[name], DecodeBehind(topics));
  }
  return complete;
}

Complete MergeComplete(const Complete& base, const Complete& ours) {
  Complete merged = base;
  for (const auto& [partition, position] : ours.bound) merged.bound[partition] = position;
  for (const auto& [name, table] : ours.tables) merged.tables[name] = table;
  for (auto& [name, pending] : merged.behind)
    std::erase_if(pending, [&](const auto& entry) { return ours.bound.contains(entry.first); });
  for (const auto& [name, pending] : ours.behind) {
    for (const auto& [partition, from] : pending) merged.behind[name][partition] = from;
  }
  std::erase_if(merged.behind, [](const auto& entry) { return entry.second.empty(); });
  return merged;
}

}  // namespace firn::commit
