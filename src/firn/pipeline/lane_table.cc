#include "firn/pipeline/lane_table.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "firn/write/writer.h"

namespace firn::pipeline {

namespace {

constexpr size_t kSampleRecords = 1'000;
constexpr size_t kBytesPerRecord = 32;  // beside its payload

Error BadRecord(const record::DeadLetter& letter) {
  return Error(ErrorKind::kInvalidArgument,
               fmt::format("bad record at {}[{}] offset {}: {} ({})", letter.partition.topic,
                           letter.partition.partition, letter.offset, letter.message, letter.reason))
      .WithRemedy("Mend the record's producer or the columns, or choose on_bad_record: dead_letter.");
}

// Beside the text itself, of each text that is not kept in place.
constexpr size_t kHeapOverhead = 32;

int64_t HeapBytes(const std::string& text) {
  static const size_t in_place = std::string().capacity();
  return text.capacity() <= in_place ? 0 : static_cast<int64_t>(text.capacity() + kHeapOverhead);
}

int64_t HeapBytes(const std::optional<std::string>& text) { return text ? HeapBytes(*text) : 0; }

int64_t SizeOf(const record::DeadLetter& letter) {
  int64_t bytes = sizeof(letter);
  for (const std::string* text : {&letter.partition.topic, &letter.file, &letter.target_table, &letter.stage,
                                  &letter.reason, &letter.message})
    bytes += HeapBytes(*text);
  bytes += HeapBytes(letter.key) + HeapBytes(letter.value);
  for (const auto& header : letter.headers)
    bytes += static_cast<int64_t>(sizeof(header)) + HeapBytes(header.first) + HeapBytes(header.second);
  return bytes;
}

// Where the waiting records, and everything else of the process, cannot go on either.
bool OfTheProcess(const Error& error) {
  return error.kind() == ErrorKind::kResourceExhausted || error.kind() == ErrorKind::kCancelled;
}

}  // namespace

// --- records

Status LaneTable::Give(record::RawBatch raw) {
  if (closed()) {
    if (raw.size() > 0) commit::AddPending(left_out_, raw.partition, raw.offsets.front());
    return Ok();
  }
  if (!opened_ && raw.size() == 0) return Ok();  // nothing of it is in there
  waiting_.push_back({std::move(raw), 0});
  if (opened_) return TakeWaiting();
  AskToOpen();
  return Ok();
}

Status LaneTable::TakeWaiting() {
  while (!waiting_.empty() && ready()) {
    if (!decoding_.over()) return Ok();
    Status taken = TakeOne(waiting_.front());
    if (!taken.ok()) {
      if (taken.error().retry() == RetryHint::kNo) return Fail(std::move(taken).error());
      BePatient(std::move(taken).error());
      return Ok();
    }
    decoding_.Succeeded();
    if (waiting_.front().begin < waiting_.front().raw.size()) return Ok();  // cut by a schema delta
    waiting_.pop_front();
  }
  return Ok();
}

void LaneTable::BePatient(Error error) {
  if (decoding_.Again())
    board_.Request({target_, TableRequest::Kind::kTrouble, nullptr, {}, 0, std::move(error)});
}

Status LaneTable::TakeOne(Waiting& waiting) {
  record::RawBatch& raw = waiting.raw;
  if (!ClipToTable(waiting)) {
    waiting.begin = raw.size();
    return Ok();
  }
  const size_t begin = waiting.begin;
  if (begin == raw.size()) return Advance(raw, begin, begin);
  FIRN_TRY(PrepareDecoder());
  FIRN_ASSIGN(auto result, decoder_->Decode(raw, begin));
  const size_t consumed = result.consumed;
  std::optional<record::SchemaDelta> delta = std::move(result.delta);
  FIRN_CHECK(delta.has_value() ? begin + consumed < raw.size() : begin + consumed == raw.size(),
             "a decoder takes everything or asks for a schema");
  if (Status appended = AppendDecoded(std::move(result), raw, begin); !appended.ok()) {
    // Rows of it may be in the writer: whatever went wrong, they must not come a second time.
    return std::move(appended).error().WithRetry(RetryHint::kNo);
  }
  FIRN_TRY(Advance(raw, begin, begin + consumed));
  waiting.begin = begin + consumed;
  if (delta) AskForChange(*std::move(delta));
  return Ok();
}

bool LaneTable::ClipToTable(Waiting& waiting) {
  record::RawBatch& raw = waiting.raw;
  if (offer_.takes_from == nullptr) return true;
  const auto from = offer_.takes_from->find(raw.partition);
  if (from == offer_.takes_from->end()) return true;
  if (from->second == kTakesNothing) {
    if (waiting.begin < raw.size()) commit::AddPending(left_out_, raw.partition, waiting.from());
    return false;
  }
  if (raw.range.from >= from->second) return true;
  // A range that only brings a cursor to where the table stands is taken.
  if (raw.range.to <= from->second) return false;
  const auto first = std::ranges::lower_bound(raw.offsets, from->second);
  waiting.begin = std::max(waiting.begin, static_cast<size_t>(first - raw.offsets.begin()));
  raw.range.from = from->second;
  return true;
}

Status LaneTable::AppendDecoded(decode::DecodeResult result, const record::RawBatch& raw, size_t begin) {
  const bool whole = begin + result.consumed == raw.size();
  const auto records = static_cast<int64_t>(result.consumed);
  const int64_t bytes = whole ? record::PayloadBytes(raw) : 0;
  if (const iceberg::SchemaPtr& schema = view_->bound.schema; schema != nullptr)
    part_.schemas.try_emplace(schema->schema_id(), schema);
  part_.records += records;
  part_.input_bytes += bytes;
  Count(records, bytes, 0);
  part_.tombstones_skipped += result.counters.tombstones_skipped;
  part_.unknown_fields_ignored += result.counters.unknown_fields_ignored;
  if (result.consumed > 0)
    part_.oldest_timestamp_ms = std::min(part_.oldest_timestamp_ms, raw.timestamps_ms[begin]);
  const auto bad = static_cast<int64_t>(result.dead_letters.size());
  FIRN_TRY(TakeBadRecords(std::move(result.dead_letters)));
  if (result.batch.rows == nullptr) return Ok();
  const int64_t rows = records - bad - result.counters.tombstones_skipped;
  part_.rows += rows;
  board_.rows_total.fetch_add(rows, std::memory_order_relaxed);
  FIRN_TRY(OpenWriter());
  return part_.writers.back()->Append(result.batch);
}

Status LaneTable::TakeLetters(const record::SourcePartition& partition, const record::PositionRange& range,
                              std::vector<record::DeadLetter> letters) {
  const auto count = static_cast<int64_t>(letters.size());
  const size_t all = letters.size();
  if (config_.tombstones == TombstonePolicy::kSkip)
    std::erase_if(letters, [](const record::DeadLetter& letter) { return !letter.value; });
  part_.tombstones_skipped += static_cast<int64_t>(all - letters.size());
  part_.records += count;
  Count(count, 0, 0);
  FIRN_TRY(TakeBadRecords(std::move(letters)));
  return commit::JoinTaken(part_.taken, partition, range);
}

Status LaneTable::TakeBadRecords(std::vector<record::DeadLetter> letters) {
  if (letters.empty()) return Ok();
  if (config_.on_bad_record == BadRecordPolicy::kFail) return BadRecord(letters.front());
  part_.bad_records += static_cast<int64_t>(letters.size());
  if (config_.on_bad_record == BadRecordPolicy::kSkip) {
    part_.skipped += static_cast<int64_t>(letters.size());
    return Ok();
  }
  int64_t bytes = 0;
  for (const record::DeadLetter& letter : letters) bytes += SizeOf(letter);
  part_.dead_letter_memory.Count(*config_.memory, bytes);
  Count(0, 0, bytes);
  std::ranges::move(letters, std::back_inserter(part_.dead_letters));
  return Ok();
}

// Records [begin, end) of the batch are the table's now.
Status LaneTable::Advance(const record::RawBatch& raw, size_t begin, size_t end) {
  const bool whole = end == raw.size();
  record::PositionRange range;
  range.from = begin == 0 ? raw.range.from : begin < raw.size() ? raw.offsets[begin] : raw.range.from;
  range.to = whole ? raw.range.to : raw.offsets[end];
  range.identity = raw.range.identity;
  if (whole) range.last = raw.range.last;
  if (whole) range.cursor = raw.range.cursor;  // a batch cut in the middle stays with the cursor before it
  return commit::JoinTaken(part_.taken, raw.partition, range);
}

// Of tables that were used long ago the decoder is built again when it is needed.
Status LaneTable::PrepareDecoder() {
  const bool adopt = view_ == nullptr || part_.records == 0 || asked_of_.has_value();
  asked_of_.reset();
  if (adopt && view_ != offer_.view) {
    view_ = offer_.view;
    decoder_ = nullptr;
  }
  if (decoder_ != nullptr) return Ok();
  FIRN_ASSIGN(decoder_, make_decoder_(view_->bound));
  return Ok();
}

Status LaneTable::OpenWriter() {
  if (!part_.writers.empty() && writer_view_version_ == view_->version) return Ok();
  write::WriterContext context;
  context.table = view_->table.metadata;
  context.store = view_->table.store;
  context.pool = config_.pool;
  context.operation_id = config_.ids->Uuid();
  context.lane = config_.index;
  context.max_buffered_bytes = config_.max_buffered_bytes;
  context.open_file_from_bytes = config_.open_file_from_bytes;
  FIRN_ASSIGN(auto writer, write::MakeTableWriter(std::move(context)));
  if (part_.writers.empty()) board_.filling_tables.fetch_add(1, std::memory_order_relaxed);
  part_.writers.push_back(std::move(writer));
  part_.store = view_->table.store;
  writer_view_version_ = view_->version;
  return Ok();
}

int64_t LaneTable::waiting_bytes() const {
  int64_t bytes = 0;
  for (const Waiting& waiting : waiting_)
    bytes +=
        1 + record::PayloadBytes(waiting.raw) + static_cast<int64_t>(kBytesPerRecord * waiting.raw.size());
  return bytes;
}

void LaneTable::Count(int64_t records, int64_t bytes, int64_t letter_bytes) {
  target_->records.fetch_add(records, std::memory_order_relaxed);
  target_->bytes.fetch_add(bytes, std::memory_order_relaxed);
  target_->letter_bytes.fetch_add(letter_bytes, std::memory_order_relaxed);
}

// --- requests

void LaneTable::AskToOpen() {
  if (asked_) return;
  asked_ = true;
  TableRequest request{target_, TableRequest::Kind::kOpen, nullptr, {}, 0, std::nullopt};
  if (config_.infers.at(target_->rule)) {
    const record::RawBatch& raw = waiting_.back().raw;
    record::RecordCopier copier(raw);
    auto sample = std::make_shared<std::vector<record::RawBatch>>();
    sample->push_back(copier.Empty());
    for (size_t i = 0; i < std::min(raw.size(), kSampleRecords); ++i) copier.Copy(i, sample->back());
    request.sample = std::move(sample);
  }
  board_.Request(std::move(request));
}

void LaneTable::AskForChange(record::SchemaDelta delta) {
  asked_of_ = view_->version;
  board_.Request(
      {target_, TableRequest::Kind::kChange, nullptr, std::move(delta), view_->version, std::nullopt});
}

// The table goes; its siblings stay.
Status LaneTable::Fail(Error error) {
  if (config_.fails_whole || OfTheProcess(error)) return error;
  board_.Request({target_, TableRequest::Kind::kFailed, nullptr, {}, 0, std::move(error)});
  failed_ = opened_ = true;
  offer_.view = nullptr;
  LeaveOut();
  return Ok();
}

// What the table would have taken is missing in it from here on.
void LaneTable::LeaveOut() {
  if (target_ == nullptr) return;
  commit::AddPending(left_out_, part_.taken);
  for (const Waiting& waiting : waiting_) {
    if (waiting.begin < waiting.raw.size())
      commit::AddPending(left_out_, waiting.raw.partition, waiting.from());
  }
  Count(-part_.records, -part_.input_bytes, -part_.dead_letter_memory.bytes());
  part_.Discard();
  waiting_.clear();
  view_ = nullptr;
  decoder_ = nullptr;
  writer_view_version_ = -1;
}

// --- orders

void LaneTable::Offer(TableOffer offer) {
  if (failed_) return;
  offer_ = std::move(offer);
  opened_ = true;
  if (closed()) LeaveOut();
}

void LaneTable::DropWaiting() {
  waiting_.clear();
  asked_of_.reset();
  left_out_.clear();
}

void LaneTable::Forget(const std::vector<record::SourcePartition>& partitions) {
  for (const record::SourcePartition& partition : partitions) left_out_.erase(partition);
  if (waiting_.empty()) return;
  std::erase_if(waiting_, [&](const Waiting& waiting) {
    return std::ranges::find(partitions, waiting.raw.partition) != partitions.end();
  });
  if (waiting_.empty()) asked_of_.reset();
}

void LaneTable::CutInto(LaneCut& cut) {
  for (const Waiting& waiting : waiting_) part_.unsettled.insert(waiting.raw.partition);
  if (part_.taken.empty() && part_.unsettled.empty()) return;
  Count(-part_.records, -part_.input_bytes, -part_.dead_letter_memory.bytes());
  cut.parts.push_back({target_, std::exchange(part_, BatchPart{})});
  writer_view_version_ = -1;
}

void LaneTable::TellInto(LaneCut& cut) {
  commit::AddPending(cut.pending, part_.taken);
  for (const Waiting& waiting : waiting_)
    commit::AddPending(cut.pending, waiting.raw.partition, waiting.from());
  if (!left_out_.empty()) cut.left_out.emplace(target_->id, std::exchange(left_out_, {}));
}

}  // namespace firn::pipeline
