#include "firn/source/files/partition_reader.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "firn/obs/log.h"

namespace firn::source::files {

namespace {

constexpr int kMaxFilesAPoll = 200;
constexpr int64_t kMaxPollMs = 200;  ///< the lane has others to answer to
constexpr int64_t kNsPerMs = 1'000'000;
constexpr int64_t kFirstBackOffMs = 500;
constexpr int64_t kMaxBackOffMs = 30'000;
constexpr int64_t kWriterPatienceMs = 30'000;  ///< a damaged file that does not change for so long is damaged

constexpr char kChangedRemedy[] =
    "Write files under a temporary name and rename them. Set on_changed_file: take to read all of the file "
    "as it "
    "is now (rows that are in stay), or skip to go on without its rest.";

}  // namespace

PartitionReader::~PartitionReader() { DropReading(); }

void PartitionReader::Start(const record::PartitionPosition& position, std::optional<OpenFile> open) {
  const std::lock_guard lock(mutex_);
  DropReading();
  ahead_.Clear();
  started_ = true;
  closed_ = end_told_ = false;
  next_ = position.next;
  skip_ = position.cursor ? position.next - position.cursor->at : 0;
  resume_ = std::move(open);
  retry_at_ns_ = back_off_ms_ = damaged_since_ns_ = 0;
}

void PartitionReader::Release() {
  const std::lock_guard lock(mutex_);
  DropReading();
  ahead_.Clear();
  started_ = false;
}

void PartitionReader::Poll(const PollBudget& budget, std::vector<record::RawBatch>* out) {
  const std::lock_guard lock(mutex_);
  if (!started_ || closed_ || set_.clock().MonotonicNs() < retry_at_ns_) return;
  Status polled = TryPoll(budget, out);
  if (!polled.ok()) return OnError(std::move(polled).error());
  damaged_since_ns_ = 0;
  if (std::exchange(back_off_ms_, 0) > 0) set_.Tell(SourceRecovered{});
}

Status PartitionReader::TryPoll(const PollBudget& budget, std::vector<record::RawBatch>* out) {
  const size_t before = out->size();
  const int64_t begin_ns = set_.clock().MonotonicNs();
  for (int files = 0; files < kMaxFilesAPoll;) {
    if (!reading_) {
      FIRN_ASSIGN(const bool any, OpenNext(out));
      if (!any) return Ok();
      ++files;
      if (!reading_) continue;
    }
    FIRN_TRY(Read(budget, out));
    if (set_.clock().MonotonicNs() - begin_ns > kMaxPollMs * kNsPerMs) return Ok();
    size_t records = 0;
    size_t bytes = 0;
    for (size_t i = before; i < out->size(); ++i) {
      records += (*out)[i].size();
      bytes += (*out)[i].arena.size();
    }
    if (records >= budget.max_records / 2 || bytes >= budget.max_bytes / 2) return Ok();
  }
  return Ok();
}

Result<bool> PartitionReader::OpenNext(std::vector<record::RawBatch>* out) {
  const std::optional<OpenFile> file = resume_ ? resume_ : NextFile();
  if (!file) {
    TellDecisions(out);
    TellEnd();
    return false;
  }
  FIRN_TRY(Open(*file, out));
  return true;
}

// The oldest that the lister found and that is still to be taken.
std::optional<OpenFile> PartitionReader::NextFile() {
  FilePartition& partition = set_.partition(index_);
  const std::lock_guard lock(partition.mutex);
  while (!partition.queue.empty()) {
    FileId file = std::move(partition.queue.front());
    partition.queue.pop_front();
    if (partition.taken.Look(file) == TakenFiles::Sight::kTaken) continue;
    partition.open_path = file.path;
    std::vector<FilesAhead::Next> next = LookAhead(partition);
    next.insert(next.begin(), {file, set_.pattern().LocationOf(file.path)});
    ahead_.Expect(next);
    return OpenFile{std::move(file), {}};
  }
  partition.open_path.reset();
  if (partition.overflowed) set_.WantListing();
  return std::nullopt;
}

std::vector<FilesAhead::Next> PartitionReader::LookAhead(const FilePartition& partition) const {
  std::vector<FilesAhead::Next> next;
  for (const FileId& file : partition.queue) {
    if (next.size() == ahead_.limits().max_files) break;
    next.push_back({file, set_.pattern().LocationOf(file.path)});
  }
  return next;
}

// A file to be gone on with is looked at again: what was fetched may be older than what was seen of it.
Result<std::shared_ptr<store::RandomAccessObject>> PartitionReader::OpenObject(Reading& reading,
                                                                               bool resumed) {
  if (std::optional<FetchedFile> fetched = resumed ? std::nullopt : ahead_.Take(reading.at.file)) {
    reading.after = std::move(fetched->after);
    return std::move(fetched->object);
  }
  FIRN_ASSIGN(std::shared_ptr<store::RandomAccessObject> object, set_.store().Open(reading.location));
  return object;
}

Status PartitionReader::Open(const OpenFile& file, std::vector<record::RawBatch>* out) {
  const bool resumed = std::exchange(resume_, std::nullopt).has_value();
  resume_ = file;  // until it is open: an error in between leads here again
  Reading reading{file, set_.pattern().LocationOf(file.file.path), nullptr, nullptr, 0};
  auto opened = OpenObject(reading, resumed);
  if (!opened.ok()) {
    if (opened.error().kind() == ErrorKind::kNotFound) return OnVanished(file, out);
    return std::move(opened).error().WithContext(reading.location);
  }
  std::shared_ptr<store::RandomAccessObject> object = std::move(opened).value();
  if (resumed || object->size_bytes() != file.file.size_bytes) {
    auto now = set_.store().Head(reading.location);
    if (!now.ok() && now.error().kind() == ErrorKind::kNotFound) return OnVanished(file, out);
    if (!now.ok()) return std::move(now).error().WithContext(reading.location);
    if (now->version != file.file.version || now->size_bytes != file.file.size_bytes) {
      reading_ = std::move(reading);
      return OnChanged(*now, out);
    }
  }
  reading.prefetched_bytes = std::min(file.file.size_bytes, 2 * setup_.chunk_bytes);
  std::unique_ptr<record::ByteStream> stream;
  if (!format_.random_access()) {
    FIRN_ASSIGN(stream, OpenByteStream(reading.location, object, setup_));
  }
  FIRN_ASSIGN(reading.reader,
              format_.Open(reading.location, std::move(object), std::move(stream), file.position));
  set_.prefetched_bytes += reading.prefetched_bytes;
  reading_ = std::move(reading);
  resume_.reset();
  if (file.position.record == 0) Emit(reading_->at, out);
  return Ok();
}

record::RawBatch PartitionReader::NewBatch() const {
  record::RawBatch batch;
  batch.partition = {kTopic, index_};
  batch.range.from = batch.range.to = next_;
  batch.range.identity = set_.identity();
  return batch;
}

record::SourceCursor PartitionReader::Cursor(const std::optional<OpenFile>& open) {
  FilePartition& partition = set_.partition(index_);
  const std::lock_guard lock(partition.mutex);
  return partition.taken.Encode(next_, set_.partition_count, open);
}

// Tells the state without records.
void PartitionReader::Emit(const std::optional<OpenFile>& open, std::vector<record::RawBatch>* out) {
  if (skip_ > 0) return;  // the cursor before says it, with the records to pass over
  record::RawBatch batch = NewBatch();
  batch.range.cursor = Cursor(open);
  out->push_back(std::move(batch));
}

Status PartitionReader::Read(const PollBudget& budget, std::vector<record::RawBatch>* out) {
  const size_t max_records =
      skip_ > 0 ? std::min(static_cast<size_t>(skip_), budget.max_records) : budget.max_records;
  record::RawBatch batch = NewBatch();
  auto read = reading_->reader->Read(max_records, budget.max_bytes, &batch);
  if (!read.ok()) {
    if (read.error().kind() == ErrorKind::kNotFound) return OnVanished(reading_->at, out);
    return std::move(read).error();
  }
  FIRN_TRY(CheckUnchanged(out));
  if (!reading_) return Ok();
  const bool more = *read;
  if (skip_ > 0) {
    skip_ -= static_cast<int64_t>(batch.values.size());
    if (more || skip_ == 0) {
      reading_->at.position = reading_->reader->position();
      if (more) return Ok();
      return Finish(reading_->at.file, out), Ok();
    }
    return FileStop(fmt::format("{} holds {} records less than were taken of it", reading_->location, skip_),
                    kChangedRemedy);
  }
  HandOut(std::move(batch), more, out);
  return Ok();
}

void PartitionReader::HandOut(record::RawBatch batch, bool more, std::vector<record::RawBatch>* out) {
  const size_t records = batch.values.size();
  const int64_t modified_ms = reading_->at.file.modified_ms;
  if (reading_->origin == nullptr)
    reading_->origin = std::make_shared<const record::FileOrigin>(reading_->reader->origin());
  batch.file = reading_->origin;
  batch.offsets.reserve(records);
  for (size_t i = 0; i < records; ++i) batch.offsets.push_back(next_ + static_cast<int64_t>(i));
  batch.timestamps_ms.assign(records, modified_ms);
  batch.keys.assign(records, record::Slice{});
  next_ += static_cast<int64_t>(records);
  batch.range.to = next_;
  reading_->at.position = reading_->reader->position();
  if (records > 0 && more) {
    batch.range.cursor = Cursor(reading_->at);
    out->push_back(std::move(batch));
  } else if (records > 0) {
    out->push_back(std::move(batch));
    Finish(reading_->at.file, out);
  } else if (!more) {
    Finish(reading_->at.file, out);
  }
}

// The state without the file goes with its last batch, or alone.
void PartitionReader::Finish(const FileId& file, std::vector<record::RawBatch>* out) {
  // NOLINTNEXTLINE(performance-unnecessary-copy-initialization): it lies in what is dropped now
  const FileId finished = file;
  DropReading();
  resume_.reset();
  bool early = false;
  {
    FilePartition& partition = set_.partition(index_);
    const std::lock_guard lock(partition.mutex);
    early = partition.taken.Take(finished, set_.clock().NowMs());
    partition.open_path.reset();
  }
  if (early) {
    static obs::RateLimitedLog log(60'000);
    log.Log(obs::Level::kWarning,
            "so many files within lookback that older ones are no longer remembered one by one",
            {{"base", set_.pattern().base()}});
  }
  set_.waiting_files -= set_.waiting_files > 0 ? 1 : 0;
  set_.waiting_bytes -= std::min<int64_t>(set_.waiting_bytes, finished.size_bytes);
  if (!out->empty() && out->back().partition == record::SourcePartition{kTopic, index_} &&
      out->back().size() > 0 && out->back().range.to == next_) {
    out->back().range.cursor = Cursor(std::nullopt);
  } else {
    Emit(std::nullopt, out);
  }
}

// What was read is of the file that was opened, or nothing of it is handed out.
Status PartitionReader::CheckUnchanged(std::vector<record::RawBatch>* out) {
  auto now =
      reading_->after ? Result<store::ObjectInfo>(*reading_->after) : set_.store().Head(reading_->location);
  if (!now.ok()) {
    // Deleted, and what was open could still be read: it is whole.
    if (now.error().kind() == ErrorKind::kNotFound) return Ok();
    return std::move(now).error().WithContext(reading_->location);
  }
  const FileId& file = reading_->at.file;
  if (now->version == file.version && now->size_bytes == file.size_bytes) return Ok();
  return OnChanged(*now, out);
}

// Somebody writes it still, or anew.
Status PartitionReader::OnChanged(const store::ObjectInfo& now, std::vector<record::RawBatch>* out) {
  OpenFile& at = reading_->at;
  if (at.position.record == 0 && skip_ == 0) {
    LeaveToLister();
    return Ok();
  }
  const FileId current{at.file.path, now.size_bytes, now.modified_ms, now.version};
  const std::string location = reading_->location;
  const int64_t records = at.position.record + skip_;
  switch (set_.config().on_changed_file) {
    case FilePolicy::kFail:
      return FileStop(fmt::format("{} was overwritten while it was read, after {} of its records were taken",
                                  location, records),
                      kChangedRemedy);
    case FilePolicy::kTake:
      DropReading();
      skip_ = 0;
      resume_ = OpenFile{current, {}};
      Emit(resume_, out);
      break;
    case FilePolicy::kSkip:
      skip_ = 0;
      Finish(current, out);
      break;
  }
  obs::Log(obs::Level::kWarning, "a file was overwritten while it was read",
           {{"file", location},
            {"records_taken", records},
            {"policy", set_.config().on_changed_file == FilePolicy::kTake ? "take" : "skip"}});
  return Ok();
}

Status PartitionReader::OnVanished(const OpenFile& file, std::vector<record::RawBatch>* out) {
  const std::string location = set_.pattern().LocationOf(file.file.path);
  const int64_t records = file.position.record + skip_;
  if (records > 0 && set_.config().on_changed_file == FilePolicy::kFail) {
    return FileStop(fmt::format("{} vanished after {} of its records were taken", location, records),
                    "Put it back as it was, or set on_changed_file: skip to go on without its rest.");
  }
  obs::Log(obs::Level::kWarning, "a file vanished", {{"file", location}, {"records_taken", records}});
  if (records == 0) {
    LeaveToLister();
    return Ok();
  }
  skip_ = 0;
  Finish(file.file, out);
  return Ok();
}

// Nothing of the file was taken: what it is now, the next listing tells.
void PartitionReader::LeaveToLister() {
  DropReading();
  resume_.reset();
  FilePartition& partition = set_.partition(index_);
  const std::lock_guard lock(partition.mutex);
  partition.open_path.reset();
  partition.complete = false;
  set_.WantListing();
}

// Damaged data may be a file that is still being written: waited for while it changes, and a while longer.
bool PartitionReader::WaitsForWriter(const Error& error) {
  if (error.kind() != ErrorKind::kCorrupt || set_.bounded) return false;
  const int64_t now_ns = set_.clock().MonotonicNs();
  if (damaged_since_ns_ == 0) damaged_since_ns_ = now_ns;
  return now_ns - damaged_since_ns_ < std::max(kWriterPatienceMs, set_.config().min_age_ms) * kNsPerMs;
}

void PartitionReader::OnError(Error error) {
  if (reading_) {
    resume_ = reading_->at;
    DropReading();
  }
  const bool again = error.retry() == RetryHint::kYes || WaitsForWriter(error);
  closed_ = !again;
  if (again) {
    back_off_ms_ = std::clamp(back_off_ms_ * 2, kFirstBackOffMs, kMaxBackOffMs);
    retry_at_ns_ = set_.clock().MonotonicNs() + back_off_ms_ * kNsPerMs;
    error = std::move(error).WithRetry(RetryHint::kYes);
  }
  set_.Tell(SourceTrouble{std::move(error), std::nullopt});
}

void PartitionReader::DropReading() {
  if (!reading_) return;
  if (reading_->reader != nullptr) set_.prefetched_bytes -= reading_->prefetched_bytes;
  reading_.reset();
}

// What the lister left out is remembered with the next commit, also where no file follows.
void PartitionReader::TellDecisions(std::vector<record::RawBatch>* out) {
  {
    FilePartition& partition = set_.partition(index_);
    const std::lock_guard lock(partition.mutex);
    if (!std::exchange(partition.decided, false)) return;
  }
  Emit(std::nullopt, out);
}

void PartitionReader::TellEnd() {
  if (end_told_ || !set_.bounded) return;
  {
    FilePartition& partition = set_.partition(index_);
    const std::lock_guard lock(partition.mutex);
    if (!partition.complete || !partition.queue.empty()) return;
  }
  end_told_ = true;
  set_.Tell(PartitionEnded{{kTopic, index_}, next_});
}

}  // namespace firn::source::files
