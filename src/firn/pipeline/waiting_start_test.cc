#include "firn/pipeline/waiting_start.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <stop_token>
#include <vector>

#include "firn/runtime/manual_clock.h"

namespace firn::pipeline {
namespace {

class WaitingStartTest : public ::testing::Test {
 protected:
  /// Runs a pipeline whose catalogs answer the n-th try (from 1) so.
  PipelineResult Run(const std::function<Error(int)>& answer) {
    PipelineConfig config;
    config.id = "p";
    int tries = 0;
    pipeline_ = MakeWaitingPipeline(
        config,
        [&]() -> Result<PipelineDeps> {
          states_.push_back(pipeline_->status().state);
          return answer(++tries);
        },
        clock_);
    const PipelineResult result = pipeline_->Run({}, stop_.get_token(), abort_.get_token());
    tries_ = tries;
    return result;
  }
  static Error Away() {
    return Error(ErrorKind::kUnavailable, "connection refused").WithRetry(RetryHint::kYes);
  }

  runtime::ManualClock clock_;
  std::stop_source stop_;
  std::stop_source abort_;
  std::unique_ptr<Pipeline> pipeline_;
  std::vector<PipelineState> states_;
  int tries_ = 0;
};

TEST_F(WaitingStartTest, WaitsDegradedUntilWaitingDoesNotHelpAnyMore) {
  const PipelineResult result =
      Run([](int tries) { return tries < 20 ? Away() : Error(ErrorKind::kPermissionDenied, "wrong token"); });
  EXPECT_EQ(tries_, 20);
  EXPECT_EQ(states_.front(), PipelineState::kStarting);
  EXPECT_EQ(states_.back(), PipelineState::kDegraded);
  EXPECT_GT(clock_.elapsed_ms(), 60'000);
  EXPECT_EQ(result.end, PipelineEnd::kFailed);
  EXPECT_NE(result.message.find("wrong token"), std::string::npos);
  EXPECT_EQ(pipeline_->status().state, PipelineState::kFailed);
}

TEST_F(WaitingStartTest, ARefusalFailsAtOnce) {
  EXPECT_EQ(Run([](int) { return Error(ErrorKind::kPermissionDenied, "no"); }).end, PipelineEnd::kFailed);
  EXPECT_EQ(tries_, 1);
  EXPECT_EQ(Run([](int) { return Error(ErrorKind::kNotFound, "no"); }).end, PipelineEnd::kUserError);
  EXPECT_EQ(tries_, 1);
  const auto page = [](int) { return Away().WithHttpStatus(404); };  // as a web server that is no catalog
  EXPECT_EQ(Run(page).end, PipelineEnd::kFailed);
  EXPECT_EQ(tries_, 1);
  EXPECT_EQ(clock_.elapsed_ms(), 0);
}

TEST_F(WaitingStartTest, GivesUpAfterTenMinutes) {
  const PipelineResult result = Run([](int) { return Away(); });
  EXPECT_EQ(result.end, PipelineEnd::kFailed);
  EXPECT_NE(result.message.find("connection refused"), std::string::npos);
  EXPECT_LE(clock_.elapsed_ms(), kMaxStartWaitMs);
  EXPECT_GT(clock_.elapsed_ms(), kMaxStartWaitMs - 20'000);
}

TEST_F(WaitingStartTest, AStopWhileItWaitsIsACleanEnd) {
  const PipelineResult result = Run([this](int tries) {
    if (tries == 3) stop_.request_stop();
    return Away();
  });
  EXPECT_EQ(tries_, 3);
  EXPECT_EQ(result.end, PipelineEnd::kDone);
  EXPECT_EQ(pipeline_->status().state, PipelineState::kFinished);
}

TEST_F(WaitingStartTest, AnAbortWhileItWaitsIsAnInterruption) {
  const PipelineResult result = Run([this](int) {
    stop_.request_stop();
    abort_.request_stop();
    return Away();
  });
  EXPECT_EQ(result.end, PipelineEnd::kInterrupted);
}

}  // namespace
}  // namespace firn::pipeline
