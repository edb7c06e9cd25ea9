#pragma once

#include <cstdint>
#include <vector>

#include "firn/base/error.h"
#include "firn/pipeline/status.h"

namespace firn::cli {

/// What the process tells its caller (the documented codes; scripts and supervisors rely on them).
enum class ExitCode : int {
  kDone = 0,           ///< also after SIGINT or SIGTERM with a clean flush
  kFailed = 1,         ///< failed while running: the same call may work later
  kUserError = 2,      ///< the user's input is wrong
  kDataStop = 3,       ///< stopped on purpose: going on would lose or double data
  kInterrupted = 130,  ///< SIGINT, and the flush did not finish in time
  kTerminated = 143,   ///< SIGTERM, and the flush did not finish in time
};

ExitCode ExitCodeOf(const Error& error);
/// kInterrupted stands for either signal; the caller knows which one came.
ExitCode ExitCodeOf(pipeline::PipelineEnd end);
/// The code of a process of several pipelines: an interruption before 3 before 2 before 1 before 0.
ExitCode Gravest(const std::vector<ExitCode>& codes);

}  // namespace firn::cli
