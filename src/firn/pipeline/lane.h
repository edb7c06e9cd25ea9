#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "firn/base/result.h"
#include "firn/decode/decoder.h"
#include "firn/iceberg/catalog.h"
#include "firn/pipeline/batch.h"
#include "firn/pipeline/pipeline.h"
#include "firn/record/schema_delta.h"
#include "firn/source/source.h"

namespace firn::pipeline {

/// The table as the lanes see it: replaced as a whole when its schema, spec or properties changed.
struct TableView {
  iceberg::LoadedTable table;
  decode::BoundSchema bound;
  int64_t version = 0;  ///< rises with each replacement
};
using TableViewPtr = std::shared_ptr<const TableView>;

struct LaneConfig {
  int index = 0;
  BadRecordPolicy on_bad_record = BadRecordPolicy::kDeadLetter;
  int64_t max_buffered_bytes = int64_t{64} << 20;  ///< of each writer
  arrow::MemoryPool* pool = nullptr;
  runtime::IdSource* ids = nullptr;
};

/// A lane waits because the records need a schema that the table does not have.
struct SchemaRequest {
  record::SchemaDelta delta;
  int64_t view_version = 0;  ///< of the view the delta was found under
};

/// One thread that owns some partitions: drains their records, decodes them and hands the rows to its table
/// writer. It keeps filling its part until the control thread cuts it. Built stopped and paused.
///
/// Threads: everything public is called by the control thread. A cut is a short rendezvous: the lane answers
/// between two polls. While the lane waits for a schema, is held back, stalled, or failed, it still answers.
class Lane {
 public:
  Lane(LaneConfig config, source::Source& source, const DecoderFactory& make_decoder);
  ~Lane();
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;

  /// Begins the thread; the lane is paused until Resume.
  void Start();
  /// Asks for the part filled so far; the lane goes on filling the next one, or pauses. Collect waits for it.
  void RequestCut(bool pause);
  BatchPart CollectCut();
  /// Lets a paused lane go on, under this view. Drops records that it had polled and not taken when
  /// `drop_polled` is set (after a seek).
  void Resume(TableViewPtr view, bool drop_polled);
  /// A new view for a lane that runs: taken at once when it waits for a schema, else at the next cut.
  void Offer(TableViewPtr view);
  /// Holds the lane back from polling (back-pressure), or lets it go on.
  void Hold(bool hold);
  /// The next range of this partition begins at `from`, below what the source will hand out (a gap that was
  /// decided upon).
  void SetOrigin(const record::SourcePartition& partition, int64_t from);
  /// Drops what was polled and not taken of partitions that were given up. Only while paused.
  void Forget(const std::vector<record::SourcePartition>& partitions);
  /// Ends the thread and discards the part it held. Idempotent.
  void Stop();

  /// The lane cannot go on; it stands still until Stop.
  std::optional<Error> error() const;
  std::optional<SchemaRequest> schema_request() const;
  /// Why records cannot be decoded for now (a schema registry that is away); empty until that has lasted a
  /// while. The lane keeps the records and tries again.
  std::optional<Error> stall() const;
  /// Next positions of the partitions seen so far.
  std::map<record::SourcePartition, int64_t> positions() const;

  int64_t records_filling() const { return records_.load(std::memory_order_relaxed); }
  int64_t bytes_filling() const { return bytes_.load(std::memory_order_relaxed); }
  int64_t dead_letter_bytes_filling() const { return dead_letter_bytes_.load(std::memory_order_relaxed); }
  int64_t rows_total() const { return rows_total_.load(std::memory_order_relaxed); }
  int64_t bytes_total() const { return bytes_total_.load(std::memory_order_relaxed); }

 private:
  enum class Command : uint8_t { kNone, kCut, kCutAndPause };

  void Run();
  bool ServeCommand(std::unique_lock<std::mutex>& lock);
  Status Step();
  Status TakePolled();
  Status TakeOne(record::RawBatch& raw);
  Status AppendDecoded(decode::DecodeResult result, const record::RawBatch& raw, size_t begin);
  Status TakeBadRecords(std::vector<record::DeadLetter> letters);
  Status AdvanceTo(const record::RawBatch& raw, size_t next_record);
  Status AdoptView();
  Status OpenWriter();
  void WaitForSchema(record::SchemaDelta delta);
  void Stall(Error error);
  void EndStall();
  void PublishCounters();
  void DropForgotten();

  const LaneConfig config_;
  source::Source& source_;
  const DecoderFactory& make_decoder_;

  // Shared with the control thread.
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  Command command_ = Command::kNone;
  std::optional<BatchPart> cut_;
  bool paused_ = true;
  bool held_ = false;
  bool stop_ = false;
  bool drop_polled_ = false;
  std::vector<record::SourcePartition> forget_;
  TableViewPtr offered_;
  std::optional<Error> error_;
  std::optional<SchemaRequest> request_;
  std::optional<Error> stall_;  ///< of the last try to decode
  int stalled_tries_ = 0;
  std::map<record::SourcePartition, int64_t> origins_;
  std::map<record::SourcePartition, int64_t> positions_;

  // The lane's own.
  TableViewPtr view_;
  std::unique_ptr<decode::Decoder> decoder_;
  BatchPart part_;
  int64_t writer_view_version_ = -1;
  std::vector<record::RawBatch> polled_;
  size_t polled_at_ = 0;  ///< batch in polled_
  size_t record_at_ = 0;  ///< first record of it that is not taken yet
  bool rests_ = false;    ///< before the next try to decode

  std::atomic<int64_t> records_{0};
  std::atomic<int64_t> bytes_{0};
  std::atomic<int64_t> dead_letter_bytes_{0};
  std::atomic<int64_t> rows_total_{0};
  std::atomic<int64_t> bytes_total_{0};
  std::jthread thread_;
};

}  // namespace firn::pipeline
