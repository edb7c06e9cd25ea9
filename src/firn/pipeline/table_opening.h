#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "firn/base/result.h"
#include "firn/commit/committer.h"
#include "firn/commit/protocol/shared_read.h"
#include "firn/iceberg/catalog.h"
#include "firn/pipeline/pipeline.h"
#include "firn/pipeline/sample.h"

namespace firn::pipeline {

/// How a table is to be opened; may be tried again.
struct OpenOrder {
  /// Records to infer columns from, asked for when the table is to be made and has no declared columns.
  std::function<Result<SampleRecords>()> sample;
  /// What the control table knows of it: then it must be there, and the same.
  std::optional<commit::Complete::KnownTable> known;
  std::string cluster_id;
};

struct TableOpened {
  iceberg::LoadedTable table;
  record::Positions positions;
  int64_t epoch = 0;
  std::string how;                 ///< for the log
  std::vector<std::string> notes;  ///< of inference, for people
};

struct OpenContext {
  iceberg::Catalog* catalog = nullptr;
  commit::Committer* committer = nullptr;
  const PipelineConfig* pipeline = nullptr;
  const TableConfig* table = nullptr;  ///< of the rule, with the table's own name
  const PipelineDeps* deps = nullptr;
  const RunOptions* options = nullptr;
  std::stop_token abort;
};

/// One table of many: as it is, or made, and where it stands (product.md, "Where a pipeline resumes"). On the
/// committers' pool. Errors carry the table's name; kDataLoss: it is not the one that this pipeline fed.
Result<TableOpened> OpenTable(const OpenContext& context, const OpenOrder& order);

}  // namespace firn::pipeline
