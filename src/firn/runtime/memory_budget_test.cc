#include "firn/runtime/memory_budget.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace firn::runtime {
namespace {

TEST(MemoryBudgetTest, RefusesBeyondTheLimitAndTakesAgainAfterRelease) {
  MemoryBudget budget(100);
  EXPECT_TRUE(budget.TryReserve(60));
  EXPECT_FALSE(budget.TryReserve(41));
  EXPECT_EQ(budget.reserved_bytes(), 60);
  EXPECT_DOUBLE_EQ(budget.pressure(), 0.6);
  budget.Release(60);
  EXPECT_TRUE(budget.TryReserve(100));
}

TEST(MemoryBudgetTest, CountMayOvershootAndThenNothingFits) {
  MemoryBudget budget(100);
  budget.Count(150);
  EXPECT_DOUBLE_EQ(budget.pressure(), 1.5);
  EXPECT_FALSE(budget.TryReserve(1));
}

TEST(MemoryBudgetTest, ConcurrentReservationsNeverExceedTheLimit) {
  MemoryBudget budget(1000);
  std::atomic<int> granted{0};
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&] {
        for (int i = 0; i < 1000; ++i) granted += budget.TryReserve(1) ? 1 : 0;
      });
    }
  }
  EXPECT_EQ(granted.load(), 1000);
  EXPECT_EQ(budget.reserved_bytes(), 1000);
}

TEST(ReservationTest, GivesBackOnDestructionAndAfterMoves) {
  MemoryBudget budget(100);
  {
    auto reservation = Reservation::Take(budget, 40);
    ASSERT_TRUE(reservation.has_value());
    EXPECT_TRUE(reservation->Grow(60));
    EXPECT_FALSE(reservation->Grow(1));
    Reservation moved = std::move(*reservation);
    EXPECT_EQ(moved.bytes(), 100);
    EXPECT_FALSE(Reservation::Take(budget, 1).has_value());
  }
  EXPECT_EQ(budget.reserved_bytes(), 0);
}

TEST(ReservationTest, CountsWhatIsAllocatedAlreadyAndMerges) {
  MemoryBudget budget(100);
  {
    Reservation first;
    first.Count(budget, 80);
    Reservation second;
    second.Count(budget, 70);
    EXPECT_EQ(budget.reserved_bytes(), 150);
    EXPECT_FALSE(budget.TryReserve(1));
    first.Merge(std::move(second));
    EXPECT_EQ(first.bytes(), 150);
    Reservation third;
    third.Merge(std::move(first));
    EXPECT_EQ(third.bytes(), 150);
    EXPECT_EQ(budget.reserved_bytes(), 150);
  }
  EXPECT_EQ(budget.reserved_bytes(), 0);
}

TEST(MemoryBudgetDeathTest, ReleasingMoreThanReservedIsABrokenInvariant) {
  MemoryBudget budget(100);
  EXPECT_DEATH(budget.Release(1), "no more memory is released");
}

}  // namespace
}  // namespace firn::runtime
