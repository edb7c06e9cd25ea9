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
constexpr auto kHeldPause = std::chrono::milliseconds(10);
constexpr auto kStallPause = std::chrono::milliseconds(100);
constexpr int kQuietTries = 10;  // a first answer of a registry may take that long

Error BadRecord(const record::DeadLetter& letter) {
  return Error(ErrorKind::kInvalidArgument,
               fmt::format("bad record at {}[{}] offset {}: {} ({})", letter.partition.topic,
                           letter.partition.partition, letter.offset, letter.message, letter.reason))
      .WithRemedy("Mend the record's producer or the columns, or choose on_bad_record: dead_letter.");
}

}  // namespace

Lane::Lane(LaneConfig config, source::Source& source, const DecoderFactory& make_decoder)
    : config_(config), source_(source), make_decoder_(make_decoder) {}

Lane::~Lane() { Stop(); }

void Lane::Start() {
  thread_ = runtime::StartThread(fmt::format("lane-{}", config_.index),
                                 [this](const std::stop_token& /*stop*/) { Run(); });
}

void Lane::RequestCut(bool pause) {
  const std::lock_guard lock(mutex_);
  command_ = pause ? Command::kCutAndPause : Command::kCut;
  changed_.notify_all();
}

BatchPart Lane::CollectCut() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return cut_.has_value(); });
  BatchPart part = *std::move(cut_);
  cut_.reset();
  return part;
}

void Lane::Resume(TableViewPtr view, bool drop_polled) {
  const std::lock_guard lock(mutex_);
  offered_ = std::move(view);
  drop_polled_ = drop_polled_ || drop_polled;
  if (drop_polled) positions_.clear();
  paused_ = false;
  changed_.notify_all();
}

void Lane::Offer(TableViewPtr view) {
  const std::lock_guard lock(mutex_);
  offered_ = std::move(view);
  changed_.notify_all();
}

void Lane::Hold(bool hold) {
  const std::lock_guard lock(mutex_);
  held_ = hold;
  changed_.notify_all();
}

void Lane::SetOrigin(const record::SourcePartition& partition, int64_t from) {
  const std::lock_guard lock(mutex_);
  origins_[partition] = from;
}

void Lane::Forget(const std::vector<record::SourcePartition>& partitions) {
  const std::lock_guard lock(mutex_);
  for (const record::SourcePartition& partition : partitions) {
    forget_.push_back(partition);
    positions_.erase(partition);
    origins_.erase(partition);
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
  part_.Discard();
  if (cut_) cut_->Discard();
}

std::optional<Error> Lane::error() const {
  const std::lock_guard lock(mutex_);
  return error_;
}

std::optional<SchemaRequest> Lane::schema_request() const {
  const std::lock_guard lock(mutex_);
  return request_;
}

std::optional<Error> Lane::stall() const {
  const std::lock_guard lock(mutex_);
  return stalled_tries_ > kQuietTries ? stall_ : std::nullopt;
}

std::map<record::SourcePartition, int64_t> Lane::positions() const {
  const std::lock_guard lock(mutex_);
  return positions_;
}

void Lane::Run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] {
      const bool waits_for_schema = request_ && (!offered_ || offered_->version <= request_->view_version);
      return stop_ || command_ != Command::kNone ||
             (!paused_ && !error_ && (!waits_for_schema || drop_polled_ || !forget_.empty()));
    });
    if (stop_) return;
    if (ServeCommand(lock)) continue;
    if (std::exchange(drop_polled_, false)) {
      polled_.clear();
      polled_at_ = record_at_ = 0;
      request_.reset();
      stall_.reset();
      stalled_tries_ = 0;
    }
    DropForgotten();
    const bool needs_view = request_.has_value() || part_.records == 0 || view_ == nullptr;
    request_.reset();
    if (held_ && polled_at_ == polled_.size()) {
      changed_.wait_for(lock, kHeldPause);
      continue;
    }
    const auto is_called = [this] {
      return stop_ || paused_ || command_ != Command::kNone || drop_polled_ || !forget_.empty();
    };
    if (rests_ && !polled_.empty() && changed_.wait_for(lock, kStallPause, is_called)) continue;
    rests_ = false;
    TableViewPtr offered = needs_view ? offered_ : view_;
    lock.unlock();
    Status status = Ok();
    if (offered != view_) {
      view_ = std::move(offered);
      status = AdoptView();
    }
    if (status.ok()) status = Step();
    lock.lock();
    if (!status.ok()) error_ = std::move(status).error();
  }
}

// Called with the lock held. A wait for a schema that a forgotten record caused ends with it.
void Lane::DropForgotten() {
  if (forget_.empty()) return;
  const auto forgotten = [this](const record::RawBatch& raw) {
    return std::ranges::find(forget_, raw.partition) != forget_.end();
  };
  polled_.erase(polled_.begin(), polled_.begin() + static_cast<std::ptrdiff_t>(polled_at_));
  if (!polled_.empty() && forgotten(polled_.front())) {
    record_at_ = 0;
    request_.reset();
    stall_.reset();
    stalled_tries_ = 0;
  }
  std::erase_if(polled_, forgotten);
  polled_at_ = 0;
  forget_.clear();
}

// Hands the part over. Called with the lock held, between two steps.
bool Lane::ServeCommand(std::unique_lock<std::mutex>& /*lock*/) {
  if (command_ == Command::kNone) return false;
  paused_ = paused_ || command_ == Command::kCutAndPause;
  command_ = Command::kNone;
  cut_ = std::exchange(part_, BatchPart{});
  writer_view_version_ = -1;
  PublishCounters();
  changed_.notify_all();
  return true;
}

Status Lane::Step() {
  if (polled_at_ == polled_.size()) {
    polled_.clear();
    polled_at_ = record_at_ = 0;
    source::PollBudget budget;
    budget.timeout_ms = kPollTimeoutMs;
    FIRN_ASSIGN(polled_, source_.Poll(config_.index, budget));
  }
  Status status = TakePolled();
  PublishCounters();
  return status;
}

Status Lane::TakePolled() {
  while (polled_at_ < polled_.size()) {
    record::RawBatch& raw = polled_[polled_at_];
    FIRN_TRY(TakeOne(raw));
    if (record_at_ < raw.size()) return Ok();  // cut by a schema delta, or not to be decoded now
    const int64_t bytes = record::PayloadBytes(raw);
    bytes_total_.fetch_add(bytes, std::memory_order_relaxed);
    part_.input_bytes += bytes;
    raw = record::RawBatch{};
    ++polled_at_;
    record_at_ = 0;
  }
  return Ok();
}

Status Lane::TakeOne(record::RawBatch& raw) {
  if (raw.size() == 0) return AdvanceTo(raw, 0);
  const size_t begin = record_at_;
  auto decoded = decoder_->Decode(raw, begin);
  if (!decoded.ok() && decoded.error().retry() == RetryHint::kYes) {
    Stall(std::move(decoded).error());
    return Ok();
  }
  if (stalled_tries_ > 0) EndStall();
  FIRN_ASSIGN(auto result, std::move(decoded));
  const size_t consumed = result.consumed;
  std::optional<record::SchemaDelta> delta = std::move(result.delta);
  FIRN_CHECK(delta.has_value() ? begin + consumed < raw.size() : begin + consumed == raw.size(),
             "a decoder takes everything or asks for a schema");
  FIRN_TRY(AppendDecoded(std::move(result), raw, begin));
  FIRN_TRY(AdvanceTo(raw, begin + consumed));
  record_at_ = begin + consumed;
  if (delta) WaitForSchema(*std::move(delta));
  return Ok();
}

Status Lane::AppendDecoded(decode::DecodeResult result, const record::RawBatch& raw, size_t begin) {
  part_.records += static_cast<int64_t>(result.consumed);
  part_.tombstones_skipped += result.counters.tombstones_skipped;
  part_.unknown_fields_ignored += result.counters.unknown_fields_ignored;
  if (result.consumed > 0)
    part_.oldest_timestamp_ms = std::min(part_.oldest_timestamp_ms, raw.timestamps_ms[begin]);
  const auto bad = static_cast<int64_t>(result.dead_letters.size());
  FIRN_TRY(TakeBadRecords(std::move(result.dead_letters)));
  if (result.batch.rows == nullptr) return Ok();
  const int64_t rows = static_cast<int64_t>(result.consumed) - bad - result.counters.tombstones_skipped;
  part_.rows += rows;
  rows_total_.fetch_add(rows, std::memory_order_relaxed);
  FIRN_TRY(OpenWriter());
  return part_.writers.back()->Append(result.batch);
}

Status Lane::TakeBadRecords(std::vector<record::DeadLetter> letters) {
  if (letters.empty()) return Ok();
  if (config_.on_bad_record == BadRecordPolicy::kFail) return BadRecord(letters.front());
  part_.bad_records += static_cast<int64_t>(letters.size());
  if (config_.on_bad_record == BadRecordPolicy::kSkip) {
    part_.skipped += static_cast<int64_t>(letters.size());
    return Ok();
  }
  for (const record::DeadLetter& letter : letters) {
    part_.dead_letter_bytes +=
        static_cast<int64_t>(sizeof(letter) + letter.message.size() + (letter.key ? letter.key->size() : 0) +
                             (letter.value ? letter.value->size() : 0));
  }
  std::ranges::move(letters, std::back_inserter(part_.dead_letters));
  return Ok();
}

Status Lane::AdvanceTo(const record::RawBatch& raw, size_t next_record) {
  const bool whole = next_record == raw.size();
  record::PositionRange range;
  range.from = record_at_ == 0 ? raw.range.from : raw.offsets[record_at_];
  range.to = whole ? raw.range.to : raw.offsets[next_record];
  range.identity = raw.range.identity;
  if (whole) {
    range.last = raw.range.last;
    range.cursor = raw.range.cursor;  // a batch cut in the middle stays with the cursor before it
  }
  const std::lock_guard lock(mutex_);
  if (auto origin = origins_.find(raw.partition); origin != origins_.end()) {
    range.from = std::min(range.from, origin->second);
    origins_.erase(origin);
  }
  positions_[raw.partition] = range.to;
  return commit::JoinRange(part_.ranges, raw.partition, range);
}

// Rebuilds what depends on the table's schema; the writer is opened with the next rows.
Status Lane::AdoptView() {
  FIRN_ASSIGN(decoder_, make_decoder_(view_->bound));
  return Ok();
}

Status Lane::OpenWriter() {
  if (!part_.writers.empty() && writer_view_version_ == view_->version) return Ok();
  write::WriterContext context;
  context.table = view_->table.metadata;
  context.store = view_->table.store;
  context.pool = config_.pool;
  context.operation_id = config_.ids->Uuid();
  context.lane = config_.index;
  context.max_buffered_bytes = config_.max_buffered_bytes;
  FIRN_ASSIGN(auto writer, write::MakeTableWriter(std::move(context)));
  part_.writers.push_back(std::move(writer));
  part_.store = view_->table.store;
  writer_view_version_ = view_->version;
  return Ok();
}

void Lane::WaitForSchema(record::SchemaDelta delta) {
  const std::lock_guard lock(mutex_);
  request_ = SchemaRequest{std::move(delta), view_->version};
}

// The records stay where they are; the next step tries again.
void Lane::Stall(Error error) {
  const std::lock_guard lock(mutex_);
  stall_ = std::move(error);
  ++stalled_tries_;
  rests_ = true;
}

void Lane::EndStall() {
  const std::lock_guard lock(mutex_);
  stall_.reset();
  stalled_tries_ = 0;
}

void Lane::PublishCounters() {
  records_.store(part_.records, std::memory_order_relaxed);
  bytes_.store(part_.input_bytes, std::memory_order_relaxed);
  dead_letter_bytes_.store(part_.dead_letter_bytes, std::memory_order_relaxed);
}

}  // namespace firn::pipeline
