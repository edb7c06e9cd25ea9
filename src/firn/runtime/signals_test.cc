#include "firn/runtime/signals.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <utility>

#include "firn/runtime/bounded_queue.h"

namespace firn::runtime {
namespace {

class SignalsTest : public testing::Test {
 protected:
  SignalsTest() { BlockStopSignals(); }
};

TEST_F(SignalsTest, FirstSignalIsGracefulAndLaterOnesAreImmediate) {
  BoundedQueue<std::pair<StopRequest, int>> seen(8);
  const SignalThread thread(
      [&](StopRequest request, int signal) { EXPECT_TRUE(seen.TryPush({request, signal})); });
  kill(getpid(), SIGTERM);
  EXPECT_EQ(seen.PopFor(10'000), std::make_pair(StopRequest::kGraceful, SIGTERM));
  kill(getpid(), SIGINT);
  EXPECT_EQ(seen.PopFor(10'000), std::make_pair(StopRequest::kImmediate, SIGINT));
  kill(getpid(), SIGHUP);
  EXPECT_EQ(seen.PopFor(10'000), std::make_pair(StopRequest::kImmediate, SIGHUP));
}

TEST_F(SignalsTest, EndsWithoutASignal) {
  const SignalThread thread([](StopRequest, int) { FAIL(); });
}

TEST_F(SignalsTest, BrokenPipeIsAnErrorOfTheWrite) {
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe(ends.data()), 0);
  close(ends[0]);
  EXPECT_EQ(write(ends[1], "x", 1), -1);
  EXPECT_EQ(errno, EPIPE);
  close(ends[1]);
}

}  // namespace
}  // namespace firn::runtime
