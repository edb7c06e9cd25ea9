#include "firn/source/files/file_lister.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "firn/base/time.h"

namespace firn::source::files {

namespace {

constexpr int64_t kNsPerMs = 1'000'000;
constexpr int64_t kRetryMs = 2'000;
constexpr int64_t kMinPauseMs = 100;

Error LateFile(const FileSet& set, const FileId& file) {
  return FileStop(
      fmt::format(
          "late file: {} was modified at {}, more than `lookback` before files that were taken, and was "
          "not there before",
          set.pattern().LocationOf(file.path), FormatInstantMs(file.modified_ms)),
      "Set on_late_file: take to read it now, or skip to leave it out; a longer lookback allows more of "
      "them.");
}

Error ChangedFile(const FileSet& set, const FileId& file) {
  return FileStop(
      fmt::format("changed file: {} was taken, and overwritten at {}", set.pattern().LocationOf(file.path),
                  FormatInstantMs(file.modified_ms)),
      "Write new data to new files. Set on_changed_file: take to read all of it again (the rows that "
      "are in stay), or skip to leave the change out.");
}

Error UnnamedLateFiles(const FileSet& set, int64_t count) {
  return FileStop(
      fmt::format(
          "late files: below {} there are files, at least {}, that came while no process was watching "
          "and are older than `lookback` allows; which ones cannot be told any more",
          set.pattern().base(), count),
      "Write those that are missing in the table anew (a new time makes them new files), then set "
      "on_late_file: "
      "skip for one start.");
}

}  // namespace

FileLister::FileLister(FileSet& set, int64_t candidate_bytes)
    : set_(set), candidate_bytes_(candidate_bytes) {}

FileLister::~FileLister() {
  stop_.request_stop();
  if (thread_ != nullptr) thread_->Join();
}

void FileLister::Start() {
  thread_ = runtime::SystemThreads().Start("files-list", [this] { Run(stop_.get_token()); });
}

void FileLister::Run(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    Status listed = ListOnce(stop);
    if (stop.stop_requested()) return;
    if (listed.ok()) {
      if (std::exchange(troubled_, false)) set_.Tell(SourceRecovered{});
    } else {
      troubled_ = true;
      const bool again = listed.error().retry() == RetryHint::kYes;
      set_.Tell(SourceTrouble{std::move(listed).error(), std::nullopt});
      if (!again) return;
    }
    set_.AwaitWant(troubled_ ? kRetryMs : PauseMs(), stop);
  }
}

int64_t FileLister::PauseMs() const {
  if (finished_) return int64_t{3'600'000};
  if (!set_.bounded) return set_.config().poll_interval_ms;
  return std::min(std::max(set_.config().min_age_ms / 2, kMinPauseMs), set_.config().poll_interval_ms);
}

Status FileLister::ListOnce(const std::stop_token& stop) {
  found_.assign(static_cast<size_t>(set_.partition_count), {});
  young_now_.clear();
  waiting_files_ = waiting_bytes_ = 0;
  for (int32_t i = 0; i < set_.partition_count; ++i) {
    FilePartition& partition = set_.partition(i);
    const std::lock_guard lock(partition.mutex);
    partition.taken.BeginListing();
  }
  Status judged = Ok();
  const auto visit = [&](const store::ObjectInfo& info) {
    judged = Visit(info);
    return judged.ok() && !stop.stop_requested();
  };
  if (set_.pattern().may_be_one_file()) {
    if (const auto one = set_.store().Head(set_.pattern().text()); one.ok()) {
      visit(*one);
      FIRN_TRY(judged);
      return Deliver();
    }
  }
  Status listed = set_.store().List(set_.pattern().base(), visit);
  FIRN_TRY(judged);
  if (!listed.ok() && listed.error().kind() != ErrorKind::kNotFound) {
    return std::move(listed).error().WithContext("listing " + set_.pattern().base());
  }
  if (stop.stop_requested()) return Ok();
  return Deliver();
}

Status FileLister::Visit(const store::ObjectInfo& info) {
  const auto path = set_.pattern().Match(info.location);
  if (!path || info.size_bytes == 0) return Ok();
  const FileId file{std::string(*path), info.size_bytes, info.modified_ms, info.version};
  const int32_t index = set_.PartitionOf(file.path);
  FilePartition& partition = set_.partition(index);
  const std::lock_guard lock(partition.mutex);
  if (!partition.started) return Ok();
  return VisitPartition(partition, found_[static_cast<size_t>(index)], file);
}

Status FileLister::VisitPartition(FilePartition& partition, Found& found, const FileId& file) {
  const TakenFiles::Sight sight = partition.taken.See(file);
  newest_ms_ = std::max(newest_ms_, file.modified_ms);
  if (sight == TakenFiles::Sight::kTaken) return Ok();
  if (set_.cutoff_ms && file.modified_ms > *set_.cutoff_ms) return Ok();
  if (partition.open_path != file.path) {  // else the reader notices
    if (IsYoung(file)) {
      found.waits = true;
    } else {
      FIRN_ASSIGN(const bool wanted, Judge(partition, sight, file));
      if (!wanted) return Ok();
      Keep(found, file);
    }
  }
  ++waiting_files_;
  waiting_bytes_ += file.size_bytes;
  return Ok();
}

Result<bool> FileLister::Judge(FilePartition& partition, TakenFiles::Sight sight, const FileId& file) {
  if (sight == TakenFiles::Sight::kNew) return true;
  const bool late = sight == TakenFiles::Sight::kLate;
  const FilePolicy policy = late ? set_.config().on_late_file : set_.config().on_changed_file;
  if (policy == FilePolicy::kTake) return true;
  if (policy == FilePolicy::kFail) return late ? LateFile(set_, file) : ChangedFile(set_, file);
  partition.taken.Take(file, set_.clock().NowMs());
  partition.decided = true;
  ++skipped_;
  skip_log_.Log(obs::Level::kWarning, late ? "late file left out" : "change of a file left out",
                {{"file", set_.pattern().LocationOf(file.path)}, {"so_far", skipped_}});
  return false;
}

// By the file's own time; one that lies in the future tells nothing, then by how long it has not changed.
bool FileLister::IsYoung(const FileId& file) {
  if (set_.config().min_age_ms == 0) return false;
  const int64_t age_ms = set_.clock().NowMs() - file.modified_ms;
  if (age_ms >= set_.config().min_age_ms) return false;
  const int64_t now_ns = set_.clock().MonotonicNs();
  Young young{fmt::format("{}/{}", file.size_bytes, file.version), now_ns};
  if (const auto before = young_.find(file.path);
      before != young_.end() && before->second.version == young.version)
    young.seen_ns = before->second.seen_ns;
  const bool stands_still = now_ns - young.seen_ns >= set_.config().min_age_ms * kNsPerMs;
  young_now_.insert_or_assign(file.path, std::move(young));
  return !stands_still;
}

void FileLister::Keep(Found& found, const FileId& file) {
  const auto cost = [](const FileId& f) {
    return static_cast<int64_t>(sizeof(Candidate) + f.path.capacity() + f.version.capacity());
  };
  found.oldest.push_back({KeyOf(file), file});
  std::ranges::push_heap(found.oldest, {}, &Candidate::key);
  found.bytes += cost(file);
  while (found.bytes > candidate_bytes_ / set_.partition_count && found.oldest.size() > 1) {
    found.bytes -= cost(found.oldest.front().file);
    std::ranges::pop_heap(found.oldest, {}, &Candidate::key);
    found.oldest.pop_back();
    found.overflowed = true;
  }
}

// The listing was complete: its files go to the lanes.
Status FileLister::Deliver() {
  std::swap(young_, young_now_);
  if (set_.bounded && !set_.cutoff_ms) set_.cutoff_ms = newest_ms_;
  finished_ = set_.bounded;
  bool again = false;
  int64_t unnamed = 0;
  for (int32_t i = 0; i < set_.partition_count; ++i) {
    Found& found = found_[static_cast<size_t>(i)];
    std::ranges::sort_heap(found.oldest, {}, &Candidate::key);
    FilePartition& partition = set_.partition(i);
    const std::lock_guard lock(partition.mutex);
    unnamed += partition.taken.EndListing();
    again |= partition.taken.wants_listing();
    partition.queue.clear();
    for (Candidate& candidate : found.oldest) partition.queue.push_back(std::move(candidate.file));
    partition.overflowed = found.overflowed;
    partition.complete =
        set_.bounded && !found.overflowed && !found.waits && !partition.taken.wants_listing();
    finished_ = finished_ && partition.complete;
    found = {};
  }
  set_.waiting_files = waiting_files_;
  set_.waiting_bytes = waiting_bytes_;
  set_.listed = true;
  if (again) set_.WantListing();
  if (unnamed == 0) return Ok();
  if (set_.config().on_late_file != FilePolicy::kSkip) return UnnamedLateFiles(set_, unnamed);
  obs::Log(obs::Level::kWarning, "late files left out that came while no process was watching",
           {{"base", set_.pattern().base()}, {"at_least", unnamed}});
  return Ok();
}

}  // namespace firn::source::files
