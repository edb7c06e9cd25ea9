#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "firn/base/result.h"
#include "firn/record/position.h"

/// Many tables behind one read (docs/life-of-a-commit.md, "Many tables behind one source"). Pure.
///
/// Each partition is read once; every record belongs to at most one table. Three positions count, all in the
/// same log:
///   - where a *table* stands in a partition, in its own progress property: all its records below are in;
///   - how far the *read* has come: every record below was given to its table (or set aside, or dropped);
///   - the *lower bound*: every record below is committed, whatever its table. It lies in the control table,
///     may lag behind, and never needs a guard: what held when it was written holds for ever, because tables
///     only advance.
/// A restart reads from the lower bound and each table takes what lies at or above its own position.
namespace firn::commit {

/// Smallest position, per partition, of what is not committed yet.
using PendingFrom = std::map<record::SourcePartition, int64_t>;
/// Keeps the smaller of both.
void AddPending(PendingFrom& pending, const record::SourcePartition& partition, int64_t from);
void AddPending(PendingFrom& pending, const record::PositionRanges& ranges);

/// The lower bound: how far the read has come, but not past anything pending.
record::Positions LowerBound(const record::Positions& read, const PendingFrom& pending);

/// From where a table takes records of a partition that is read from `read_from`: below, they are in already.
int64_t TakesFrom(const record::Positions& table, const record::SourcePartition& partition,
                  int64_t read_from);

/// Ranges that one batch of a table covers, in the table's own terms (the fence wants them to begin where the
/// table stands):
///   - a partition that records were taken from: from the table's position (records in between were for other
///     tables), or from the first record if the table does not know the partition yet;
///   - a partition that the table knows and nothing was taken from: up to where the read has come.
/// `taken`: per partition the first record and one past the last position it was looked at; `reached`: how
/// far the read had come when the batch was cut; `apart`: partitions that the table does not take part in
/// (it catches up there by a read of its own). Where
/// records below the table's position were taken (another process moved it meanwhile) the range begins with
/// them, and the fence refuses it.
record::PositionRanges JoinTableRanges(const record::Positions& table, const record::PositionRanges& taken,
                                       const record::Positions& reached,
                                       const std::set<record::SourcePartition>& apart);

/// Joins what a table took later behind what it took before; between them may lie records of other tables.
/// kInternal when it would take a record twice.
Status JoinTaken(record::PositionRanges& taken, const record::SourcePartition& partition,
                 const record::PositionRange& next);

/// Property `firn.complete.<id>` of the control table.
struct Complete {
  /// A table that this pipeline feeds: noticed when it is dropped or made anew.
  struct KnownTable {
    std::string uuid;
    std::string rule;  ///< name template that made it
    std::string key;   ///< what the template took
    bool operator==(const KnownTable&) const = default;
  };
  record::Positions bound;  ///< of every partition
  std::map<std::string, KnownTable> tables;
  /// Tables that left the shared read: below the bound, their records are missing from these positions on (or
  /// from where the table itself stands, if that is further).
  std::map<std::string, PendingFrom> behind;
  bool operator==(const Complete&) const = default;
};

std::string CompleteKey(std::string_view pipeline_id);
/// Compact JSON, one line. Decode: kCorrupt with the reason.
std::string EncodeComplete(const Complete& complete);
Result<Complete> DecodeComplete(std::string_view text);

/// What a process writes over what is there: its own partitions (those in `ours.bound`) with the tables that
/// are behind in them, everything else as it was.
Complete MergeComplete(const Complete& base, const Complete& ours);

}  // namespace firn::commit
