#include "firn/pipeline/read_goal.h"

#include <algorithm>

namespace firn::pipeline {

std::optional<int64_t> ReadGoal::Aim(const std::map<record::SourcePartition, source::PartitionBounds>& bounds,
                                     const record::Positions& started) {
  int64_t total = 0;
  for (const auto& [partition, bound] : bounds) {
    if (!bound.end) {
      untold_.insert(partition);
      continue;
    }
    const auto start = started.find(partition);
    const int64_t from = start == started.end() ? bound.first : start->second.next;
    if (*bound.end > from) ends_[partition] = *bound.end;
    total += std::max<int64_t>(0, *bound.end - from);
  }
  return untold_.empty() ? std::optional(total) : std::nullopt;
}

bool ReadGoal::ReachedBy(const std::map<record::SourcePartition, int64_t>& positions) const {
  if (!settled_) return false;
  if (!std::ranges::all_of(untold_, [&](const auto& partition) { return ends_.contains(partition); }))
    return false;
  return std::ranges::all_of(ends_, [&](const auto& end) {
    const auto at = positions.find(end.first);
    return at != positions.end() && at->second >= end.second;
  });
}

}  // namespace firn::pipeline
