#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "firn/base/result.h"
#include "firn/iceberg/model/schema.h"
#include "firn/record/dead_letter.h"
#include "firn/record/position.h"
#include "firn/runtime/memory_budget.h"
#include "firn/write/writer.h"

namespace firn::pipeline {

/// What the dead letters of one batch of a table may take: one batch commits them while the next one fills.
/// With so many a batch is due, and lanes wait for its cut.
int64_t MaxLetterBytes(const runtime::MemoryBudget& memory);

/// What one lane filled for one table since the last cut: where it took records, writers that hold the rows
/// (one, or one more for each schema change in between), and what did not become rows. Move-only; ends by
/// FinishFiles or Discard.
struct BatchPart {
  /// Per partition from the first record (or position) taken to one past what was looked at for this table;
  /// between them may lie records of other tables.
  record::PositionRanges taken;
  /// Partitions with records of the table that wait and are not in here.
  std::set<record::SourcePartition> unsettled;
  bool own_read = false;  ///< from the table's own read (CatchUp)
  std::vector<std::unique_ptr<write::TableWriter>> writers;
  std::map<int32_t, iceberg::SchemaPtr> schemas;  ///< by id: those that the records were decoded under
  std::shared_ptr<store::Store> store;            ///< where the writers write; null without writers
  std::vector<record::DeadLetter> dead_letters;
  runtime::Reservation dead_letter_memory;  ///< of the process's budget
  int64_t records = 0;                      ///< taken from the source, whatever became of them
  int64_t rows = 0;
  int64_t input_bytes = 0;
  int64_t bad_records = 0;  ///< dead letters and skipped ones
  int64_t skipped = 0;      ///< bad records that the policy drops (counted)
  int64_t tombstones_skipped = 0;
  int64_t unknown_fields_ignored = 0;
  int64_t oldest_timestamp_ms = std::numeric_limits<int64_t>::max();  ///< of the records; max: none

  /// Adds the other part behind this one; their partitions do not overlap, or join.
  Status Merge(BatchPart&& other);
  /// Whether a commit is owed: positions that moved over records. Control records alone wait for company.
  bool worth_committing() const { return records > 0; }
  /// Drops rows and files. Returns files that could not be removed.
  std::vector<std::string> Discard();
};

}  // namespace firn::pipeline
