#include "firn/cli/exit_code.h"

#include <algorithm>

namespace firn::cli {

ExitCode ExitCodeOf(const Error& error) {
  if (error.kind() == ErrorKind::kDataLoss) return ExitCode::kDataStop;
  return error.domain() == ErrorDomain::kUser ? ExitCode::kUserError : ExitCode::kFailed;
}

ExitCode ExitCodeOf(pipeline::PipelineEnd end) {
  switch (end) {
    case pipeline::PipelineEnd::kDone:
      return ExitCode::kDone;
    case pipeline::PipelineEnd::kFailed:
      return ExitCode::kFailed;
    case pipeline::PipelineEnd::kUserError:
      return ExitCode::kUserError;
    case pipeline::PipelineEnd::kDataStop:
      return ExitCode::kDataStop;
    case pipeline::PipelineEnd::kInterrupted:
      return ExitCode::kInterrupted;
  }
  return ExitCode::kFailed;
}

ExitCode Gravest(const std::vector<ExitCode>& codes) {
  ExitCode gravest = ExitCode::kDone;
  for (const ExitCode code : codes) gravest = std::max(gravest, code);
  return gravest;
}

}  // namespace firn::cli
