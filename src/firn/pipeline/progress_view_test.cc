#include "firn/pipeline/progress_view.h"

#include <gtest/gtest.h>

#include "firn/runtime/manual_clock.h"

namespace firn::pipeline {
namespace {

const record::SourcePartition kP0{"events", 0};
const record::SourcePartition kP1{"events", 1};

class ProgressViewTest : public ::testing::Test {
 protected:
  void Show(std::string failures = {}) {
    ProgressView::Counters counters;
    counters.failures = std::move(failures);
    view_.Show(counters);
  }
  PipelineStatus status() const { return board_.Read(); }

  runtime::ManualClock clock_;
  StatusBoard board_;
  obs::Metrics registry_;
  PipelineMetrics metrics_{registry_, "p"};
  ProgressView view_{"p", board_, metrics_, clock_};
};

TEST_F(ProgressViewTest, TroubleIsShownForAWhileAndThenGoes) {
  view_.Trouble(Error(ErrorKind::kUnavailable, "the broker is away"));
  Show();
  EXPECT_EQ(status().state, PipelineState::kDegraded);
  EXPECT_NE(status().reason.find("the broker is away"), std::string::npos);
  clock_.Advance(60'000);
  Show();
  EXPECT_EQ(status().state, PipelineState::kRunning);
  EXPECT_TRUE(status().reason.empty());
}

TEST_F(ProgressViewTest, TroubleGoesAtOnceWhenTheSourceIsBack) {
  view_.Trouble(Error(ErrorKind::kUnavailable, "the broker is away"));
  view_.TroubleOver();
  Show();
  EXPECT_EQ(status().state, PipelineState::kRunning);
}

TEST_F(ProgressViewTest, FailedTablesKeepThePipelineDegraded) {
  Show("1 of 3 tables failed");
  EXPECT_EQ(status().state, PipelineState::kDegraded);
  EXPECT_EQ(status().reason, "1 of 3 tables failed");
}

TEST_F(ProgressViewTest, LagCountsWhatIsBetweenReadingAndTheEnds) {
  view_.Lag({{kP0, {0, 100, {}}}, {kP1, {0, 50, {}}}}, {{kP0, 90}, {kP1, 60}});
  EXPECT_EQ(status().lag_records, 10) << "nothing is behind its end by a negative number";
  EXPECT_EQ(status().lag.at(kP1), 0);
}

TEST_F(ProgressViewTest, WithoutEndsThereIsNoLagInRecords) {
  view_.Lag({{kP0, {0, std::nullopt, {}}}}, {{kP0, 90}});
  EXPECT_EQ(status().lag_records, -1);
  view_.Backlog(source::Backlog{3, 4096});
  EXPECT_EQ(status().lag_files, 3);
  EXPECT_EQ(status().lag_bytes, 4096);
}

}  // namespace
}  // namespace firn::pipeline
