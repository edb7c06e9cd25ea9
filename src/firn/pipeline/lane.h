#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "firn/base/result.h"
#include "firn/commit/protocol/shared_read.h"
#include "firn/decode/decoder.h"
#include "firn/iceberg/catalog.h"
#include "firn/pipeline/batch.h"
#include "firn/pipeline/pipeline.h"
#include "firn/pipeline/sorter.h"
#include "firn/pipeline/target.h"
#include "firn/record/schema_delta.h"
#include "firn/source/source.h"

namespace firn::pipeline {

/// A table as the lanes see it: replaced as a whole when its schema, spec or properties changed.
struct TableView {
  iceberg::LoadedTable table;
  decode::BoundSchema bound;
  int64_t version = 0;  ///< rises with each replacement
};
using TableViewPtr = std::shared_ptr<const TableView>;

/// From where a table takes records of a partition; it has those below. kTakesNothing: it catches up there by
/// a read of its own. Partitions that are not named: everything.
inline constexpr int64_t kTakesNothing = INT64_MAX;
using TakesFromMap = std::map<record::SourcePartition, int64_t>;

/// What the control thread tells the lanes of one table.
struct TableOffer {
  TableViewPtr view;  ///< null: the table takes part no more
  std::shared_ptr<const TakesFromMap> takes_from;
};

struct LaneConfig {
  int index = 0;         ///< in the writers' file names
  int source_index = 0;  ///< which of the source's lanes this one polls
  BadRecordPolicy on_bad_record = BadRecordPolicy::kDeadLetter;
  TombstonePolicy tombstones = TombstonePolicy::kSkip;
  int64_t max_buffered_bytes = int64_t{64} << 20;  ///< of each writer
  int64_t open_file_from_bytes = 0;                ///< of each writer: rows that wait before a file is opened
  size_t max_decoders = 256;                       ///< kept; the one that was used longest ago makes room
  arrow::MemoryPool* pool = nullptr;
  runtime::IdSource* ids = nullptr;
  std::vector<bool> infers;             ///< by rule: a table to be made takes its columns from a sample
  std::optional<uint32_t> only_target;  ///< a read of one table: records of others are none of its business
  /// One error ends the run, as it is with one table: no table is set aside.
  bool fails_whole = false;
};

/// What a lane wants of the control thread for one table; its records wait meanwhile.
struct TableRequest {
  enum class Kind : uint8_t { kOpen, kChange, kTrouble, kFailed };
  TargetPtr target;
  Kind kind = Kind::kOpen;
  std::shared_ptr<const std::vector<record::RawBatch>> sample;  ///< kOpen: to infer columns from
  record::SchemaDelta delta;                                    ///< kChange
  int64_t view_version = 0;    ///< kChange: of the view the delta was found under
  std::optional<Error> error;  ///< kTrouble (it tries again by itself), kFailed
};

/// What a lane hands over.
struct LaneCut {
  struct Part {
    TargetPtr target;
    BatchPart part;
  };
  std::vector<Part> parts;
  record::PositionRanges read;  ///< since the last cut: given to tables, set aside, or dropped
  commit::PendingFrom pending;  ///< of what stays in the lane
  /// Records since the last cut whose table takes no part in this read, where the first of them was.
  std::map<uint32_t, commit::PendingFrom> left_out;
};

/// Which tables to cut.
struct CutOrder {
  bool all = true;
  std::set<uint32_t> targets;  ///< with all = false
  bool pause = false;
};

/// One thread that owns some partitions: drains their records, sorts them by table, decodes them and hands
/// the rows to the table's writer. It keeps filling each table's part until the control thread cuts it. A
/// table that is not ready (not opened yet, or its schema must change first) does not stop the others: its
/// records wait, within a bound. Built stopped and paused.
///
/// Threads: everything public is called by the control thread. A cut is a short rendezvous: the lane answers
/// between two polls, whatever its state.
class Lane {
 public:
  Lane(LaneConfig config, source::Source& source, const DecoderFactory& make_decoder, Sorter sorter,
       TargetPtr unrouted);
  ~Lane();
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;

  /// Begins the thread; the lane is paused until Resume.
  void Start();
  /// Asks for what was filled so far; the lane goes on filling, or pauses. Collect waits for it.
  void RequestCut(CutOrder order);
  LaneCut CollectCut();
  /// Lets a paused lane go on. Drops records that it had taken from the source and not given to a table when
  /// `drop_waiting` is set (after a seek).
  void Resume(bool drop_waiting);
  /// Answers a request, or tells of a change. A view is taken at once where records wait for it, else at the
  /// next cut.
  void Offer(uint32_t target, TableOffer offer);
  /// Holds the lane back from polling (back-pressure), or lets it go on.
  void Hold(bool hold);
  /// Records at or above these positions are not taken (the end of a read of one table). Only while paused.
  void SetEnds(std::map<record::SourcePartition, int64_t> ends);
  /// Drops what waits of partitions that were given up. Only while paused.
  void Forget(const std::vector<record::SourcePartition>& partitions);
  /// Ends the thread and discards the parts it held. Idempotent.
  void Stop();

  /// The lane cannot go on; it stands still until Stop.
  std::optional<Error> error() const;
  /// New ones since the last call.
  std::vector<TableRequest> TakeRequests();
  /// How far the partitions seen so far were read.
  std::map<record::SourcePartition, int64_t> positions() const;

  int64_t waiting_bytes() const { return waiting_bytes_.load(std::memory_order_relaxed); }
  int64_t filling_tables() const { return filling_tables_.load(std::memory_order_relaxed); }
  int64_t rows_total() const { return rows_total_.load(std::memory_order_relaxed); }
  int64_t bytes_total() const { return bytes_total_.load(std::memory_order_relaxed); }

 private:
  /// Records that wait for their table, from index `begin` on.
  struct Waiting {
    record::RawBatch raw;
    size_t begin = 0;
    int64_t from() const { return begin < raw.size() ? raw.offsets[begin] : raw.range.from; }
  };
  /// The lane's side of one table.
  struct Slot {
    TargetPtr target;
    TableOffer offer;
    TableViewPtr view;  ///< adopted
    std::unique_ptr<decode::Decoder> decoder;
    int64_t writer_view_version = -1;
    BatchPart part;
    std::deque<Waiting> waiting;
    bool opened = false;  ///< an offer came
    bool failed = false;  ///< told to the control thread: no offer counts any more
    std::chrono::steady_clock::time_point not_before;  ///< the decoder has asked for patience
    int patient_tries = 0;
    bool asked = false;               ///< for the table to be opened
    std::optional<int64_t> asked_of;  ///< version of the view that a change was asked of
    uint64_t last_used = 0;
    bool closed() const { return opened && offer.view == nullptr; }
    bool ready() const {
      return opened && offer.view != nullptr && !(asked_of && offer.view->version <= *asked_of);
    }
  };

  void Run();
  bool ServeCommand();
  void TakeOrders();
  void CutSlot(Slot& slot, LaneCut& cut);
  Slot& SlotOf(const TargetPtr& target);
  Status Step(bool poll);
  Status Dispatch(record::RawBatch raw);
  Status TakeLetters(record::RawBatch& raw, std::vector<record::DeadLetter> letters);
  Status GiveTo(Slot& slot, record::RawBatch raw);
  Status TakeWaiting(Slot& slot);
  Status TakeOne(Slot& slot, Waiting& waiting);
  Status AppendDecoded(Slot& slot, decode::DecodeResult result, const record::RawBatch& raw, size_t begin);
  Status TakeBadRecords(Slot& slot, std::vector<record::DeadLetter> letters);
  Status Advance(Slot& slot, const record::RawBatch& raw, size_t begin, size_t end);
  Status PrepareDecoder(Slot& slot);
  Status OpenWriter(Slot& slot);
  void LeaveOut(Slot& slot);
  void Request(TableRequest request);
  Status SlotFailed(Slot& slot, Error error);
  void AskToOpen(Slot& slot);
  void Clip(record::RawBatch& raw) const;
  void Count(Slot& slot, int64_t records, int64_t bytes, int64_t letter_bytes);
  void PublishWaiting();

  const LaneConfig config_;
  source::Source& source_;
  const DecoderFactory& make_decoder_;

  // Shared with the control thread.
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<CutOrder> command_;
  std::optional<LaneCut> cut_;
  bool paused_ = true;
  bool held_ = false;
  bool stop_ = false;
  bool drop_waiting_ = false;
  std::vector<record::SourcePartition> forget_;
  std::map<uint32_t, TableOffer> offers_;
  std::optional<Error> error_;
  std::vector<TableRequest> requests_;
  std::atomic<bool> has_requests_{false};
  std::map<record::SourcePartition, int64_t> positions_;
  std::map<record::SourcePartition, int64_t> ends_;

  // The lane's own.
  Sorter sorter_;
  std::unordered_map<uint32_t, Slot> slots_;
  Slot unrouted_;
  record::PositionRanges read_;
  std::map<uint32_t, commit::PendingFrom> left_out_;
  uint64_t uses_ = 0;
  size_t decoders_ = 0;

  std::atomic<int64_t> waiting_bytes_{0};
  std::atomic<int64_t> filling_tables_{0};
  std::atomic<int64_t> rows_total_{0};
  std::atomic<int64_t> bytes_total_{0};
  std::jthread thread_;
};

}  // namespace firn::pipeline
