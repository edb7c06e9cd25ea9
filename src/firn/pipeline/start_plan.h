#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "firn/base/result.h"
#include "firn/commit/outcome.h"
#include "firn/commit/protocol/shared_read.h"
#include "firn/iceberg/catalog.h"
#include "firn/pipeline/config.h"
#include "firn/pipeline/control_table.h"
#include "firn/pipeline/pipeline.h"
#include "firn/source/source.h"

namespace firn::pipeline {

/// Where assigned partitions are read from.
struct StartPlan {
  record::Positions positions;  ///< for Source::Start
  std::map<record::SourcePartition, int64_t>
      origins;  ///< table positions below the log's first record (on_data_loss: earliest)
  int64_t epoch = 0;
  std::string how;  ///< for the log
};

/// Commits the start positions of a first run (Committer::CommitStart, on the committer thread).
using CommitStart = std::function<commit::CommitOutcome(const record::Positions&)>;

struct StartContext {
  source::Source* source = nullptr;
  iceberg::Catalog* catalog = nullptr;
  const PipelineConfig* config = nullptr;
  const RunOptions* options = nullptr;
  CommitStart commit_start;
};

/// The rules of "Where a pipeline resumes" (product.md) for a pipeline of one table, with the facts fetched:
/// the table alone decides. Control thread. kDataLoss (exit code 3) names what was found per partition and
/// what decides it.
Result<StartPlan> PlanStart(const StartContext& context,
                            const std::vector<record::SourcePartition>& partitions);

struct SharedStart {
  StartPlan plan;
  ControlTable::State control;  ///< as it is now
};
/// The same for a pipeline of many tables: all partitions are read from the lower bound in the control table;
/// on a first run the configured start becomes that bound, before anything is read.
Result<SharedStart> PlanSharedStart(const StartContext& context, ControlTable& control,
                                    const std::vector<record::SourcePartition>& partitions,
                                    const std::stop_token& abort);

/// Where the configuration says that reading begins, for every partition that the source has now.
Result<record::Positions> ConfiguredStart(source::Source& source);

/// The pipeline's positions as the table has them now; empty when it has none.
Result<record::Positions> TablePositions(iceberg::Catalog& catalog, const PipelineConfig& config);

}  // namespace firn::pipeline
