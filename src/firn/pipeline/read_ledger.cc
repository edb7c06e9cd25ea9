#include "firn/pipeline/read_ledger.h"

#include <utility>

#include <fmt/format.h>

namespace firn::pipeline {

namespace {

// Cursors that are remembered of a partition: the bound needs one at or below it.
constexpr size_t kMaxCursors = 256;

}  // namespace

void ReadLedger::Start(const record::Positions& positions) {
  for (const auto& [partition, position] : positions) {
    read_[partition] = position;
    for (commit::PendingFrom& held : held_) held.erase(partition);
    cursors_.erase(partition);
    if (position.cursor) cursors_[partition].push_back(*position.cursor);
  }
}

void ReadLedger::Forget(const std::vector<record::SourcePartition>& partitions) {
  for (const record::SourcePartition& partition : partitions) {
    read_.erase(partition);
    cursors_.erase(partition);
    for (commit::PendingFrom& held : held_) held.erase(partition);
  }
}

Status ReadLedger::Take(size_t lane, const LaneCut& cut) {
  for (const auto& [partition, range] : cut.read) {
    const auto it = read_.find(partition);
    if (it == read_.end()) continue;
    record::PartitionPosition& position = it->second;
    if (range.from != position.next) {
      return Error(ErrorKind::kInternal,
                   fmt::format("{}[{}]: the source handed out [{}, {}) behind {}", partition.topic,
                               partition.partition, range.from, range.to, position.next));
    }
    position.next = range.to;
    position.identity = range.identity;
    if (range.last) position.last = range.last;
    if (!range.cursor) continue;
    position.cursor = range.cursor;
    std::deque<record::SourceCursor>& cursors = cursors_[partition];
    cursors.push_back(*range.cursor);
    if (cursors.size() > kMaxCursors) cursors.erase(cursors.begin() + 1);  // the oldest one is the safe one
  }
  held_.at(lane) = cut.pending;
  return Ok();
}

record::Positions ReadLedger::Bound(commit::PendingFrom pending) const {
  for (const commit::PendingFrom& held : held_) {
    for (const auto& [partition, from] : held) commit::AddPending(pending, partition, from);
  }
  record::Positions bound = commit::LowerBound(read_, pending);
  for (auto& [partition, position] : bound) {
    const auto cursors = cursors_.find(partition);
    if (position.cursor || cursors == cursors_.end()) continue;
    for (const record::SourceCursor& cursor : cursors->second) {
      if (cursor.at <= position.next) position.cursor = cursor;
    }
  }
  return bound;
}

}  // namespace firn::pipeline
