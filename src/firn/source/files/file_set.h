#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "firn/runtime/clock.h"
#include "firn/source/files/config.h"
#include "firn/source/files/path_pattern.h"
#include "firn/source/files/taken_files.h"
#include "firn/source/source.h"
#include "firn/store/store.h"

namespace firn::source::files {

/// Virtual partitions that the files are spread over by the hash of their path. A pipeline keeps the number
/// that it began with: its cursors hold it.
inline constexpr int32_t kPartitions = 8;
inline constexpr char kTopic[] = "files";

/// One virtual partition, between the lister, which finds files, and the lane, which reads them.
struct FilePartition {
  std::mutex mutex;
  bool started = false;
  TakenFiles taken{TakenFiles::Limits{}};
  std::deque<FileId> queue;              ///< not taken yet, in the order of their keys
  std::optional<std::string> open_path;  ///< of the file that is being read
  bool decided = false;                  ///< a file was left out: to be told with a cursor
  bool overflowed = false;               ///< there are more than the queue took
  bool complete = false;                 ///< bounded: nothing comes after the queue
};

/// What the lister, the readers of the lanes and the control thread share.
class FileSet {
 public:
  FileSet(FilesConfig config, PathPattern pattern, std::shared_ptr<store::Store> store, runtime::Clock& clock)
      : config_(std::move(config)), pattern_(std::move(pattern)), store_(std::move(store)), clock_(clock) {
    for (int32_t i = 0; i < kPartitions; ++i) partitions_.push_back(std::make_unique<FilePartition>());
  }

  const FilesConfig& config() const { return config_; }
  const PathPattern& pattern() const { return pattern_; }
  store::Store& store() const { return *store_; }
  const std::shared_ptr<store::Store>& shared_store() const { return store_; }
  runtime::Clock& clock() const { return clock_; }

  FilePartition& partition(int32_t index) { return *partitions_[static_cast<size_t>(index)]; }
  int32_t PartitionOf(std::string_view path) const {
    return static_cast<int32_t>(HashOfPath(path) % static_cast<uint64_t>(partition_count));
  }
  /// Of all positions: another path is another log.
  record::SourceIdentity identity() const { return {pattern_.text(), {}}; }
  TakenFiles::Limits limits() const {
    return {.lookback_ms = config_.lookback_ms, .max_entries = TakenFiles::Limits{}.max_entries};
  }

  /// For the control thread's next PollControl.
  void Tell(SourceEvent event);
  std::vector<SourceEvent> TakeEvents();
  /// A partition has nothing left to read and there may be more: list now.
  void WantListing();
  /// Waits for that, `ms` at most, or until the stop.
  void AwaitWant(int64_t ms, const std::stop_token& stop);

  bool bounded = false;
  int32_t partition_count = kPartitions;
  std::optional<int64_t> cutoff_ms;  ///< bounded: files of a later time came after the start (lister)
  std::atomic<bool> listed = false;  ///< some listing was complete: the counts below hold
  std::atomic<int64_t> waiting_files = 0;
  std::atomic<int64_t> waiting_bytes = 0;
  std::atomic<int64_t> prefetched_bytes = 0;

 private:
  const FilesConfig config_;
  const PathPattern pattern_;
  const std::shared_ptr<store::Store> store_;
  runtime::Clock& clock_;
  std::vector<std::unique_ptr<FilePartition>> partitions_;
  std::mutex mutex_;
  std::condition_variable_any wanted_;
  bool wants_listing_ = false;
  std::vector<SourceEvent> events_;
};

/// Going on would lose or double rows (exit code 3).
Error FileStop(std::string message, std::string remedy);

}  // namespace firn::source::files
