#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "firn/commit/committer.h"
#include "firn/record/position.h"
#include "firn/source/source.h"

namespace firn::pipeline {

/// Ends of all partitions as the source told them from time to time: a commit that passes them can say
/// `firn.valid-through`. Kept until then; when commits stay away for long every second one is dropped.
/// Control thread only.
class EndObservations {
 public:
  /// Does nothing while the source does not know an end.
  void Add(int64_t time_ms, const std::map<record::SourcePartition, source::PartitionBounds>& bounds);
  /// Committed through this time: nobody asks for earlier ones any more.
  void ForgetThrough(int64_t time_ms);

  const std::vector<commit::EndObservation>& all() const { return kept_; }
  /// The newest that a read which has come this far has passed; none or one.
  std::vector<commit::EndObservation> PassedBy(const record::Positions& read) const;

  static constexpr size_t kMaxKept = 64;

 private:
  std::vector<commit::EndObservation> kept_;  ///< in order of time
};

}  // namespace firn::pipeline
