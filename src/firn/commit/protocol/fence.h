#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "firn/base/result.h"
#include "firn/record/position.h"

namespace firn::commit {

/// Where a batch does not fit the table: another process moved the partition, or the batch does not start
/// where the table stands.
struct FenceMismatch {
  record::SourcePartition partition;
  int64_t table_at = 0;
  int64_t batch_from = 0;
  std::string ToString() const;
};

/// The positions are the fence (invariant 3): a batch is accepted only if, for each partition in it, the
/// table stands exactly at `from`, and in the same log. A partition the table does not know yet is accepted
/// as it is. Returns the first mismatch, or nothing.
std::optional<FenceMismatch> CheckFence(const record::Positions& table, const record::PositionRanges& batch);

/// The no-gap, no-overlap rule: `positions` after `ranges`. CheckFence must have accepted them (checked).
record::Positions Advance(record::Positions positions, const record::PositionRanges& ranges);

/// Joins `next` behind `ranges`; kInternal when it would leave a gap or overlap.
Status JoinRange(record::PositionRanges& ranges, const record::SourcePartition& partition,
                 const record::PositionRange& next);

}  // namespace firn::commit
