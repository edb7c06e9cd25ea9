#include "firn/source/kafka/fencing.h"

#include <gtest/gtest.h>

namespace firn::source::kafka {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

TEST(FencingTest, PausesGrowUntilTheMemberStaysOut) {
  Fencing fencing;
  Fencing::TimePoint now{};
  for (const seconds pause : {seconds(1), seconds(2), seconds(4)}) {
    EXPECT_EQ(fencing.OnFenced(now), pause);
    now += pause + seconds(3);
  }
  EXPECT_EQ(fencing.OnFenced(now), std::nullopt);
  EXPECT_EQ(fencing.OnFenced(now + seconds(1)), std::nullopt) << "and does not begin anew";
}

TEST(FencingTest, AMemberThatWasLeftInPeaceBeginsAnew) {
  Fencing fencing;
  Fencing::TimePoint now{};
  for (int i = 0; i < 20; ++i, now += minutes(11)) EXPECT_EQ(fencing.OnFenced(now), seconds(1));
}

}  // namespace
}  // namespace firn::source::kafka
