#include "firn/pipeline/end_observations.h"

#include <algorithm>
#include <utility>

namespace firn::pipeline {

void EndObservations::Add(int64_t time_ms,
                          const std::map<record::SourcePartition, source::PartitionBounds>& bounds) {
  commit::EndObservation seen{time_ms, {}};
  for (const auto& [partition, bound] : bounds) {
    if (!bound.end) return;
    seen.ends[partition] = *bound.end;
  }
  if (kept_.size() >= kMaxKept) {
    size_t i = 0;
    std::erase_if(kept_, [&i](const auto&) { return i++ % 2 == 1; });
  }
  kept_.push_back(std::move(seen));
}

void EndObservations::ForgetThrough(int64_t time_ms) {
  std::erase_if(kept_, [&](const auto& seen) { return seen.time_ms <= time_ms; });
}

std::vector<commit::EndObservation> EndObservations::PassedBy(const record::Positions& read) const {
  for (auto seen = kept_.rbegin(); seen != kept_.rend(); ++seen) {
    const bool passed = std::ranges::all_of(seen->ends, [&](const auto& end) {
      const auto at = read.find(end.first);
      return at != read.end() && at->second.next >= end.second;
    });
    if (passed) return {*seen};
  }
  return {};
}

}  // namespace firn::pipeline
