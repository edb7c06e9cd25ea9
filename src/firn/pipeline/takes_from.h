#pragma once

#include <cstdint>
#include <map>

#include "firn/record/position.h"

namespace firn::pipeline {

/// From where a table takes records of a partition; it has those below. kTakesNothing: it catches up there by
/// a read of its own. Partitions that are not named: everything.
inline constexpr int64_t kTakesNothing = INT64_MAX;
using TakesFromMap = std::map<record::SourcePartition, int64_t>;

}  // namespace firn::pipeline
