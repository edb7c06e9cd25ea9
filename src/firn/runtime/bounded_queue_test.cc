#include "firn/runtime/bounded_queue.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

namespace firn::runtime {
namespace {

TEST(BoundedQueueTest, KeepsOrderAndRefusesBeyondCapacity) {
  BoundedQueue<int> queue(2);
  EXPECT_TRUE(queue.TryPush(1));
  EXPECT_TRUE(queue.TryPush(2));
  EXPECT_FALSE(queue.TryPush(3));
  EXPECT_EQ(queue.Pop(), 1);
  EXPECT_EQ(queue.Pop(), 2);
  EXPECT_EQ(queue.TryPop(), std::nullopt);
}

TEST(BoundedQueueTest, CloseDrainsWhatIsInsideAndRefusesMore) {
  BoundedQueue<int> queue(2);
  EXPECT_TRUE(queue.Push(1));
  queue.Close();
  EXPECT_FALSE(queue.Push(2));
  EXPECT_EQ(queue.Pop(), 1);
  EXPECT_EQ(queue.Pop(), std::nullopt);
}

TEST(BoundedQueueTest, StopWakesBlockedProducerAndConsumer) {
  BoundedQueue<int> full(1);
  BoundedQueue<int> empty(1);
  EXPECT_TRUE(full.Push(1));
  std::stop_source source;
  std::atomic<int> returned{0};
  {
    std::jthread producer([&] { returned += full.Push(2, source.get_token()) ? 100 : 1; });
    std::jthread consumer([&] { returned += empty.Pop(source.get_token()).has_value() ? 100 : 1; });
    source.request_stop();
  }
  EXPECT_EQ(returned.load(), 2);
  EXPECT_EQ(full.size(), 1U);
}

TEST(BoundedQueueTest, FailedPushLeavesTheItem) {
  BoundedQueue<std::unique_ptr<int>> queue(1);
  queue.Close();
  auto item = std::make_unique<int>(5);
  EXPECT_FALSE(queue.Push(std::move(item)));
  // That it is still there is the point. NOLINTBEGIN(bugprone-use-after-move)
  ASSERT_NE(item, nullptr);
  EXPECT_EQ(*item, 5);
  // NOLINTEND(bugprone-use-after-move)
}

TEST(BoundedQueueTest, PopForGivesUpAfterItsTime) {
  BoundedQueue<int> queue(1);
  EXPECT_EQ(queue.PopFor(1), std::nullopt);
}

TEST(BoundedQueueTest, EveryItemOfManyProducersArrivesOnce) {
  BoundedQueue<int> queue(8);
  constexpr int kProducers = 3;
  constexpr int kItems = 2000;
  std::atomic<int64_t> sum{0};
  std::atomic<int> count{0};
  {
    std::vector<std::jthread> consumers;
    for (int c = 0; c < 2; ++c) {
      consumers.emplace_back([&] {
        while (auto item = queue.Pop()) {
          sum += *item;
          ++count;
        }
      });
    }
    {
      std::vector<std::jthread> producers;
      for (int p = 0; p < kProducers; ++p) {
        producers.emplace_back([&] {
          for (int i = 1; i <= kItems; ++i) EXPECT_TRUE(queue.Push(int{i}));
        });
      }
    }
    queue.Close();
  }
  EXPECT_EQ(count.load(), kProducers * kItems);
  EXPECT_EQ(sum.load(), int64_t{kProducers} * kItems * (kItems + 1) / 2);
}

TEST(BoundedQueueTest, ClearDropsAllAndMakesRoom) {
  BoundedQueue<int> queue(1);
  EXPECT_TRUE(queue.Push(1));
  EXPECT_EQ(queue.Clear(), 1U);
  EXPECT_TRUE(queue.TryPush(2));
}

}  // namespace
}  // namespace firn::runtime
