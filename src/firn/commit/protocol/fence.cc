#include "firn/commit/protocol/fence.h"

#include <fmt/format.h>

namespace firn::commit {

namespace {

// An identity that either side does not know cannot contradict.
bool SameLog(const record::SourceIdentity& a, const record::SourceIdentity& b) {
  const bool cluster = a.cluster_id.empty() || b.cluster_id.empty() || a.cluster_id == b.cluster_id;
  const bool topic = a.topic_id.empty() || b.topic_id.empty() || a.topic_id == b.topic_id;
  return cluster && topic;
}

}  // namespace

std::string FenceMismatch::ToString() const {
  return fmt::format("{}[{}]: the table stands at {}, the batch begins at {}", partition.topic,
                     partition.partition, table_at, batch_from);
}

std::optional<FenceMismatch> CheckFence(const record::Positions& table, const record::PositionRanges& batch) {
  for (const auto& [partition, range] : batch) {
    auto it = table.find(partition);
    if (it == table.end()) continue;
    if (it->second.next != range.from || !SameLog(it->second.identity, range.identity)) {
      return FenceMismatch{partition, it->second.next, range.from};
    }
  }
  return std::nullopt;
}

record::Positions Advance(record::Positions positions, const record::PositionRanges& ranges) {
  FIRN_CHECK(!CheckFence(positions, ranges), "ranges that the fence refuses must not advance positions");
  for (const auto& [partition, range] : ranges) {
    FIRN_CHECK(range.from <= range.to, "positions never move backwards");
    record::PartitionPosition& position = positions[partition];
    position.next = range.to;
    if (!range.identity.cluster_id.empty()) position.identity.cluster_id = range.identity.cluster_id;
    if (!range.identity.topic_id.empty()) position.identity.topic_id = range.identity.topic_id;
    if (range.last) position.last = range.last;
    if (range.cursor) position.cursor = range.cursor;
  }
  return positions;
}

Status JoinRange(record::PositionRanges& ranges, const record::SourcePartition& partition,
                 const record::PositionRange& next) {
  auto [it, inserted] = ranges.try_emplace(partition, next);
  if (inserted) return Ok();
  record::PositionRange& range = it->second;
  if (range.to != next.from || next.to < next.from) {
    return Error(ErrorKind::kInternal,
                 fmt::format("{}[{}]: range [{}, {}) does not join [{}, {})", partition.topic,
                             partition.partition, next.from, next.to, range.from, range.to));
  }
  range.to = next.to;
  range.identity = next.identity;
  if (next.last) range.last = next.last;
  if (next.cursor) range.cursor = next.cursor;
  return Ok();
}

}  // namespace firn::commit
