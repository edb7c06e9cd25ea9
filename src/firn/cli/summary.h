#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "firn/pipeline/pipeline.h"
#include "firn/pipeline/status.h"

namespace firn::cli {

/// One ended pipeline, for the closing words of `firn run`.
struct EndedPipeline {
  pipeline::PipelineStatus status;
  pipeline::PipelineResult result;
  std::string catalog_name;  ///< the `catalog_name` of a SQL catalog
  std::string warehouse;
  int64_t took_ms = 0;
};

/// What happened and where the rows are, with lines to paste into DuckDB and PyIceberg. Ends with a line
/// break.
std::string ClosingSummary(const EndedPipeline& ended);

}  // namespace firn::cli
