#include "firn/runtime/threads.h"

#include <gtest/gtest.h>

#include <vector>

#include "firn/runtime/executor.h"
#include "firn/runtime/thread.h"

namespace firn::runtime {
namespace {

TEST(ThreadsTest, AThreadIsNamedAndJoinedByItsOwner) {
  std::string name;
  SystemThreads().Start("a-rather-long-name", [&] { name = ThisThreadName(); })->Join();
  EXPECT_EQ(name, "a-rather-long-n");
}

TEST(ThreadsTest, AConditionWakesAllWhoWait) {
  std::mutex mutex;
  const auto changed = SystemThreads().MakeCondition();
  bool open = false;
  int through = 0;
  const auto wait = [&] {
    std::unique_lock lock(mutex);
    changed->Wait(lock, [&] { return open; });
    ++through;
  };
  std::vector<std::unique_ptr<Thread>> threads;
  for (int i = 0; i < 3; ++i) threads.push_back(SystemThreads().Start("waits", wait));
  {
    const std::lock_guard lock(mutex);
    open = true;
    changed->NotifyAll();
  }
  for (const auto& thread : threads) thread->Join();
  EXPECT_EQ(through, 3);
}

TEST(ThreadsTest, ATimedWaitEndsByItself) {
  std::mutex mutex;
  const auto changed = SystemThreads().MakeCondition();
  std::unique_lock lock(mutex);
  changed->WaitOnceFor(lock, 1);
  EXPECT_TRUE(lock.owns_lock());
}

TEST(TurnstileTest, LetsOnePassAtATime) {
  Turnstile turnstile(SystemThreads());
  int inside = 0;
  int passed = 0;
  std::vector<std::unique_ptr<Thread>> threads;
  for (int i = 0; i < 4; ++i) {
    threads.push_back(SystemThreads().Start("passes", [&] {
      for (int n = 0; n < 200; ++n) {
        const std::lock_guard pass(turnstile);
        EXPECT_EQ(++inside, 1);
        ++passed;
        --inside;
      }
    }));
  }
  for (const auto& thread : threads) thread->Join();
  EXPECT_EQ(passed, 800);
}

TEST(FutureTest, IsReadyWhenTheTaskHasReturned) {
  Executor executor("io", 1);
  std::mutex gate;
  gate.lock();
  auto future = executor.Async([&] {
    const std::lock_guard wait(gate);
    return std::string("done");
  });
  EXPECT_FALSE(future.ready());
  future.WaitFor(1);
  EXPECT_FALSE(future.ready());
  gate.unlock();
  future.Wait();
  EXPECT_TRUE(future.ready());
  EXPECT_EQ(future.Get(), "done");
}

}  // namespace
}  // namespace firn::runtime
