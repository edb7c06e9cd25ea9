#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <utility>

#include "firn/base/result.h"
#include "firn/iceberg/catalog.h"
#include "firn/pipeline/letter_source.h"
#include "firn/pipeline/pipeline.h"
#include "firn/pipeline/pipeline_file.h"
#include "firn/runtime/clock.h"
#include "firn/runtime/ids.h"

namespace firn::pipeline {

/// Memory that the letters of one replay may take, and how many they are at most.
struct ReplayLimits {
  int64_t bytes = int64_t{64} << 20;
  int64_t letters = 100'000;
};

struct ReplayDeps {
  std::shared_ptr<iceberg::Catalog> dead_letter_catalog;
  /// Makes the pipeline of a setup whose source gives the letters.
  std::function<Result<std::unique_ptr<Pipeline>>(const PipelineSetup&)> make_pipeline;
  runtime::Clock* clock = nullptr;
  runtime::IdSource* ids = nullptr;
  ReplayLimits limits = {};
};

struct ReplayResult {
  int64_t letters = 0;          ///< sent and marked by this call
  int64_t bad_again = 0;        ///< of these: set aside again, as new letters
  int64_t without_payload = 0;  ///< not sent
  bool resumed = false;         ///< an earlier call was cut off, and was brought to its end first
};

/// Sends every letter that waits through the pipeline as it is configured now, once, and marks it; what is
/// still bad becomes a new letter (`firn dead-letters replay`). Each replay is a run of the pipeline with an
/// identity of its own over a fixed set of letters: their positions are in the same commits as the rows, as
/// those of every run are. Cut off anywhere, the next call brings the same replay to its end.
Result<ReplayResult> ReplayDeadLetters(const PipelineSetup& setup, const ReplayDeps& deps,
                                       std::stop_token stop, std::stop_token abort);

}  // namespace firn::pipeline
