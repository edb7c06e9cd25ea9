#pragma once

#include <deque>
#include <map>
#include <vector>

#include "firn/base/result.h"
#include "firn/commit/protocol/shared_read.h"
#include "firn/pipeline/lane_protocol.h"

namespace firn::pipeline {

/// How far the read has come in the partitions that are ours, as the lanes' last cuts told it, and what of it
/// they still hold. Control thread only.
class ReadLedger {
 public:
  explicit ReadLedger(size_t lanes) : held_(lanes) {}

  /// Partitions are read from here on (again); the lanes hold nothing.
  void Start(const record::Positions& positions);
  void Forget(const std::vector<record::SourcePartition>& partitions);

  /// What a lane told with a cut. kInternal when its ranges do not join those before.
  Status Take(size_t lane, const LaneCut& cut);

  const record::Positions& read() const { return read_; }
  /// Everything below is committed; `pending`: what left the lanes and is not.
  record::Positions Bound(commit::PendingFrom pending) const;

 private:
  record::Positions read_;
  std::vector<commit::PendingFrom> held_;  ///< by lane
  std::map<record::SourcePartition, std::deque<record::SourceCursor>> cursors_;
};

}  // namespace firn::pipeline
