#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "firn/base/result.h"
#include "firn/record/file_format.h"
#include "firn/source/files/byte_streams.h"
#include "firn/source/files/file_set.h"
#include "firn/source/files/files_ahead.h"
#include "firn/source/source.h"

namespace firn::source::files {

/// Reads the files of one virtual partition, one after another: the records of each, with the partition's
/// positions and cursors.
///
/// A batch holds records of one file. Before the first of a file comes an empty batch whose cursor names it:
/// what follows the cursor of any batch is therefore the same after a restart. After each read the store is
/// asked whether the file is still the one that was opened; bytes of two versions are never handed out as
/// one. Thread-safe; Poll is called by one lane.
class PartitionReader {
 public:
  /// `fetchers` gets small files ahead; it outlives this.
  PartitionReader(FileSet& set, int32_t index, record::FileFormat& format, const ReadSetup& setup,
                  runtime::Executor& fetchers, const AheadLimits& ahead)
      : set_(set),
        index_(index),
        format_(format),
        setup_(setup),
        ahead_(set.shared_store(), fetchers, ahead, set.prefetched_bytes) {}
  ~PartitionReader();
  PartitionReader(const PartitionReader&) = delete;
  PartitionReader& operator=(const PartitionReader&) = delete;

  /// Goes on at this position. The state of its cursor is in the partition already; `open` is the file in
  /// progress there.
  void Start(const record::PartitionPosition& position, std::optional<OpenFile> open);
  void Release();
  /// Appends batches, about a budget's worth. What goes wrong is told to the set.
  void Poll(const PollBudget& budget, std::vector<record::RawBatch>* out);

 private:
  /// The file that is being read.
  struct Reading {
    OpenFile at;  ///< behind the last batch
    std::string location;
    std::unique_ptr<record::FileReader> reader;
    std::shared_ptr<const record::FileOrigin> origin;
    int64_t prefetched_bytes = 0;
    std::optional<store::ObjectInfo> after = {};  ///< fetched ahead: told after all of it was read
  };

  Status TryPoll(const PollBudget& budget, std::vector<record::RawBatch>* out);
  /// False when there is no file to read.
  Result<bool> OpenNext(std::vector<record::RawBatch>* out);
  std::optional<OpenFile> NextFile();
  std::vector<FilesAhead::Next> LookAhead(const FilePartition& partition) const;
  Result<std::shared_ptr<store::RandomAccessObject>> OpenObject(Reading& reading, bool resumed);
  Status Open(const OpenFile& file, std::vector<record::RawBatch>* out);
  Status Read(const PollBudget& budget, std::vector<record::RawBatch>* out);
  void HandOut(record::RawBatch batch, bool more, std::vector<record::RawBatch>* out);
  void Finish(const FileId& file, std::vector<record::RawBatch>* out);
  void LeaveToLister();

  Status CheckUnchanged(std::vector<record::RawBatch>* out);
  Status OnChanged(const store::ObjectInfo& now, std::vector<record::RawBatch>* out);
  Status OnVanished(const OpenFile& file, std::vector<record::RawBatch>* out);
  void OnError(Error error);
  bool WaitsForWriter(const Error& error);
  void DropReading();
  void TellEnd();
  void TellDecisions(std::vector<record::RawBatch>* out);
  void Emit(const std::optional<OpenFile>& open, std::vector<record::RawBatch>* out);
  record::SourceCursor Cursor(const std::optional<OpenFile>& open);
  record::RawBatch NewBatch() const;

  FileSet& set_;
  const int32_t index_;
  record::FileFormat& format_;
  const ReadSetup setup_;
  FilesAhead ahead_;

  std::mutex mutex_;
  bool started_ = false;
  bool closed_ = false;  ///< nothing more until a seek: somebody must decide
  bool end_told_ = false;
  int64_t next_ = 0;
  int64_t skip_ = 0;                ///< records that are committed already, behind the cursor
  std::optional<OpenFile> resume_;  ///< to be opened first
  std::optional<Reading> reading_;
  int64_t retry_at_ns_ = 0;
  int64_t back_off_ms_ = 0;
  int64_t damaged_since_ns_ = 0;
};

}  // namespace firn::source::files
