#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "firn/base/result.h"
#include "firn/pipeline/lane_board.h"
#include "firn/pipeline/lane_protocol.h"
#include "firn/pipeline/pipeline.h"
#include "firn/pipeline/retry_pause.h"

namespace firn::pipeline {

/// A lane's side of one table: records that wait for it, its decoder and writer, and the part that fills. A
/// table that is not ready (not opened yet, or its schema must change first) lets its records wait; one that
/// takes no part leaves them out and tells where they are missing from. The lane's thread only.
class LaneTable {
 public:
  /// All outlive it. The target is set when the first record comes: an offer may come earlier.
  LaneTable(const LaneConfig& config, const DecoderFactory& make_decoder, LaneBoard& board)
      : config_(config), make_decoder_(make_decoder), board_(board), decoding_(*config.clock) {}
  LaneTable(const LaneTable&) = delete;
  LaneTable& operator=(const LaneTable&) = delete;

  void SetTarget(const TargetPtr& target) { target_ = target; }
  const TargetPtr& target() const { return target_; }

  // --- records

  /// Behind records that wait already, and of a table that is not ready, records wait. `raw` covers the whole
  /// range of the batch it comes from. An error ends the lane.
  Status Give(record::RawBatch raw);
  /// Goes on with what waits, as far as it can.
  Status TakeWaiting();
  /// Bad records that have no table, out of a batch of this partition and range.
  Status TakeLetters(const record::SourcePartition& partition, const record::PositionRange& range,
                     std::vector<record::DeadLetter> letters);
  bool waits() const { return !waiting_.empty(); }
  int64_t waiting_bytes() const;
  /// Of the dead letters since the last cut.
  int64_t letter_bytes() const { return part_.dead_letter_memory.bytes(); }

  // --- orders

  void Offer(TableOffer offer);
  /// What waits is read again.
  void DropWaiting();
  /// These partitions were given up.
  void Forget(const std::vector<record::SourcePartition>& partitions);
  /// Hands the part over; nothing when there is none.
  void CutInto(LaneCut& cut);
  /// Adds what stays here, and takes along what was left out.
  void TellInto(LaneCut& cut);
  void Discard() { part_.Discard(); }

  // --- decoders are kept within a bound by the lane

  bool has_decoder() const { return decoder_ != nullptr; }
  /// The next records make one.
  bool wants_decoder() const { return decoder_ == nullptr && ready(); }
  void DropDecoder() { decoder_ = nullptr; }
  bool filling() const { return part_.records > 0; }

 private:
  /// Records from index `begin` on.
  struct Waiting {
    record::RawBatch raw;
    size_t begin = 0;
    int64_t from() const { return begin < raw.size() ? raw.offsets[begin] : raw.range.from; }
  };

  bool closed() const { return opened_ && offer_.view == nullptr; }
  bool ready() const {
    return opened_ && offer_.view != nullptr && !(asked_of_ && offer_.view->version <= *asked_of_);
  }
  Status TakeOne(Waiting& waiting);
  /// Leaves what the table has already. False: it takes nothing of this.
  bool ClipToTable(Waiting& waiting);
  Status AppendDecoded(decode::DecodeResult result, const record::RawBatch& raw, size_t begin);
  Status TakeBadRecords(std::vector<record::DeadLetter> letters);
  Status Advance(const record::RawBatch& raw, size_t begin, size_t end);
  Status PrepareDecoder();
  Status OpenWriter();
  Status Fail(Error error);
  void LeaveOut();
  void AskToOpen();
  void AskForChange(record::SchemaDelta delta);
  void BePatient(Error error);
  void Count(int64_t records, int64_t bytes, int64_t letter_bytes);

  const LaneConfig& config_;
  const DecoderFactory& make_decoder_;
  LaneBoard& board_;

  TargetPtr target_;
  TableOffer offer_;
  TableViewPtr view_;  ///< adopted
  std::unique_ptr<decode::Decoder> decoder_;
  int64_t writer_view_version_ = -1;
  BatchPart part_;
  std::deque<Waiting> waiting_;
  commit::PendingFrom left_out_;
  bool opened_ = false;              ///< an offer came
  bool failed_ = false;              ///< told to the control thread: no offer counts any more
  RetryPause decoding_;              ///< the decoder has asked for patience
  bool asked_ = false;               ///< for the table to be opened
  std::optional<int64_t> asked_of_;  ///< version of the view that a change was asked of
};

}  // namespace firn::pipeline
