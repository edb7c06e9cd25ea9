#include "firn/runtime/fault_point.h"

#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>

namespace firn::runtime {
namespace {

#ifdef FIRN_FAULT_POINTS

class FaultPointTest : public testing::Test {
 protected:
  void TearDown() override { EXPECT_TRUE(ArmFaults("").ok()); }
};

Status Step() {
  FIRN_FAULT_POINT(commit_before_request);
  return Ok();
}

TEST_F(FaultPointTest, ActsAtTheNthHitOnly) {
  ASSERT_TRUE(ArmFaults("commit_before_request:2:error").ok());
  EXPECT_TRUE(Step().ok());
  EXPECT_EQ(Step().error().kind(), ErrorKind::kUnavailable);
  EXPECT_TRUE(Step().ok());
}

TEST_F(FaultPointTest, OtherPointsAreNotTouched) {
  ASSERT_TRUE(ArmFaults("metadata_after_write:1:error,manifest_after_write:1:error").ok());
  EXPECT_TRUE(Step().ok());
}

TEST_F(FaultPointTest, KillEndsTheProcessAsKillMinusNine) {
  ASSERT_TRUE(ArmFaults("commit_before_request:1:kill").ok());
  EXPECT_EXIT(Ignore(Step()), testing::KilledBySignal(SIGKILL), "");
}

TEST_F(FaultPointTest, BadTextsAreErrorsThatSayWhatIsAllowed) {
  EXPECT_NE(
      ArmFaults("commit_before_requst:1:kill").error().message().find("did you mean 'commit_before_request'"),
      std::string::npos);
  for (const char* bad :
       {"x", "commit_before_request", "commit_before_request:1", "commit_before_request:0:kill",
        "commit_before_request:x:kill", "commit_before_request:1:explode",
        "commit_before_request:1:kill,"
        "nothing:1:kill"}) {
    EXPECT_EQ(ArmFaults(bad).error().kind(), ErrorKind::kInvalidArgument) << bad;
  }
}

TEST_F(FaultPointTest, EnvironmentArms) {
  setenv("FIRN_FAULT", "commit_before_request:1:error", 1);
  EXPECT_TRUE(ArmFaultsFromEnvironment().ok());
  unsetenv("FIRN_FAULT");
  EXPECT_FALSE(Step().ok());
}

#else

TEST(FaultPointTest, ABuildWithoutPointsRefusesToPretend) {
  EXPECT_TRUE(ArmFaults("").ok());
  EXPECT_EQ(ArmFaults("commit_before_request:1:kill").error().kind(), ErrorKind::kInvalidArgument);
}

#endif

}  // namespace
}  // namespace firn::runtime
