#include "firn/runtime/clock.h"

#include <gtest/gtest.h>

#include <thread>

#include "firn/runtime/event.h"
#include "firn/runtime/manual_clock.h"

namespace firn::runtime {
namespace {

TEST(SystemClockTest, WallClockIsInOurEraAndMonotonicMovesOn) {
  EXPECT_GT(SystemClock().NowMs(), 1'600'000'000'000);
  const int64_t before_ns = SystemClock().MonotonicNs();
  SystemClock().SleepMs(2);
  EXPECT_GE(SystemClock().MonotonicNs() - before_ns, 2'000'000);
}

TEST(SystemClockTest, SleepEndsEarlyWhenStopIsRequested) {
  std::stop_source source;
  const int64_t before_ns = SystemClock().MonotonicNs();
  std::jthread stopper([&] {
    SystemClock().SleepMs(10);
    source.request_stop();
  });
  EXPECT_FALSE(SystemClock().SleepUnlessStopped(60'000, source.get_token()));
  EXPECT_LT(SystemClock().MonotonicNs() - before_ns, 30'000'000'000);
}

TEST(SystemClockTest, SleepRunsToItsEndWithoutStop) {
  const std::stop_source source;
  EXPECT_TRUE(SystemClock().SleepUnlessStopped(1, source.get_token()));
}

TEST(ManualClockTest, SleepingMovesBothClocksAtOnce) {
  ManualClock clock(1000);
  clock.SleepMs(500);
  EXPECT_EQ(clock.NowMs(), 1500);
  EXPECT_EQ(clock.MonotonicNs(), 500'000'000);
  clock.SetWall(10);
  EXPECT_EQ(clock.NowMs(), 10);
  EXPECT_EQ(clock.elapsed_ms(), 500);
}

TEST(EventTest, WakesTheWaiter) {
  Event event;
  std::jthread setter([&] { event.Set(); });
  EXPECT_TRUE(event.Wait({}));
  EXPECT_TRUE(event.is_set());
  event.Reset();
  EXPECT_FALSE(event.WaitFor(1));
}

TEST(EventTest, StopEndsTheWaitWithoutTheEvent) {
  Event event;
  std::stop_source source;
  source.request_stop();
  EXPECT_FALSE(event.Wait(source.get_token()));
}

}  // namespace
}  // namespace firn::runtime
