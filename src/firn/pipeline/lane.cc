#include "firn/pipeline/lane.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "firn/commit/protocol/fence.h"
#include "firn/runtime/ids.h"
#include "firn/runtime/thread.h"

namespace firn::pipeline {

namespace {

constexpr int kPollTimeoutMs = 50;
constexpr int kImpatientPollTimeoutMs = 5;  // records wait for their table
constexpr auto kHeldPause = std::chrono::milliseconds(10);
constexpr auto kPatience = std::chrono::milliseconds(100);
constexpr int kQuietTries = 10;  // a first answer of a schema registry may take that long
constexpr int64_t kMaxWaitingBytes = int64_t{8} << 20;
constexpr size_t kSampleRecords = 1'000;
constexpr size_t kBytesPerRecord = 32;  // beside its payload

Error BadRecord(const record::DeadLetter& letter) {
  return Error(ErrorKind::kInvalidArgument,
               fmt::format("bad record at {}[{}] offset {}: {} ({})", letter.partition.topic,
                           letter.partition.partition, letter.offset, letter.message, letter.reason))
      .WithRemedy("Mend the record's producer or the columns, or choose on_bad_record: dead_letter.");
}

int64_t SizeOf(const record::DeadLetter& letter) {
  return static_cast<int64_t>(sizeof(letter) + letter.message.size() + (letter.key ? letter.key->size() : 0) +
                              (letter.value ? letter.value->size() : 0));
}

// Where the waiting records, and everything else of the process, cannot go on either.
bool OfTheProcess(const Error& error) {
  return error.kind() == ErrorKind::kResourceExhausted || error.kind() == ErrorKind::kCancelled;
}

}  // namespace

Lane::Lane(LaneConfig config, source::Source& source, const DecoderFactory& make_decoder, Sorter sorter,
           TargetPtr unrouted)
    : config_(std::move(config)), source_(source), make_decoder_(make_decoder), sorter_(std::move(sorter)) {
  unrouted_.target = std::move(unrouted);
}

Lane::~Lane() { Stop(); }

void Lane::Start() {
  thread_ = runtime::StartThread(fmt::format("lane-{}", config_.index),
                                 [this](const std::stop_token& /*stop*/) { Run(); });
}

void Lane::RequestCut(CutOrder order) {
  const std::lock_guard lock(mutex_);
  command_ = std::move(order);
  changed_.notify_all();
}

LaneCut Lane::CollectCut() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return cut_.has_value(); });
  LaneCut cut = *std::move(cut_);
  cut_.reset();
  return cut;
}

void Lane::Resume(bool drop_waiting) {
  const std::lock_guard lock(mutex_);
  drop_waiting_ = drop_waiting_ || drop_waiting;
  if (drop_waiting) positions_.clear();
  paused_ = false;
  changed_.notify_all();
}

void Lane::Offer(uint32_t target, TableOffer offer) {
  const std::lock_guard lock(mutex_);
  offers_[target] = std::move(offer);
  changed_.notify_all();
}

void Lane::Hold(bool hold) {
  const std::lock_guard lock(mutex_);
  held_ = hold;
  changed_.notify_all();
}

void Lane::SetEnds(std::map<record::SourcePartition, int64_t> ends) {
  const std::lock_guard lock(mutex_);
  ends_ = std::move(ends);
}

void Lane::Forget(const std::vector<record::SourcePartition>& partitions) {
  const std::lock_guard lock(mutex_);
  for (const record::SourcePartition& partition : partitions) {
    forget_.push_back(partition);
    positions_.erase(partition);
  }
  changed_.notify_all();
}

void Lane::Stop() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
    changed_.notify_all();
  }
  if (thread_.joinable()) thread_.join();
  for (auto& [id, slot] : slots_) slot.part.Discard();
  if (cut_) {
    for (LaneCut::Part& part : cut_->parts) part.part.Discard();
  }
}

std::optional<Error> Lane::error() const {
  const std::lock_guard lock(mutex_);
  return error_;
}

std::vector<TableRequest> Lane::TakeRequests() {
  if (!has_requests_.exchange(false)) return {};
  const std::lock_guard lock(mutex_);
  return std::exchange(requests_, {});
}

std::map<record::SourcePartition, int64_t> Lane::positions() const {
  const std::lock_guard lock(mutex_);
  return positions_;
}

void Lane::Run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return stop_ || command_ || (!paused_ && !error_); });
    if (stop_) return;
    TakeOrders();
    if (ServeCommand()) continue;
    const bool full = held_ || waiting_bytes_.load(std::memory_order_relaxed) > kMaxWaitingBytes;
    lock.unlock();
    Status status = Step(!full);
    lock.lock();
    if (!status.ok()) error_ = std::move(status).error();
    if (full && !command_ && !stop_) changed_.wait_for(lock, kHeldPause);
  }
}

// Called with the lock held, between two steps.
void Lane::TakeOrders() {
  if (std::exchange(drop_waiting_, false)) {
    for (auto& [id, slot] : slots_) {
      slot.waiting.clear();
      slot.asked_of.reset();
    }
    read_.clear();
    left_out_.clear();
  }
  for (auto& [id, slot] : slots_) {
    if (forget_.empty() || slot.waiting.empty()) continue;
    std::erase_if(slot.waiting, [this](const Waiting& waiting) {
      return std::ranges::find(forget_, waiting.raw.partition) != forget_.end();
    });
    if (slot.waiting.empty()) slot.asked_of.reset();
  }
  for (const record::SourcePartition& partition : std::exchange(forget_, {})) {
    read_.erase(partition);
    for (auto& [id, pending] : left_out_) pending.erase(partition);
  }
  for (auto& [id, offer] : std::exchange(offers_, {})) {
    Slot& slot = slots_[id];
    if (slot.failed) continue;
    slot.offer = std::move(offer);
    slot.opened = true;
    if (slot.closed()) LeaveOut(slot);
  }
  PublishWaiting();
}

// Hands parts over. Called with the lock held, between two steps.
bool Lane::ServeCommand() {
  if (!command_) return false;
  const CutOrder order = *std::exchange(command_, std::nullopt);
  paused_ = paused_ || order.pause;
  LaneCut cut;
  cut.read = std::exchange(read_, {});
  cut.left_out = std::exchange(left_out_, {});
  const auto wanted = [&](const Slot& slot) {
    return slot.target != nullptr && (order.all || order.targets.contains(slot.target->id));
  };
  for (auto& [id, slot] : slots_) {
    if (wanted(slot)) CutSlot(slot, cut);
    commit::AddPending(cut.pending, slot.part.taken);
    for (const Waiting& waiting : slot.waiting)
      commit::AddPending(cut.pending, waiting.raw.partition, waiting.from());
  }
  if (wanted(unrouted_)) CutSlot(unrouted_, cut);
  commit::AddPending(cut.pending, unrouted_.part.taken);
  cut_ = std::move(cut);
  filling_tables_.store(
      std::ranges::count_if(slots_, [](const auto& entry) { return entry.second.part.records > 0; }),
      std::memory_order_relaxed);
  changed_.notify_all();
  return true;
}

void Lane::CutSlot(Slot& slot, LaneCut& cut) {
  for (const Waiting& waiting : slot.waiting) slot.part.unsettled.insert(waiting.raw.partition);
  if (slot.part.taken.empty() && slot.part.unsettled.empty()) return;
  Count(slot, -slot.part.records, -slot.part.input_bytes, -slot.part.dead_letter_bytes);
  cut.parts.push_back({slot.target, std::exchange(slot.part, BatchPart{})});
  slot.writer_view_version = -1;
}

Lane::Slot& Lane::SlotOf(const TargetPtr& target) {
  Slot& slot = slots_[target->id];
  if (slot.target == nullptr) slot.target = target;
  slot.last_used = ++uses_;
  return slot;
}

Status Lane::Step(bool poll) {
  bool waits = false;
  for (auto& [id, slot] : slots_) {
    if (slot.waiting.empty()) continue;
    FIRN_TRY(TakeWaiting(slot));
    waits = waits || !slot.waiting.empty();
  }
  if (poll) {
    source::PollBudget budget;
    budget.timeout_ms = waits ? kImpatientPollTimeoutMs : kPollTimeoutMs;
    FIRN_ASSIGN(auto polled, source_.Poll(config_.source_index, budget));
    for (record::RawBatch& raw : polled) FIRN_TRY(Dispatch(std::move(raw)));
  }
  PublishWaiting();
  return Ok();
}

Status Lane::Dispatch(record::RawBatch raw) {
  if (const auto end = ends_.find(raw.partition); end != ends_.end() && raw.range.from >= end->second)
    return Ok();
  Clip(raw);
  bytes_total_.fetch_add(record::PayloadBytes(raw), std::memory_order_relaxed);
  FIRN_TRY(commit::JoinRange(read_, raw.partition, raw.range));
  // Before the position is told: who sees it must see that records are not with their tables yet.
  waiting_bytes_.fetch_add(1);
  {
    const std::lock_guard lock(mutex_);
    positions_[raw.partition] = raw.range.to;
  }
  record::RawBatch covered;  // what letters need of the batch
  covered.partition = raw.partition;
  covered.range = raw.range;
  Sorted sorted = sorter_.Sort(std::move(raw));
  if (!sorted.letters.empty() && !config_.only_target)
    FIRN_TRY(TakeLetters(covered, std::move(sorted.letters)));
  for (SortedRecords& part : sorted.parts) {
    if (config_.only_target && part.target->id != *config_.only_target) continue;
    FIRN_TRY(GiveTo(SlotOf(part.target), std::move(part.raw)));
  }
  return Ok();
}

// The end of a read of one table.
void Lane::Clip(record::RawBatch& raw) const {
  const auto end = ends_.find(raw.partition);
  if (end == ends_.end() || raw.range.to <= end->second) return;
  const auto first_beyond = std::ranges::lower_bound(raw.offsets, end->second);
  record::Truncate(raw, static_cast<size_t>(first_beyond - raw.offsets.begin()));
  raw.range.to = end->second;
  raw.range.last.reset();
  raw.range.cursor.reset();
}

Status Lane::TakeLetters(record::RawBatch& raw, std::vector<record::DeadLetter> letters) {
  const auto count = static_cast<int64_t>(letters.size());
  const size_t all = letters.size();
  if (config_.tombstones == TombstonePolicy::kSkip)
    std::erase_if(letters, [](const record::DeadLetter& letter) { return !letter.value; });
  unrouted_.part.tombstones_skipped += static_cast<int64_t>(all - letters.size());
  unrouted_.part.records += count;
  Count(unrouted_, count, 0, 0);
  FIRN_TRY(TakeBadRecords(unrouted_, std::move(letters)));
  return commit::JoinTaken(unrouted_.part.taken, raw.partition, raw.range);
}

// Behind records that wait already, and of a table that is not ready, records wait.
Status Lane::GiveTo(Slot& slot, record::RawBatch raw) {
  if (slot.closed()) {
    if (raw.size() > 0) commit::AddPending(left_out_[slot.target->id], raw.partition, raw.offsets.front());
    return Ok();
  }
  if (!slot.opened && raw.size() == 0) return Ok();  // nothing of it is in there
  slot.waiting.push_back({std::move(raw), 0});
  if (!slot.opened) {
    AskToOpen(slot);
    return Ok();
  }
  return TakeWaiting(slot);
}

void Lane::AskToOpen(Slot& slot) {
  if (slot.asked) return;
  slot.asked = true;
  TableRequest request{slot.target, TableRequest::Kind::kOpen, nullptr, {}, 0, std::nullopt};
  if (config_.infers.at(slot.target->rule)) {
    const record::RawBatch& raw = slot.waiting.back().raw;
    record::RecordCopier copier(raw);
    auto sample = std::make_shared<std::vector<record::RawBatch>>();
    sample->push_back(copier.Empty());
    for (size_t i = 0; i < std::min(raw.size(), kSampleRecords); ++i) copier.Copy(i, sample->back());
    request.sample = std::move(sample);
  }
  Request(std::move(request));
}

void Lane::Request(TableRequest request) {
  const std::lock_guard lock(mutex_);
  requests_.push_back(std::move(request));
  has_requests_.store(true);
}

Status Lane::TakeWaiting(Slot& slot) {
  while (!slot.waiting.empty() && slot.ready()) {
    if (std::chrono::steady_clock::now() < slot.not_before) return Ok();
    Status taken = TakeOne(slot, slot.waiting.front());
    if (!taken.ok() && taken.error().retry() == RetryHint::kYes) {
      slot.not_before = std::chrono::steady_clock::now() + kPatience;
      if (++slot.patient_tries > kQuietTries)
        Request({slot.target, TableRequest::Kind::kTrouble, nullptr, {}, 0, std::move(taken).error()});
      return Ok();
    }
    if (!taken.ok()) return SlotFailed(slot, std::move(taken).error());
    slot.patient_tries = 0;
    if (slot.waiting.front().begin < slot.waiting.front().raw.size()) return Ok();  // cut by a schema delta
    slot.waiting.pop_front();
  }
  return Ok();
}

// The table goes; its siblings stay.
Status Lane::SlotFailed(Slot& slot, Error error) {
  if (config_.fails_whole || OfTheProcess(error)) return error;
  Request({slot.target, TableRequest::Kind::kFailed, nullptr, {}, 0, std::move(error)});
  slot.failed = slot.opened = true;
  slot.offer.view = nullptr;
  LeaveOut(slot);
  return Ok();
}

// What the table would have taken is missing in it from here on.
void Lane::LeaveOut(Slot& slot) {
  if (slot.target == nullptr) return;
  commit::PendingFrom& missing = left_out_[slot.target->id];
  commit::AddPending(missing, slot.part.taken);
  for (const Waiting& waiting : slot.waiting) {
    if (waiting.begin < waiting.raw.size())
      commit::AddPending(missing, waiting.raw.partition, waiting.from());
  }
  if (missing.empty()) left_out_.erase(slot.target->id);
  Count(slot, -slot.part.records, -slot.part.input_bytes, -slot.part.dead_letter_bytes);
  slot.part.Discard();
  slot.waiting.clear();
  slot.view = nullptr;
  decoders_ -= slot.decoder == nullptr ? 0 : 1;
  slot.decoder = nullptr;
  slot.writer_view_version = -1;
}

Status Lane::TakeOne(Slot& slot, Waiting& waiting) {
  record::RawBatch& raw = waiting.raw;
  size_t begin = waiting.begin;
  if (slot.offer.takes_from != nullptr) {
    const auto from = slot.offer.takes_from->find(raw.partition);
    if (from != slot.offer.takes_from->end()) {
      if (from->second == kTakesNothing) {
        if (begin < raw.size())
          commit::AddPending(left_out_[slot.target->id], raw.partition, raw.offsets[begin]);
        waiting.begin = raw.size();
        return Ok();
      }
      // A range that only brings a cursor to where the table stands is taken.
      if (raw.range.to <= from->second && raw.range.from < from->second) {
        waiting.begin = raw.size();
        return Ok();
      }
      if (raw.range.from < from->second) {
        const auto first = std::ranges::lower_bound(raw.offsets, from->second);
        begin = std::max(begin, static_cast<size_t>(first - raw.offsets.begin()));
        raw.range.from = from->second;
      }
    }
  }
  if (begin == raw.size()) {
    waiting.begin = begin;
    return Advance(slot, raw, begin, begin);
  }
  FIRN_TRY(PrepareDecoder(slot));
  FIRN_ASSIGN(auto result, slot.decoder->Decode(raw, begin));
  const size_t consumed = result.consumed;
  std::optional<record::SchemaDelta> delta = std::move(result.delta);
  FIRN_CHECK(delta.has_value() ? begin + consumed < raw.size() : begin + consumed == raw.size(),
             "a decoder takes everything or asks for a schema");
  FIRN_TRY(AppendDecoded(slot, std::move(result), raw, begin));
  FIRN_TRY(Advance(slot, raw, begin, begin + consumed));
  waiting.begin = begin + consumed;
  if (delta) {
    slot.asked_of = slot.view->version;
    Request({slot.target, TableRequest::Kind::kChange, nullptr, *std::move(delta), slot.view->version,
             std::nullopt});
  }
  return Ok();
}

Status Lane::AppendDecoded(Slot& slot, decode::DecodeResult result, const record::RawBatch& raw,
                           size_t begin) {
  BatchPart& part = slot.part;
  const bool whole = begin + result.consumed == raw.size();
  const auto records = static_cast<int64_t>(result.consumed);
  const int64_t bytes = whole ? record::PayloadBytes(raw) : 0;
  part.records += records;
  part.input_bytes += bytes;
  Count(slot, records, bytes, 0);
  part.tombstones_skipped += result.counters.tombstones_skipped;
  part.unknown_fields_ignored += result.counters.unknown_fields_ignored;
  if (result.consumed > 0)
    part.oldest_timestamp_ms = std::min(part.oldest_timestamp_ms, raw.timestamps_ms[begin]);
  const auto bad = static_cast<int64_t>(result.dead_letters.size());
  FIRN_TRY(TakeBadRecords(slot, std::move(result.dead_letters)));
  if (result.batch.rows == nullptr) return Ok();
  const int64_t rows = records - bad - result.counters.tombstones_skipped;
  part.rows += rows;
  rows_total_.fetch_add(rows, std::memory_order_relaxed);
  FIRN_TRY(OpenWriter(slot));
  return part.writers.back()->Append(result.batch);
}

Status Lane::TakeBadRecords(Slot& slot, std::vector<record::DeadLetter> letters) {
  if (letters.empty()) return Ok();
  if (config_.on_bad_record == BadRecordPolicy::kFail) return BadRecord(letters.front());
  BatchPart& part = slot.part;
  part.bad_records += static_cast<int64_t>(letters.size());
  if (config_.on_bad_record == BadRecordPolicy::kSkip) {
    part.skipped += static_cast<int64_t>(letters.size());
    return Ok();
  }
  int64_t bytes = 0;
  for (const record::DeadLetter& letter : letters) bytes += SizeOf(letter);
  part.dead_letter_bytes += bytes;
  Count(slot, 0, 0, bytes);
  std::ranges::move(letters, std::back_inserter(part.dead_letters));
  return Ok();
}

// Records [begin, end) of the batch are the table's now.
Status Lane::Advance(Slot& slot, const record::RawBatch& raw, size_t begin, size_t end) {
  const bool whole = end == raw.size();
  record::PositionRange range;
  range.from = begin == 0 ? raw.range.from : begin < raw.size() ? raw.offsets[begin] : raw.range.from;
  range.to = whole ? raw.range.to : raw.offsets[end];
  range.identity = raw.range.identity;
  if (whole) range.last = raw.range.last;
  if (whole) range.cursor = raw.range.cursor;  // a batch cut in the middle stays with the cursor before it
  return commit::JoinTaken(slot.part.taken, raw.partition, range);
}

// Of tables that were used long ago the decoder is built again when it is needed.
Status Lane::PrepareDecoder(Slot& slot) {
  const bool adopt = slot.view == nullptr || slot.part.records == 0 || slot.asked_of.has_value();
  slot.asked_of.reset();
  if (adopt && slot.view != slot.offer.view) {
    slot.view = slot.offer.view;
    decoders_ -= slot.decoder == nullptr ? 0 : 1;
    slot.decoder = nullptr;
  }
  if (slot.decoder != nullptr) return Ok();
  if (decoders_ >= config_.max_decoders) {
    Slot* oldest = nullptr;
    for (auto& [id, other] : slots_) {
      if (other.decoder != nullptr && (oldest == nullptr || other.last_used < oldest->last_used))
        oldest = &other;
    }
    if (oldest != nullptr) {
      oldest->decoder = nullptr;
      --decoders_;
    }
  }
  FIRN_ASSIGN(slot.decoder, make_decoder_(slot.view->bound));
  ++decoders_;
  return Ok();
}

Status Lane::OpenWriter(Slot& slot) {
  BatchPart& part = slot.part;
  if (!part.writers.empty() && slot.writer_view_version == slot.view->version) return Ok();
  write::WriterContext context;
  context.table = slot.view->table.metadata;
  context.store = slot.view->table.store;
  context.pool = config_.pool;
  context.operation_id = config_.ids->Uuid();
  context.lane = config_.index;
  context.max_buffered_bytes = config_.max_buffered_bytes;
  context.open_file_from_bytes = config_.open_file_from_bytes;
  FIRN_ASSIGN(auto writer, write::MakeTableWriter(std::move(context)));
  if (part.writers.empty()) filling_tables_.fetch_add(1, std::memory_order_relaxed);
  part.writers.push_back(std::move(writer));
  part.store = slot.view->table.store;
  slot.writer_view_version = slot.view->version;
  return Ok();
}

void Lane::Count(Slot& slot, int64_t records, int64_t bytes, int64_t letter_bytes) {
  slot.target->records.fetch_add(records, std::memory_order_relaxed);
  slot.target->bytes.fetch_add(bytes, std::memory_order_relaxed);
  slot.target->letter_bytes.fetch_add(letter_bytes, std::memory_order_relaxed);
}

void Lane::PublishWaiting() {
  int64_t bytes = 0;
  for (const auto& [id, slot] : slots_) {
    for (const Waiting& waiting : slot.waiting)
      bytes +=
          1 + record::PayloadBytes(waiting.raw) + static_cast<int64_t>(kBytesPerRecord * waiting.raw.size());
  }
  waiting_bytes_.store(bytes, std::memory_order_relaxed);
}

}  // namespace firn::pipeline
