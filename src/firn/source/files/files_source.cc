#include "firn/source/files/files_source.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "firn/obs/log.h"
#include "firn/source/files/file_lister.h"
#include "firn/source/files/file_set.h"
#include "firn/source/files/partition_reader.h"

namespace firn::source::files {

namespace {

using record::SourcePartition;
using BoundsMap = std::map<SourcePartition, PartitionBounds>;

constexpr int64_t kProbedFiles = 10'000;
constexpr int64_t kOpenMs = 15'000;
constexpr int64_t kOpenPauseMs = 200;
constexpr int64_t kNsPerMs = 1'000'000;
constexpr int64_t kMinChunkBytes = int64_t{128} << 10;
constexpr int64_t kMaxChunkBytes = int64_t{4} << 20;
constexpr int kMaxIdleMs = 20;
constexpr size_t kFetchers = 16;

SourcePartition PartitionAt(int32_t index) { return {kTopic, index}; }

class FilesSource final : public Source {
 public:
  FilesSource(const FilesConfig& config, PathPattern pattern, std::shared_ptr<store::Store> store,
              const FilesDeps& deps)
      : deps_(deps),
        executor_("files-read", static_cast<size_t>(deps.lanes)),
        fetchers_("files-fetch", kFetchers),
        set_(config, std::move(pattern), std::move(store), *deps.clock),
        first_reader_(static_cast<size_t>(deps.lanes), 0) {
    // A quarter for small files ahead of their turn; else two chunks for each file that is open: one that is
    // read, one on its way.
    const int64_t ahead_bytes = deps.prefetch_bytes / 4;
    ReadSetup setup;
    setup.chunk_bytes =
        std::clamp((deps.prefetch_bytes - ahead_bytes) / (2 * kPartitions), kMinChunkBytes, kMaxChunkBytes);
    setup.executor = &executor_;
    const AheadLimits ahead{.max_bytes = ahead_bytes / kPartitions};
    for (int32_t i = 0; i < kPartitions; ++i)
      readers_.push_back(std::make_unique<PartitionReader>(set_, i, *deps_.format, setup, fetchers_, ahead));
  }
  ~FilesSource() override { Close(); }

  Status Open() override;
  Result<BoundsMap> ListPartitions() override { return AllBounds(); }
  Result<BoundsMap> Bounds(const std::vector<SourcePartition>& partitions) override;
  Result<record::Positions> ResolveStart(const std::vector<SourcePartition>& partitions) override;
  Result<std::optional<record::Fingerprint>> FingerprintBefore(const SourcePartition& /*partition*/,
                                                               int64_t /*position*/) override {
    return std::optional<record::Fingerprint>{};
  }
  Result<std::vector<std::string>> GroupNotes() override { return std::vector<std::string>{}; }
  Status Subscribe(bool bounded) override;
  Result<std::vector<SourceEvent>> PollControl(int timeout_ms) override;
  Status Start(const record::Positions& positions) override;
  Status Release(const std::vector<SourcePartition>& partitions) override;
  Status Seek(const record::Positions& positions) override;
  void Acknowledge(const record::Positions& /*positions*/, const std::string& /*note*/) override {}
  void Close() override { lister_.reset(); }
  Result<std::vector<record::RawBatch>> Poll(int lane, const PollBudget& budget) override;
  std::optional<Backlog> backlog() const override;
  int64_t prefetched_bytes() const override { return set_.prefetched_bytes; }

 private:
  Result<Backlog> Probe();
  BoundsMap AllBounds() const;
  Status Restore(const SourcePartition& partition, const record::PartitionPosition& position);

  const FilesDeps deps_;
  runtime::Executor executor_;
  runtime::Executor fetchers_;
  FileSet set_;
  std::vector<std::unique_ptr<PartitionReader>> readers_;
  std::vector<size_t> first_reader_;  ///< by lane: whose turn it is
  std::unique_ptr<FileLister> lister_;
};

// Looks whether the folder can be listed, and tells when there is nothing (yet).
Status FilesSource::Open() {
  const int64_t end_ns = set_.clock().MonotonicNs() + kOpenMs * kNsPerMs;
  for (;;) {
    auto found = Probe();
    if (found.ok()) {
      set_.waiting_files = found->files;
      set_.waiting_bytes = found->bytes;
      set_.listed = true;
      return Ok();
    }
    if (found.error().retry() == RetryHint::kNo || set_.clock().MonotonicNs() > end_ns)
      return std::move(found).error().WithContext("source files: " + set_.pattern().text());
    set_.clock().SleepMs(kOpenPauseMs);
  }
}

Result<Backlog> FilesSource::Probe() {
  const PathPattern& pattern = set_.pattern();
  Backlog found;
  const auto visit = [&](const store::ObjectInfo& info) {
    if (pattern.Match(info.location) && info.size_bytes > 0) {
      ++found.files;
      found.bytes += info.size_bytes;
    }
    return found.files < kProbedFiles;
  };
  const auto one = pattern.may_be_one_file()
                       ? set_.store().Head(pattern.text())
                       : Result<store::ObjectInfo>(Error(ErrorKind::kNotFound, "a pattern"));
  if (one.ok()) {
    visit(*one);
  } else {
    Status listed = set_.store().List(pattern.base(), visit);
    if (!listed.ok() && listed.error().kind() != ErrorKind::kNotFound) return std::move(listed).error();
  }
  if (found.files == 0) {
    obs::Log(obs::Level::kWarning, "no file is there (yet) that the source's path matches",
             {{"path", pattern.text()}});
  }
  return found;
}

BoundsMap FilesSource::AllBounds() const {
  BoundsMap bounds;
  for (int32_t i = 0; i < kPartitions; ++i)
    bounds[PartitionAt(i)] = {.first = 0, .end = std::nullopt, .identity = set_.identity()};
  return bounds;
}

Result<BoundsMap> FilesSource::Bounds(const std::vector<SourcePartition>& partitions) {
  const BoundsMap all = AllBounds();
  BoundsMap bounds;
  for (const SourcePartition& partition : partitions) {
    const auto found = all.find(partition);
    if (found == all.end())
      return Error(ErrorKind::kInternal, fmt::format("no partition {} of files", partition.partition));
    bounds.insert(*found);
  }
  return bounds;
}

Result<record::Positions> FilesSource::ResolveStart(const std::vector<SourcePartition>& partitions) {
  record::Positions start;
  for (const SourcePartition& partition : partitions)
    start[partition] = {0, set_.identity(), std::nullopt, std::nullopt};
  return start;
}

Status FilesSource::Subscribe(bool bounded) {
  set_.bounded = bounded;
  PartitionsAssigned assigned;
  for (int32_t i = 0; i < kPartitions; ++i) assigned.partitions.push_back(PartitionAt(i));
  set_.Tell(std::move(assigned));
  return Ok();
}

Result<std::vector<SourceEvent>> FilesSource::PollControl(int timeout_ms) {
  std::vector<SourceEvent> events = set_.TakeEvents();
  if (events.empty() && timeout_ms > 0) {
    set_.clock().SleepMs(std::min(timeout_ms, kMaxIdleMs));
    events = set_.TakeEvents();
  }
  return events;
}

// All positions are restored before the lister sees the first of them: it must know what each took.
Status FilesSource::Start(const record::Positions& positions) {
  lister_.reset();
  int32_t count = 0;
  for (const auto& [partition, position] : positions) {
    if (!position.cursor) continue;
    FIRN_ASSIGN(const auto decoded, TakenFiles::Decode(*position.cursor, set_.limits()));
    count = std::max(count, decoded.partitions);
  }
  if (count > kPartitions) {
    return Error(ErrorKind::kUnsupported,
                 fmt::format("the files were read in {} partitions, this version has {}", count, kPartitions))
        .WithRemedy("Run the version that wrote the positions.");
  }
  if (count > 0) set_.partition_count = count;
  for (const auto& [partition, position] : positions) FIRN_TRY(Restore(partition, position));
  lister_ = std::make_unique<FileLister>(set_);
  lister_->Start();
  return Ok();
}

Status FilesSource::Restore(const SourcePartition& partition, const record::PartitionPosition& position) {
  std::optional<OpenFile> open;
  TakenFiles taken(set_.limits());
  if (position.cursor) {
    FIRN_ASSIGN(auto decoded, TakenFiles::Decode(*position.cursor, set_.limits()));
    taken = std::move(decoded.taken);
    open = std::move(decoded.open);
  }
  const bool passes_records = position.cursor ? position.next > position.cursor->at : position.next > 0;
  if (passes_records && !open) {
    return FileStop(fmt::format("position {} of {}[{}] does not tell which files were read", position.next,
                                partition.topic, partition.partition),
                    "Restore the table's progress property from an older metadata file.");
  }
  FilePartition& state = set_.partition(partition.partition);
  {
    const std::lock_guard lock(state.mutex);
    state.started = true;
    state.taken = std::move(taken);
    state.queue.clear();
    state.open_path = open ? std::optional(open->file.path) : std::nullopt;
    state.decided = state.overflowed = state.complete = false;
  }
  readers_[static_cast<size_t>(partition.partition)]->Start(position, std::move(open));
  return Ok();
}

Status FilesSource::Release(const std::vector<SourcePartition>& partitions) {
  for (const SourcePartition& partition : partitions) {
    readers_[static_cast<size_t>(partition.partition)]->Release();
    FilePartition& state = set_.partition(partition.partition);
    const std::lock_guard lock(state.mutex);
    state.started = false;
  }
  return Ok();
}

Status FilesSource::Seek(const record::Positions& positions) {
  lister_.reset();
  static_cast<void>(set_.TakeEvents());  // of the positions that are left: they come again
  return Start(positions);
}

Result<std::vector<record::RawBatch>> FilesSource::Poll(int lane, const PollBudget& budget) {
  std::vector<record::RawBatch> batches;
  size_t& first = first_reader_[static_cast<size_t>(lane)];
  for (size_t i = 0; i < readers_.size() && batches.empty(); ++i) {
    const size_t index = (first + i) % readers_.size();
    if (static_cast<int>(index % static_cast<size_t>(deps_.lanes)) != lane) continue;
    readers_[index]->Poll(budget, &batches);
    if (!batches.empty()) first = index + 1;
  }
  if (batches.empty()) set_.clock().SleepMs(std::min(budget.timeout_ms, kMaxIdleMs));
  return batches;
}

std::optional<Backlog> FilesSource::backlog() const {
  if (!set_.listed) return std::nullopt;
  return Backlog{set_.waiting_files, set_.waiting_bytes};
}

}  // namespace

Result<std::unique_ptr<Source>> MakeFilesSource(const FilesConfig& config, const FilesDeps& deps) {
  FIRN_ASSIGN(PathPattern pattern, PathPattern::Parse(config.path, config.include_hidden));
  FIRN_ASSIGN(auto store, deps.stores->Resolve(pattern.base(), store::ToStoreAccess(config.s3)));
  return std::unique_ptr<Source>(
      std::make_unique<FilesSource>(config, std::move(pattern), std::move(store), deps));
}

}  // namespace firn::source::files
