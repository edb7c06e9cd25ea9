#include "firn/cli/progress.h"

#include <gtest/gtest.h>

#include "firn/cli/text_table.h"

namespace firn::cli {
namespace {

constexpr int64_t kSecondNs = 1'000'000'000;

pipeline::PipelineStatus Running(int64_t rows, int64_t bytes) {
  pipeline::PipelineStatus status;
  status.id = "flights";
  status.state = pipeline::PipelineState::kRunning;
  status.rows_decoded = rows;
  status.rows_committed = rows;
  status.input_bytes = bytes;
  status.lag_records = 1200;
  status.freshness_ms = 3000;
  status.commits = 4;
  status.last_commit_ms = 58'000;
  return status;
}

TEST(LiveLine, ShowsRatesLagAndLastCommit) {
  const std::string line = LiveLine(Running(0, 0), 310'200, 1024.0 * 1024, 60'000, 200);
  EXPECT_EQ(line, "flights  RUNNING  310k rows/s  1.0 MiB/s  lag 1,200, 3.0 s behind  commit 2.0 s ago (#4)");
}

TEST(LiveLine, BoundedRunsShowHowFarTheyAre) {
  pipeline::PipelineStatus status = Running(50, 0);
  status.total_records_target = 200;
  status.dead_letters = 50;
  EXPECT_NE(LiveLine(status, 0, 0, 60'000, 200).find("[##########..........] 50 %"), std::string::npos);
}

TEST(LiveLine, SourcesOfFilesShowWhatWaits) {
  pipeline::PipelineStatus status = Running(50, 0);
  status.lag_records = -1;
  status.lag_files = 2;
  status.lag_bytes = 2 << 20;
  EXPECT_NE(LiveLine(status, 0, 0, 60'000, 200).find("2 files waiting, 2.0 MiB, 3.0 s behind"),
            std::string::npos);
}

TEST(LiveLine, NarrowTerminalsLoseTheLeastImportantFirst) {
  pipeline::PipelineStatus status = Running(50, 0);
  status.total_records_target = 200;
  EXPECT_EQ(LiveLine(status, 310'200, 0, 60'000, 79),
            "flights  RUNNING  25 %  310k rows/s  0 B/s  lag 1,200  commit 2.0 s ago (#4)");
}

TEST(LiveLine, FailedPipelineShowsWhyAndNothingElse) {
  pipeline::PipelineStatus status = Running(50, 0);
  status.state = pipeline::PipelineState::kFailed;
  status.reason = "disk full";
  EXPECT_EQ(LiveLine(status, 0, 0, 60'000, 79), "flights  FAILED  disk full");
}

TEST(LiveLine, NeverWiderThanTheTerminal) {
  pipeline::PipelineStatus status = Running(0, 0);
  status.reason = std::string(300, 'x');
  EXPECT_EQ(DisplayWidth(LiveLine(status, 0, 0, 60'000, 79)), 79u);
}

TEST(Progress, RatesAreThoseOfTheLastSeconds) {
  Progress progress;
  progress.Text({Running(0, 0)}, 0, 60'000, 200);
  const std::string text = progress.Text({Running(2000, 4096)}, 2 * kSecondNs, 60'000, 200);
  EXPECT_NE(text.find("1.00k rows/s  2.0 KiB/s"), std::string::npos) << text;
  const std::string later = progress.Text({Running(2000, 4096)}, 60 * kSecondNs, 60'000, 200);
  EXPECT_NE(later.find("  0 rows/s  0 B/s"), std::string::npos) << later;
}

}  // namespace
}  // namespace firn::cli
