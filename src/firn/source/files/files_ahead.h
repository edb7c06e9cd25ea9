#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "firn/runtime/executor.h"
#include "firn/source/files/taken_files.h"
#include "firn/store/store.h"

namespace firn::source::files {

/// A file that was read as a whole before its turn.
struct FetchedFile {
  std::shared_ptr<store::RandomAccessObject> object;  ///< its bytes, in memory
  store::ObjectInfo after;                            ///< what the store told of it after that
};

/// How much of one partition is fetched ahead.
struct AheadLimits {
  size_t max_files = 8;
  int64_t max_bytes = int64_t{2} << 20;       ///< of all that are fetched or on their way
  int64_t max_file_bytes = int64_t{1} << 20;  ///< a larger one is read in chunks when its turn comes
};

/// Small files that wait for their turn, fetched side by side: each costs two requests, and one after the
/// other that would be their latency and nothing else. A file that cannot be fetched is forgotten: whoever
/// opens it finds out why. Not thread-safe.
class FilesAhead {
 public:
  struct Next {
    FileId file;
    std::string location;
  };

  /// `held_bytes` counts what is held here. It and `executor` outlive this.
  FilesAhead(std::shared_ptr<store::Store> store, runtime::Executor& executor, AheadLimits limits,
             std::atomic<int64_t>& held_bytes)
      : store_(std::move(store)), executor_(executor), limits_(limits), held_bytes_(held_bytes) {}
  ~FilesAhead() { Clear(); }
  FilesAhead(const FilesAhead&) = delete;
  FilesAhead& operator=(const FilesAhead&) = delete;

  const AheadLimits& limits() const { return limits_; }
  /// The files whose turn comes next, in this order: those that fit are fetched, what is no longer among them
  /// is dropped.
  void Expect(std::span<const Next> next);
  /// The file, waited for if it is on its way; empty when it was not fetched.
  std::optional<FetchedFile> Take(const FileId& file);
  void Clear();

 private:
  struct Entry {
    FileId file;
    std::shared_ptr<std::atomic<bool>> dropped;
    runtime::Future<std::optional<FetchedFile>> fetched;
  };

  void Fetch(const Next& next);
  void Drop(Entry& entry);

  const std::shared_ptr<store::Store> store_;
  runtime::Executor& executor_;
  const AheadLimits limits_;
  std::atomic<int64_t>& held_bytes_;
  std::deque<Entry> entries_;
};

}  // namespace firn::source::files
