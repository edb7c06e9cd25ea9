#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "firn/base/result.h"
#include "firn/commit/committer.h"
#include "firn/iceberg/catalog.h"
#include "firn/pipeline/config.h"
#include "firn/source/source.h"

namespace firn::pipeline {

/// Where an operator wants a pipeline to go on (`firn offsets set|reset`).
struct PositionTarget {
  enum class Kind : uint8_t {
    kOffsets,   ///< at these numbers
    kTime,      ///< at the first record that is not older
    kGroup,     ///< where another consumer group stands
    kRecorded,  ///< where the table's property says, whatever became of its snapshot
    kHistory,   ///< where the newest commit of the pipeline in the branch's history ended: after a rollback
    kStart,     ///< at the configured start
    kEarliest,  ///< at the first record that is there
    kLatest,    ///< behind the last record that is there
  };
  Kind kind = Kind::kRecorded;
  std::map<record::SourcePartition, int64_t> offsets;  ///< kOffsets
  int64_t time_ms = 0;                                 ///< kTime
  std::string group;                                   ///< kGroup
  std::vector<std::string> topics;                     ///< only these move; empty: all
  std::string said;                                    ///< for the snapshot's summary
};

struct PositionMove {
  record::SourcePartition partition;
  std::optional<int64_t> from;  ///< empty: the table has no position of it
  std::optional<int64_t> to;    ///< empty: found anew, and read from its first record
};

/// What Committer::CommitOrder takes, and what it would change.
struct PlannedPositions {
  commit::PositionsOrder order;
  std::vector<PositionMove> moves;  ///< partitions whose number changes
  bool needed = false;              ///< false: the pipeline would go on exactly there without it
};

/// Computes the positions from the table and the open source. Partitions that are not named keep what is
/// recorded. kInvalidArgument for positions that the log does not hold, kUnsupported for what the source
/// cannot tell, each with what can be done instead.
Result<PlannedPositions> PlanPositions(const iceberg::LoadedTable& table, const PipelineConfig& config,
                                       source::Source& source, const PositionTarget& target);

/// One partition as `firn offsets show` tells of it.
struct PartitionStanding {
  record::SourcePartition partition;
  std::optional<int64_t> position;  ///< empty: not known yet
  std::optional<int64_t> first;     ///< of the log; empty: the source was not asked, or has no such partition
  std::optional<int64_t> end;
  std::string state;  ///< "goes on", or why it does not
};
struct TableStanding {
  std::string table;  ///< empty: the bound from which a pipeline of many tables reads
  int64_t epoch = 0;
  std::string state;
  bool goes_on = true;  ///< a run would not stop here
  std::vector<PartitionStanding> partitions;
};

/// `source` may be null: then the log is not looked at.
Result<TableStanding> StandingOf(const iceberg::LoadedTable& table, const PipelineConfig& config,
                                 source::Source* source);
/// Of a pipeline of many tables, out of its control table: the bound, then each table that it knows, by
/// `load`.
Result<std::vector<TableStanding>> SharedStandings(
    const iceberg::LoadedTable& control, const PipelineConfig& config, source::Source* source,
    const std::function<Result<iceberg::LoadedTable>(const std::string&)>& load);

/// One table without a control table above it.
Result<bool> HasOneTable(const PipelineConfig& config);

}  // namespace firn::pipeline
