#include "firn/pipeline/read_goal.h"

#include <gtest/gtest.h>

namespace firn::pipeline {
namespace {

const record::SourcePartition kP0{"events", 0};
const record::SourcePartition kP1{"events", 1};

TEST(ReadGoalTest, IsReachedWhenEveryPartitionIsAtTheEndItHadAtTheStart) {
  ReadGoal goal;
  EXPECT_EQ(goal.Aim({{kP0, {0, 10, {}}}, {kP1, {5, 9, {}}}}, {{kP0, {4, {}, {}}}}), 6 + 4);
  goal.Settle();
  EXPECT_FALSE(goal.ReachedBy({{kP0, 10}})) << "nobody has read events-1";
  EXPECT_FALSE(goal.ReachedBy({{kP0, 10}, {kP1, 8}}));
  EXPECT_TRUE(goal.ReachedBy({{kP0, 12}, {kP1, 9}}));
}

TEST(ReadGoalTest, APartitionThatIsAtItsEndAsksForNothing) {
  ReadGoal goal;
  EXPECT_EQ(goal.Aim({{kP0, {0, 10, {}}}, {kP1, {7, 7, {}}}}, {{kP0, {10, {}, {}}}}), 0);
  goal.Settle();
  EXPECT_TRUE(goal.ReachedBy({}));
}

TEST(ReadGoalTest, IsNotReachedBeforeTheFirstAssignment) {
  ReadGoal goal;
  EXPECT_FALSE(goal.ReachedBy({}));
  goal.Settle();
  EXPECT_TRUE(goal.ReachedBy({})) << "no partition is ours";
}

TEST(ReadGoalTest, WaitsForEndsThatTheSourceTellsLater) {
  ReadGoal goal;
  EXPECT_EQ(goal.Aim({{kP0, {0, std::nullopt, {}}}}, {}), std::nullopt);
  goal.Settle();
  EXPECT_FALSE(goal.ReachedBy({{kP0, 100}}));
  goal.Ended(kP0, 120);
  EXPECT_FALSE(goal.ReachedBy({{kP0, 100}}));
  EXPECT_TRUE(goal.ReachedBy({{kP0, 120}}));
}

}  // namespace
}  // namespace firn::pipeline
