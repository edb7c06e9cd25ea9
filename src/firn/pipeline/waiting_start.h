#pragma once

#include <functional>
#include <memory>

#include "firn/pipeline/pipeline.h"
#include "firn/runtime/clock.h"

namespace firn::pipeline {

/// How long a start waits for catalogs that do not answer.
inline constexpr int64_t kMaxStartWaitMs = 10 * 60'000;

/// Whether a start waits for it to pass. A refusal (401, 403) and an answer of something that is no catalog
/// (404, a page of HTML) come from who is there: nobody is away.
bool WaitingMayHelp(const Error& error);

/// Opens what a pipeline is made of: retriable while a catalog is away.
using OpenDeps = std::function<Result<PipelineDeps>()>;

/// A pipeline whose catalogs are opened when it runs. While they do not answer it is DEGRADED, says why, and
/// tries again, bounded runs too, until kMaxStartWaitMs are over or somebody stops it; what waiting does not
/// mend (no right, no such catalog) fails at once. Nothing was taken meanwhile: a stop is a clean end.
std::unique_ptr<Pipeline> MakeWaitingPipeline(PipelineConfig config, OpenDeps open, runtime::Clock& clock);

}  // namespace firn::pipeline
