#include "firn/pipeline/due_tables.h"

#include <algorithm>

namespace firn::pipeline {

namespace {

// A cut is cheap but not free: tables that are nearly due come along.
constexpr double kNearlyDue = 0.8;

void AddLargest(std::vector<FillingTable>& filling, std::set<uint32_t>& due) {
  std::ranges::stable_sort(filling, std::ranges::greater(), &FillingTable::bytes);
  int64_t left = 0;
  for (const FillingTable& table : filling) left += table.bytes;
  const int64_t keep = left / 2;
  for (const FillingTable& table : filling) {
    if (left <= keep && !due.empty()) return;
    due.insert(table.id);
    left -= table.bytes;
  }
}

}  // namespace

std::set<uint32_t> DueTables(std::vector<FillingTable> filling, int64_t interval_ms, bool memory_is_short) {
  std::set<uint32_t> due;
  std::set<uint32_t> nearly;
  for (const FillingTable& table : filling) {
    if (table.age_ms >= interval_ms || table.over_limits) {
      due.insert(table.id);
    } else if (static_cast<double>(table.age_ms) >= kNearlyDue * static_cast<double>(interval_ms)) {
      nearly.insert(table.id);
    }
  }
  if (!due.empty()) due.merge(nearly);
  if (memory_is_short) AddLargest(filling, due);
  return due;
}

}  // namespace firn::pipeline
