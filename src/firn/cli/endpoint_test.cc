#include "firn/cli/endpoint.h"

#include <gtest/gtest.h>

namespace firn::cli {
namespace {

pipeline::PipelineStatus InState(const std::string& id, pipeline::PipelineState state,
                                 const std::string& reason = "") {
  pipeline::PipelineStatus status;
  status.id = id;
  status.state = state;
  status.reason = reason;
  return status;
}

TEST(Readiness, DegradedIsStillReadyFailedIsNot) {
  EXPECT_TRUE(ReadinessOf({InState("a", pipeline::PipelineState::kRunning),
                           InState("b", pipeline::PipelineState::kDegraded)})
                  .ready);
  const Readiness failed = ReadinessOf({InState("a", pipeline::PipelineState::kRunning),
                                        InState("b", pipeline::PipelineState::kFailed, "disk full")});
  EXPECT_FALSE(failed.ready);
  EXPECT_EQ(failed.text, "b: FAILED: disk full\n");
}

TEST(Readiness, WaitsForEveryPipelineToBegin) {
  EXPECT_FALSE(ReadinessOf({InState("a", pipeline::PipelineState::kStarting)}).ready);
}

}  // namespace
}  // namespace firn::cli
