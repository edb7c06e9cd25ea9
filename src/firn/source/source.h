#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "firn/base/result.h"
#include "firn/record/position.h"
#include "firn/record/raw_batch.h"

namespace firn::source {

/// What the log holds for one partition right now.
struct PartitionBounds {
  int64_t first = 0;  ///< first available position
  /// One past the last readable record (last stable offset under read_committed). Empty for sources that do
  /// not know how many records wait before they have read them (files): see PartitionEnded and Backlog.
  std::optional<int64_t> end = 0;
  record::SourceIdentity identity;
};

/// Things that happen to a source, told on the control thread.
struct PartitionsAssigned {
  std::vector<record::SourcePartition> partitions;  ///< not read yet: call Start with their positions
};
struct PartitionsRevoked {
  std::vector<record::SourcePartition> partitions;  ///< still ours until Release is called
  bool lost = false;                                ///< already somebody else's: discard, do not commit
};
/// error.retry() == kYes: the source goes on trying by itself (brokers down ...), state DEGRADED until
/// SourceRecovered. kNo: nothing more comes of the partition (or, without one, of the source) until somebody
/// decides; kDataLoss: the position is no longer in the log, or the log is not the one we read.
struct SourceTrouble {
  Error error;
  std::optional<record::SourcePartition> partition;  ///< the one it is about
};
/// The source answers again after a retriable SourceTrouble.
struct SourceRecovered {};
/// Bounded reading of a partition whose Bounds have no end is over: `end` is one past its last record. Told
/// once after each Start or Seek of the partition, maybe before its last batches were polled.
struct PartitionEnded {
  record::SourcePartition partition;
  int64_t end = 0;
};
using SourceEvent =
    std::variant<PartitionsAssigned, PartitionsRevoked, SourceTrouble, SourceRecovered, PartitionEnded>;

/// What is known to wait at a source whose Bounds have no end.
struct Backlog {
  int64_t files = 0;
  int64_t bytes = 0;
};

struct PollBudget {
  int timeout_ms = 100;
  size_t max_records = 20'000;
  size_t max_bytes = 8 << 20;
};

/// Positions by other measures than their number, for operators (`firn offsets`). Control thread, after Open.
class PositionLookup {
 public:
  using Offsets = std::map<record::SourcePartition, int64_t>;
  virtual ~PositionLookup() = default;
  /// The first record of each partition that is not older than `time_ms`; its end where there is none.
  virtual Result<Offsets> OffsetsAt(const std::vector<record::SourcePartition>& partitions,
                                    int64_t time_ms) = 0;
  /// What another consumer group has committed; partitions without an offset are left out.
  virtual Result<Offsets> OffsetsOfGroup(const std::vector<record::SourcePartition>& partitions,
                                         const std::string& group) = 0;
};

/// A source of ordered, positioned records. Bytes in, positions out; knows nothing of tables.
///
/// Threads: one control thread calls everything but Poll. Lane `i` (0..lanes-1) is the only caller of
/// Poll(i); each started partition belongs to one lane. Positions come from message offsets and
/// end-of-partition events: the ranges of the batches of one partition join without gap or overlap (offsets
/// inside may have gaps). Nothing is acknowledged to the outside before Acknowledge.
class Source {
 public:
  virtual ~Source() = default;

  /// Connects, checks that the topics exist and are readable. Retries broker trouble inside a bound.
  virtual Status Open() = 0;
  /// All partitions that match now (bounded runs, `firn check`, status), with their bounds.
  virtual Result<std::map<record::SourcePartition, PartitionBounds>> ListPartitions() = 0;
  /// Bounds of these partitions, fresh from the brokers.
  virtual Result<std::map<record::SourcePartition, PartitionBounds>> Bounds(
      const std::vector<record::SourcePartition>& partitions) = 0;
  /// Absolute positions of the configured start (`starting_offsets`, `starting_timestamp`) for a first run.
  virtual Result<record::Positions> ResolveStart(const std::vector<record::SourcePartition>& partitions) = 0;
  /// Fingerprint of the last record below `position`; empty when none is left there.
  virtual Result<std::optional<record::Fingerprint>> FingerprintBefore(
      const record::SourcePartition& partition, int64_t position) = 0;
  /// Metadata note stored with the group's committed offset of any partition of the source, by a prefix;
  /// empty when none.
  virtual Result<std::vector<std::string>> GroupNotes() = 0;

  /// Joins the group (or, in a bounded run, takes all partitions). Assignments arrive as events.
  virtual Status Subscribe(bool bounded) = 0;
  /// Serves the source for up to `timeout_ms`; must be called at least every few seconds.
  virtual Result<std::vector<SourceEvent>> PollControl(int timeout_ms) = 0;
  /// Begins to read assigned partitions at these positions and spreads them over the lanes.
  virtual Status Start(const record::Positions& positions) = 0;
  /// Gives revoked partitions up. No batch of theirs is handed out afterwards.
  virtual Status Release(const std::vector<record::SourcePartition>& partitions) = 0;
  /// Continues started partitions elsewhere. All lanes must stand still (between Poll calls) until this
  /// returns; whatever was prefetched for these partitions is dropped.
  virtual Status Seek(const record::Positions& positions) = 0;
  /// Records progress at the source for people and monitors (group offsets with `note` as metadata). Never
  /// decides a position. Asynchronous, best effort.
  virtual void Acknowledge(const record::Positions& positions, const std::string& note) = 0;
  /// Leaves the group and closes. Lanes must have ended.
  virtual void Close() = 0;

  /// Lane side: up to the budget of records, grouped by partition, in order. Empty on timeout.
  /// A batch may hold no records and still advance (range.to beyond range.from after control records at the
  /// end).
  virtual Result<std::vector<record::RawBatch>> Poll(int lane, const PollBudget& budget) = 0;

  /// For sources whose Bounds have no end; empty for the others, and until it is known.
  virtual std::optional<Backlog> backlog() const { return std::nullopt; }
  /// Questions about positions that only some sources can answer; null: this one cannot.
  virtual PositionLookup* position_lookup() { return nullptr; }
  /// Bytes prefetched and not yet polled (back-pressure, metrics).
  virtual int64_t prefetched_bytes() const = 0;
};

}  // namespace firn::source
