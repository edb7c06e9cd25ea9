#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <stop_token>
#include <string>
#include <unordered_map>
#include <vector>

#include "firn/base/result.h"
#include "firn/obs/log.h"
#include "firn/runtime/threads.h"
#include "firn/source/files/file_set.h"

namespace firn::source::files {

/// Finds files: lists the source again and again on a thread of its own and puts what is not taken into the
/// partitions' queues, oldest first. A listing passes by name for name; of those that wait, as many are kept
/// as `kCandidateBytes` hold, the oldest of each partition, and the next listing brings the next ones.
class FileLister {
 public:
  static constexpr int64_t kCandidateBytes = int64_t{16} << 20;

  explicit FileLister(FileSet& set, int64_t candidate_bytes = kCandidateBytes);
  ~FileLister();
  FileLister(const FileLister&) = delete;
  FileLister& operator=(const FileLister&) = delete;

  /// Begins the thread.
  void Start();
  /// One listing, on the caller's thread (tests; else the lister's own).
  Status ListOnce(const std::stop_token& stop);
  /// All partitions of a bounded run have what is theirs.
  bool finished() const { return finished_; }

 private:
  struct Candidate {
    FileKey key;
    FileId file;
  };
  /// Of one partition, while a listing runs.
  struct Found {
    std::vector<Candidate> oldest;  ///< a heap, the newest in front
    int64_t bytes = 0;
    bool overflowed = false;
    bool waits = false;  ///< for files that are too young
  };
  /// A file that was modified a moment ago, or in the future.
  struct Young {
    std::string version;
    int64_t seen_ns = 0;
  };

  void Run(const std::stop_token& stop);
  Status Visit(const store::ObjectInfo& info);
  Status VisitPartition(FilePartition& partition, Found& found, const FileId& file);
  /// True when the file is to be read.
  Result<bool> Judge(FilePartition& partition, TakenFiles::Sight sight, const FileId& file);
  bool IsYoung(const FileId& file);
  void Keep(Found& found, const FileId& file);
  Status Deliver();
  int64_t PauseMs() const;

  FileSet& set_;
  const int64_t candidate_bytes_;
  std::vector<Found> found_;
  std::unordered_map<std::string, Young> young_;
  std::unordered_map<std::string, Young> young_now_;
  int64_t newest_ms_ = 0;
  int64_t waiting_files_ = 0;
  int64_t waiting_bytes_ = 0;
  int64_t skipped_ = 0;
  bool finished_ = false;
  bool troubled_ = false;
  obs::RateLimitedLog skip_log_{10'000};
  std::stop_source stop_;
  std::unique_ptr<runtime::Thread> thread_;
};

}  // namespace firn::source::files
