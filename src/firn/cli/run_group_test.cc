#include "firn/cli/run_group.h"

#include <gtest/gtest.h>

#include "firn/runtime/clock.h"

namespace firn::cli {
namespace {

using pipeline::PipelineEnd;

/// Ends with a given result: at once, or when it is stopped or aborted.
class FakePipeline final : public pipeline::Pipeline {
 public:
  enum class Until : uint8_t { kNow, kStop, kAbort };
  FakePipeline(std::string id, Until until, PipelineEnd end) : until_(until), end_(end) {
    status_.id = std::move(id);
  }

  pipeline::PipelineResult Run(const pipeline::RunOptions& /*options*/, std::stop_token stop,
                               std::stop_token abort) override {
    runtime::Event never;
    if (until_ == Until::kStop) never.Wait(stop);
    if (until_ == Until::kAbort) never.Wait(abort);
    return {end_, end_ == PipelineEnd::kDone ? "" : "broken"};
  }
  pipeline::PipelineStatus status() const override { return status_; }

 private:
  const Until until_;
  const PipelineEnd end_;
  pipeline::PipelineStatus status_;
};

pipeline::PipelineConfig Config(const std::string& id) {
  pipeline::PipelineConfig config;
  config.id = id;
  config.tables.front().name = {"lake", {"travel"}, id};
  return config;
}

class RunGroupTest : public testing::Test {
 protected:
  std::unique_ptr<RunGroup> Group(bool fail_fast) {
    return std::make_unique<RunGroup>(runtime::SystemClock(), pipeline::RunOptions{}, fail_fast,
                                      stop_.get_token(), abort_.get_token());
  }
  static void Add(RunGroup& group, const std::string& id, FakePipeline::Until until, PipelineEnd end) {
    group.Add(Config(id), std::unique_ptr<pipeline::Pipeline>(std::make_unique<FakePipeline>(id, until, end)),
              "lake", "/w");
  }

  std::stop_source stop_;
  std::stop_source abort_;
};

constexpr int64_t kLongMs = 20'000;
constexpr int64_t kShortMs = 50;

TEST_F(RunGroupTest, OneThatFailsLeavesTheOthersRunning) {
  const auto group = Group(/*fail_fast=*/false);
  Add(*group, "a", FakePipeline::Until::kNow, PipelineEnd::kFailed);
  Add(*group, "b", FakePipeline::Until::kStop, PipelineEnd::kDone);
  group->Start();
  EXPECT_FALSE(group->WaitFor(kShortMs));
  stop_.request_stop();
  ASSERT_TRUE(group->WaitFor(kLongMs));
  EXPECT_EQ(group->Ended()[0].result.end, PipelineEnd::kFailed);
  EXPECT_EQ(group->Ended()[1].result.end, PipelineEnd::kDone);
}

TEST_F(RunGroupTest, FailFastStopsTheOthers) {
  const auto group = Group(/*fail_fast=*/true);
  Add(*group, "a", FakePipeline::Until::kStop, PipelineEnd::kDone);
  Add(*group, "b", FakePipeline::Until::kNow, PipelineEnd::kFailed);
  group->Start();
  EXPECT_TRUE(group->WaitFor(kLongMs));
}

TEST_F(RunGroupTest, PipelineThatCannotBeMadeCountsAsFailedWithItsReason) {
  const auto group = Group(/*fail_fast=*/false);
  group->Add(Config("a"), Error(ErrorKind::kNotFound, "no such topic"), "lake", "/w");
  group->Start();
  ASSERT_TRUE(group->WaitFor(kLongMs));
  EXPECT_EQ(group->Ended()[0].result.end, PipelineEnd::kUserError);
  const pipeline::PipelineStatus status = group->Statuses()[0];
  EXPECT_EQ(status.state, pipeline::PipelineState::kFailed);
  EXPECT_EQ(status.table, "lake.travel.a");
  EXPECT_EQ(status.reason, "no such topic");
}

TEST_F(RunGroupTest, AbortEndsWhatAStopDoesNot) {
  const auto group = Group(/*fail_fast=*/false);
  Add(*group, "a", FakePipeline::Until::kAbort, PipelineEnd::kInterrupted);
  group->Start();
  stop_.request_stop();
  EXPECT_TRUE(group->stopping());
  EXPECT_FALSE(group->WaitFor(kShortMs));
  group->Abort();
  ASSERT_TRUE(group->WaitFor(kLongMs));
  EXPECT_EQ(group->Ended()[0].result.end, PipelineEnd::kInterrupted);
}

}  // namespace
}  // namespace firn::cli
