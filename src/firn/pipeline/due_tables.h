#pragma once

#include <cstdint>
#include <set>
#include <vector>

namespace firn::pipeline {

/// A table with a batch that fills and could be cut: nothing of it is in flight.
struct FillingTable {
  uint32_t id = 0;
  int64_t age_ms = 0;  ///< since the batch's first record
  int64_t bytes = 0;
  bool over_limits = false;  ///< max_records or max_input_bytes is reached
};

/// Which tables to cut now: those that are `interval_ms` old or over their limits, with those that are nearly
/// due. When memory is short also the largest ones, until half of all filled bytes go. Pure.
std::set<uint32_t> DueTables(std::vector<FillingTable> filling, int64_t interval_ms, bool memory_is_short);

}  // namespace firn::pipeline
