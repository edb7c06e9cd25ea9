#include "firn/record/reserving_pool.h"

#include <arrow/status.h>
#include <gtest/gtest.h>

#include "firn/runtime/memory_budget.h"

namespace firn::record {
namespace {

TEST(ReservingPoolTest, CountsAllocationsOnTheBudget) {
  runtime::MemoryBudget budget(1 << 20);
  ReservingPool pool(&budget);
  uint8_t* block = nullptr;
  ASSERT_TRUE(pool.Allocate(1000, &block).ok());
  EXPECT_EQ(budget.reserved_bytes(), 1000);
  ASSERT_TRUE(pool.Reallocate(1000, 5000, &block).ok());
  EXPECT_EQ(budget.reserved_bytes(), 5000);
  ASSERT_TRUE(pool.Reallocate(5000, 200, &block).ok());
  EXPECT_EQ(budget.reserved_bytes(), 200);
  pool.Free(block, 200);
  EXPECT_EQ(budget.reserved_bytes(), 0);
  EXPECT_EQ(pool.bytes_allocated(), 0);
  EXPECT_EQ(pool.max_memory(), 5000);
}

TEST(ReservingPoolTest, GoesOverTheSoftLimitAndShowsPressure) {
  runtime::MemoryBudget budget(1000);
  ReservingPool pool(&budget);
  uint8_t* block = nullptr;
  ASSERT_TRUE(pool.Allocate(1400, &block).ok());
  EXPECT_GT(budget.pressure(), 1.0);
  pool.Free(block, 1400);
}

TEST(ReservingPoolTest, RefusesFarBeyondTheLimitAndLeavesTheCountUnchanged) {
  runtime::MemoryBudget budget(1000);
  ReservingPool pool(&budget);
  uint8_t* block = nullptr;
  const arrow::Status status = pool.Allocate(1600, &block);
  EXPECT_TRUE(status.IsOutOfMemory());
  EXPECT_NE(status.message().find("resources.memory"), std::string::npos);
  EXPECT_EQ(budget.reserved_bytes(), 0);

  ASSERT_TRUE(pool.Allocate(1000, &block).ok());
  EXPECT_TRUE(pool.Reallocate(1000, 2000, &block).IsOutOfMemory());
  EXPECT_EQ(budget.reserved_bytes(), 1000);
  pool.Free(block, 1000);
}

}  // namespace
}  // namespace firn::record
