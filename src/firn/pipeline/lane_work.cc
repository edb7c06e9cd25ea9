#include "firn/pipeline/lane_work.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "firn/commit/protocol/fence.h"

namespace firn::pipeline {

namespace {

constexpr int kPollTimeoutMs = 50;
constexpr int kImpatientPollTimeoutMs = 5;  // records wait for their table
constexpr int64_t kMaxWaitingBytes = int64_t{8} << 20;

}  // namespace

LaneWork::LaneWork(const LaneConfig& config, source::Source& source, const DecoderFactory& make_decoder,
                   Sorter sorter, const TargetPtr& unrouted, LaneBoard& board)
    : config_(config),
      source_(source),
      make_decoder_(make_decoder),
      sorter_(std::move(sorter)),
      board_(board),
      sorting_(*config.clock),
      unrouted_(config_, make_decoder_, board_) {
  unrouted_.SetTarget(unrouted);
}

void LaneWork::Discard() {
  for (auto& [id, slot] : slots_) slot.table.Discard();
}

Status LaneWork::Step(bool poll) {
  bool waits = false;
  for (auto& [id, slot] : slots_) {
    if (!slot.table.waits()) continue;
    if (slot.table.wants_decoder()) MakeRoomForDecoder();
    FIRN_TRY(slot.table.TakeWaiting());
    waits = waits || slot.table.waits();
  }
  if (poll) {
    source::PollBudget budget;
    budget.timeout_ms = waits ? kImpatientPollTimeoutMs : kPollTimeoutMs;
    FIRN_ASSIGN(auto polled, source_.Poll(config_.source_index, budget));
    std::ranges::move(polled, std::back_inserter(polled_));
  }
  FIRN_TRY(DispatchPolled());
  PublishWaiting();
  return Ok();
}

// What cannot be sorted yet holds up what came after it.
Status LaneWork::DispatchPolled() {
  while (!polled_.empty() && sorting_.over()) {
    Status prepared = sorter_.Prepare(polled_.front());
    if (!prepared.ok()) {
      if (prepared.error().retry() == RetryHint::kNo) return prepared;
      if (sorting_.Again())
        board_.Request({nullptr, TableRequest::Kind::kTrouble, nullptr, {}, 0, std::move(prepared).error()});
      return Ok();
    }
    sorting_.Succeeded();
    record::RawBatch raw = std::move(polled_.front());
    polled_.pop_front();
    FIRN_TRY(Dispatch(std::move(raw)));
  }
  return Ok();
}

Status LaneWork::Dispatch(record::RawBatch raw) {
  if (const auto end = ends_.find(raw.partition); end != ends_.end() && raw.range.from >= end->second)
    return Ok();
  Clip(raw);
  board_.bytes_total.fetch_add(record::PayloadBytes(raw), std::memory_order_relaxed);
  FIRN_TRY(commit::JoinRange(read_, raw.partition, raw.range));
  board_.waiting_bytes.fetch_add(1);  // before the position is told: see LaneBoard
  board_.TellPosition(raw.partition, raw.range.to);
  const record::SourcePartition partition = raw.partition;
  const record::PositionRange range = raw.range;
  Sorted sorted = sorter_.Sort(std::move(raw));
  if (!sorted.letters.empty() && !config_.only_target)
    FIRN_TRY(unrouted_.TakeLetters(partition, range, std::move(sorted.letters)));
  for (SortedRecords& part : sorted.parts) {
    if (config_.only_target && part.target->id != *config_.only_target) continue;
    LaneTable& table = TableOf(part.target);
    if (table.wants_decoder()) MakeRoomForDecoder();
    FIRN_TRY(table.Give(std::move(part.raw)));
  }
  return Ok();
}

// The end of a read of one table.
void LaneWork::Clip(record::RawBatch& raw) const {
  const auto end = ends_.find(raw.partition);
  if (end == ends_.end() || raw.range.to <= end->second) return;
  const auto first_beyond = std::ranges::lower_bound(raw.offsets, end->second);
  record::Truncate(raw, static_cast<size_t>(first_beyond - raw.offsets.begin()));
  raw.range.to = end->second;
  raw.range.last.reset();
  raw.range.cursor.reset();
}

LaneWork::Slot& LaneWork::SlotAt(uint32_t target) {
  const auto found = slots_.find(target);
  if (found != slots_.end()) return found->second;
  return slots_
      .emplace(std::piecewise_construct, std::forward_as_tuple(target),
               std::forward_as_tuple(config_, make_decoder_, board_))
      .first->second;
}

LaneTable& LaneWork::TableOf(const TargetPtr& target) {
  Slot& slot = SlotAt(target->id);
  slot.table.SetTarget(target);
  slot.last_used = ++uses_;
  return slot.table;
}

// The one that was used longest ago goes.
void LaneWork::MakeRoomForDecoder() {
  if (slots_.size() <= config_.max_decoders) return;
  size_t decoders = 0;
  Slot* oldest = nullptr;
  for (auto& [id, slot] : slots_) {
    if (!slot.table.has_decoder()) continue;
    ++decoders;
    if (oldest == nullptr || slot.last_used < oldest->last_used) oldest = &slot;
  }
  if (oldest != nullptr && decoders >= config_.max_decoders) oldest->table.DropDecoder();
}

bool LaneWork::full() const {
  const auto has_enough_letters = [this](const auto& slot) {
    return slot.second.table.letter_bytes() >= config_.max_letter_bytes;
  };
  return !polled_.empty() || board_.waiting_bytes.load(std::memory_order_relaxed) > kMaxWaitingBytes ||
         unrouted_.letter_bytes() >= config_.max_letter_bytes ||
         std::ranges::any_of(slots_, has_enough_letters);
}

void LaneWork::PublishWaiting() {
  int64_t bytes = 0;
  for (const auto& [id, slot] : slots_) bytes += slot.table.waiting_bytes();
  board_.waiting_bytes.store(bytes, std::memory_order_relaxed);
}

// --- orders

LaneCut LaneWork::Cut(const CutOrder& order) {
  LaneCut cut;
  cut.read = std::exchange(read_, {});
  const auto wanted = [&](const LaneTable& table) {
    return table.target() != nullptr && (order.all || order.targets.contains(table.target()->id));
  };
  int64_t filling = 0;
  for (auto& [id, slot] : slots_) {
    if (wanted(slot.table)) slot.table.CutInto(cut);
    slot.table.TellInto(cut);
    filling += slot.table.filling() ? 1 : 0;
  }
  if (wanted(unrouted_)) unrouted_.CutInto(cut);
  unrouted_.TellInto(cut);
  board_.filling_tables.store(filling, std::memory_order_relaxed);
  return cut;
}

void LaneWork::Offer(uint32_t target, TableOffer offer) {
  SlotAt(target).table.Offer(std::move(offer));
  PublishWaiting();
}

void LaneWork::DropWaiting() {
  polled_.clear();
  for (auto& [id, slot] : slots_) slot.table.DropWaiting();
  read_.clear();
  PublishWaiting();
}

void LaneWork::Forget(const std::vector<record::SourcePartition>& partitions) {
  std::erase_if(polled_, [&](const record::RawBatch& raw) {
    return std::ranges::find(partitions, raw.partition) != partitions.end();
  });
  for (auto& [id, slot] : slots_) slot.table.Forget(partitions);
  for (const record::SourcePartition& partition : partitions) read_.erase(partition);
  PublishWaiting();
}

}  // namespace firn::pipeline
