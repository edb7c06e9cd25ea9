#include "firn/pipeline/letter_source.h"

#include <algorithm>
#include <utility>

namespace firn::pipeline {

namespace {

using record::SourcePartition;

constexpr int kIdlePauseMs = 5;

record::Slice Append(record::Arena& arena, const std::optional<std::string>& bytes) {
  if (!bytes) return {};
  return {arena.Append(*bytes), static_cast<uint32_t>(bytes->size())};
}

void Append(record::RawBatch& raw, const record::DeadLetter& letter) {
  const auto index = static_cast<uint32_t>(raw.size());
  raw.offsets.push_back(letter.offset);
  raw.timestamps_ms.push_back(letter.timestamp_ms);
  raw.keys.push_back(Append(raw.arena, letter.key));
  raw.values.push_back(Append(raw.arena, letter.value));
  for (const auto& [name, value] : letter.headers)
    raw.headers.push_back({index, Append(raw.arena, name), Append(raw.arena, value)});
  if (raw.file != nullptr) raw.lines.push_back(letter.line);
}

size_t SizeOf(const record::DeadLetter& letter) {
  return (letter.key ? letter.key->size() : 0) + (letter.value ? letter.value->size() : 0);
}

}  // namespace

LetterSource::LetterSource(std::shared_ptr<const LettersByPartition> letters, std::string cluster_id,
                           int lanes, runtime::Clock& clock)
    : letters_(std::move(letters)), identity_{std::move(cluster_id), ""}, lanes_(lanes), clock_(clock) {}

source::PartitionBounds LetterSource::BoundsOf(const std::vector<record::DeadLetter>& letters) const {
  return {letters.front().offset, letters.back().offset + 1, identity_};
}

Result<std::map<SourcePartition, source::PartitionBounds>> LetterSource::ListPartitions() {
  std::map<SourcePartition, source::PartitionBounds> bounds;
  for (const auto& [partition, letters] : *letters_) bounds[partition] = BoundsOf(letters);
  return bounds;
}

Result<std::map<SourcePartition, source::PartitionBounds>> LetterSource::Bounds(
    const std::vector<SourcePartition>& partitions) {
  std::map<SourcePartition, source::PartitionBounds> bounds;
  for (const SourcePartition& partition : partitions) {
    const auto letters = letters_->find(partition);
    if (letters == letters_->end()) return Error(ErrorKind::kNotFound, "no letters of " + partition.topic);
    bounds[partition] = BoundsOf(letters->second);
  }
  return bounds;
}

Result<record::Positions> LetterSource::ResolveStart(const std::vector<SourcePartition>& partitions) {
  FIRN_ASSIGN(const auto bounds, Bounds(partitions));
  record::Positions start;
  for (const auto& [partition, bound] : bounds) start[partition] = {bound.first, identity_, std::nullopt};
  return start;
}

Status LetterSource::Subscribe(bool /*bounded*/) {
  source::PartitionsAssigned assigned;
  for (const auto& [partition, letters] : *letters_) assigned.partitions.push_back(partition);
  const std::lock_guard lock(mutex_);
  events_.emplace_back(std::move(assigned));
  return Ok();
}

Result<std::vector<source::SourceEvent>> LetterSource::PollControl(int timeout_ms) {
  if (timeout_ms > 0) clock_.SleepMs(std::min(timeout_ms, kIdlePauseMs));
  const std::lock_guard lock(mutex_);
  return std::exchange(events_, {});
}

Status LetterSource::Start(const record::Positions& positions) {
  const std::lock_guard lock(mutex_);
  for (const auto& [partition, position] : positions) {
    const auto index = static_cast<int>(std::distance(letters_->begin(), letters_->find(partition)));
    reading_[partition] = {position.next, index % lanes_};
  }
  return Ok();
}

Status LetterSource::Release(const std::vector<SourcePartition>& partitions) {
  const std::lock_guard lock(mutex_);
  for (const SourcePartition& partition : partitions) reading_.erase(partition);
  return Ok();
}

Result<std::vector<record::RawBatch>> LetterSource::Poll(int lane, const source::PollBudget& budget) {
  std::vector<record::RawBatch> batches;
  {
    const std::lock_guard lock(mutex_);
    for (auto& [partition, reading] : reading_) {
      const bool ended = reading.next > letters_->at(partition).back().offset;
      if (reading.lane == lane && !ended) batches.push_back(Take(partition, reading, budget));
    }
  }
  if (batches.empty()) clock_.SleepMs(kIdlePauseMs);
  return batches;
}

// At least one letter; letters of one file, where they come from files, so that each keeps its own.
record::RawBatch LetterSource::Take(const SourcePartition& partition, Reading& reading,
                                    const source::PollBudget& budget) const {
  const std::vector<record::DeadLetter>& letters = letters_->at(partition);
  auto letter = std::ranges::lower_bound(letters, reading.next, {}, &record::DeadLetter::offset);
  record::RawBatch raw;
  raw.partition = partition;
  raw.range = {reading.next, letter->offset + 1, identity_, std::nullopt};
  if (!letter->file.empty())
    raw.file = std::make_shared<record::FileOrigin>(record::FileOrigin{letter->file, ""});
  const std::string& file = letter->file;
  for (size_t bytes = 0; letter != letters.end() && letter->file == file; ++letter) {
    bytes += SizeOf(*letter);
    if (raw.size() > 0 && (bytes > budget.max_bytes || raw.size() >= budget.max_records)) break;
    Append(raw, *letter);
    raw.range.to = letter->offset + 1;
  }
  reading.next = raw.range.to;
  return raw;
}

}  // namespace firn::pipeline
