#include "firn/runtime/executor.h"

#include <gtest/gtest.h>

#include <atomic>
#include <latch>

#include "firn/runtime/thread.h"

namespace firn::runtime {
namespace {

TEST(ExecutorTest, RunsTasksOnNamedThreads) {
  Executor executor("io", 2);
  const std::string name = executor.Async([] { return ThisThreadName(); }).Get();
  EXPECT_TRUE(name == "io-0" || name == "io-1") << name;
}

TEST(ExecutorTest, DestructorRunsWhatWasSubmitted) {
  std::atomic<int> done{0};
  {
    Executor executor("io", 1);
    for (int i = 0; i < 100; ++i) executor.Submit([&] { ++done; });
  }
  EXPECT_EQ(done.load(), 100);
}

TEST(ExecutorTest, AllThreadsWorkAtTheSameTime) {
  std::latch all(3);
  Executor executor("io", 3);
  for (int i = 0; i < 3; ++i) executor.Submit([&] { all.arrive_and_wait(); });
  executor.Async([] { return 0; }).Get();  // would never run if one thread were missing
}

TEST(TaskGroupTest, WaitGivesTheFirstErrorAndSkipsTheRest) {
  Executor executor("io", 1);
  TaskGroup group(executor);
  std::atomic<int> ran{0};
  group.Add([&] {
    ++ran;
    return Ok();
  });
  group.Add([&]() -> Status { return Error(ErrorKind::kIo, "disk"); });
  group.Add([&] {
    ++ran;
    return Ok();
  });
  const Status status = group.Wait();
  EXPECT_EQ(status.error().message(), "disk");
  EXPECT_EQ(ran.load(), 1);
}

TEST(TaskGroupTest, MayBeUsedAgainAfterAnError) {
  Executor executor("io", 2);
  TaskGroup group(executor);
  group.Add([]() -> Status { return Error(ErrorKind::kIo, "disk"); });
  EXPECT_FALSE(group.Wait().ok());
  group.Add([] { return Ok(); });
  EXPECT_TRUE(group.Wait().ok());
}

TEST(ThreadTest, IsNamedStoppedAndJoinedByItsOwner) {
  std::string name;
  {
    const std::jthread thread = StartThread("a-rather-long-name", [&](const std::stop_token& stop) {
      name = ThisThreadName();
      while (!stop.stop_requested()) std::this_thread::yield();
    });
  }
  EXPECT_EQ(name, "a-rather-long-n");
}

}  // namespace
}  // namespace firn::runtime
