#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>

#include "firn/record/position.h"
#include "firn/source/source.h"

namespace firn::pipeline {

/// How far a bounded run reads: to the ends that the source had when its partitions were first assigned. The
/// ends of some sources (files) come while it reads. Control thread only.
class ReadGoal {
 public:
  /// Aims at these ends. Returns the number of positions between start and end; nothing while the source has
  /// not told all ends. `started`: where partitions are read from; others from their first record.
  std::optional<int64_t> Aim(const std::map<record::SourcePartition, source::PartitionBounds>& bounds,
                             const record::Positions& started);
  /// The source has told an end.
  void Ended(const record::SourcePartition& partition, int64_t end) { ends_[partition] = end; }
  /// The first assignment has come: from now on no end that is missing will turn up by itself.
  void Settle() { settled_ = true; }
  bool settled() const { return settled_; }

  /// Settled, all ends are known, and `positions` have come to them.
  bool ReachedBy(const std::map<record::SourcePartition, int64_t>& positions) const;

 private:
  std::map<record::SourcePartition, int64_t> ends_;
  std::set<record::SourcePartition> untold_;  ///< the source tells their ends when it is there
  bool settled_ = false;
};

}  // namespace firn::pipeline
