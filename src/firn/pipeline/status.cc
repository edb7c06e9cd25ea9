#include "firn/pipeline/status.h"

namespace firn::pipeline {

std::string_view ToString(PipelineState state) {
  switch (state) {
    case PipelineState::kStarting:
      return "STARTING";
    case PipelineState::kRunning:
      return "RUNNING";
    case PipelineState::kPaused:
      return "PAUSED";
    case PipelineState::kDegraded:
      return "DEGRADED";
    case PipelineState::kFailed:
      return "FAILED";
    case PipelineState::kFinished:
      return "FINISHED";
  }
  return "?";
}

}  // namespace firn::pipeline
