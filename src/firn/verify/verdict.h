#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "firn/base/result.h"
#include "firn/iceberg/model/table_metadata.h"
#include "firn/record/position.h"
#include "firn/runtime/clock.h"
#include "firn/source/source.h"
#include "firn/verify/offset_set.h"
#include "firn/verify/table_offsets.h"

namespace firn::verify {

/// Ranges of offsets: all counted, the first ones listed.
struct Finding {
  static constexpr size_t kMaxListed = 100;
  int64_t offsets = 0;
  int64_t ranges = 0;
  std::vector<OffsetRange> listed;

  /// Ascending; what touches the one before joins it.
  void Add(OffsetRange range);
  bool empty() const { return offsets == 0; }

 private:
  int64_t end_ = -1;
};

/// What the table itself says about a partition.
struct Expected {
  std::optional<int64_t> from;  ///< where its pipeline began, where the history still shows it
  std::optional<int64_t> to;    ///< below, everything is in, by its progress
};
using Expectations = std::map<record::SourcePartition, Expected>;

/// Of one pipeline, or of every pipeline that has written here (empty id): begun at the least, come to the
/// most.
Result<Expectations> ExpectationsOf(const iceberg::TableMetadata& table, const std::string& pipeline_id,
                                    const std::string& branch);
/// Begun at the least, come to the least: of several tables that are looked at as one.
void MergeExpectations(Expectations& all, const Expectations& more);

struct PartitionReport {
  record::SourcePartition partition;
  int64_t rows = 0;
  int64_t first = 0;  ///< of its rows
  int64_t end = 0;    ///< one past its last row; `first` where there is none
  Finding holes;      ///< records without a row, before the last row; without a log: numbers without a row
  Finding tail;       ///< the same behind the last row
  Finding unproven;   ///< numbers without a row that lie below the log's first record
  Finding repeated;   ///< offsets with more than one row
  int64_t repeated_rows = 0;  ///< rows too many
  int64_t dead_letters = 0;   ///< without a row, but set aside
  int64_t tombstones = 0;     ///< without a row, and the log's record has no value
  int64_t waiting = 0;        ///< numbers that the pipeline has not come to yet
  std::optional<source::PartitionBounds> log;

  bool clean() const { return holes.empty() && tail.empty() && unproven.empty() && repeated.empty(); }
};

/// What the rows are held against.
struct VerifyFacts {
  const TableOffsets* rows = nullptr;
  const TableOffsets* letters = nullptr;  ///< of the dead-letter table; may be null
  Expectations expected;
  bool from_log_start = false;  ///< what the log holds before the first row is missing as well
};

/// By the numbers alone: gaps that transactions and compaction leave look like holes.
std::vector<PartitionReport> VerifyNumbers(const VerifyFacts& facts);

/// Against the log: reads it where numbers have no row, and nowhere else. The source was opened for one lane;
/// it is subscribed here.
Result<std::vector<PartitionReport>> VerifyAgainstLog(const VerifyFacts& facts, source::Source& source,
                                                      runtime::Clock& clock);

}  // namespace firn::verify
