#include "firn/pipeline/due_tables.h"

#include <gtest/gtest.h>

namespace firn::pipeline {
namespace {

using Ids = std::set<uint32_t>;

TEST(DueTablesTest, OldTablesAreDueAndThoseNearlyDueComeAlong) {
  EXPECT_EQ(DueTables({{1, 100, 5, false}, {2, 85, 5, false}, {3, 70, 5, false}}, 100, false), (Ids{1, 2}));
  EXPECT_EQ(DueTables({{2, 99, 5, false}}, 100, false), Ids{}) << "nearly due alone is no reason to cut";
}

TEST(DueTablesTest, ATableOverItsLimitsIsDueWhateverItsAge) {
  EXPECT_EQ(DueTables({{1, 0, 5, true}, {2, 0, 5, false}}, 100, false), Ids{1});
}

TEST(DueTablesTest, WhenMemoryIsShortTheLargestGoUntilHalfOfTheBytesDo) {
  EXPECT_EQ(
      DueTables({{1, 0, 10, false}, {2, 0, 40, false}, {3, 0, 30, false}, {4, 0, 20, false}}, 100, true),
      (Ids{2, 3}));
  EXPECT_EQ(DueTables({{7, 0, 0, false}, {8, 0, 0, false}}, 100, true), Ids{7})
      << "records without bytes take memory too: one of them goes";
  EXPECT_EQ(DueTables({}, 100, true), Ids{});
}

TEST(DueTablesTest, ShortMemoryDoesNotKeepBackWhatIsDue) {
  EXPECT_EQ(DueTables({{1, 100, 1, false}, {2, 0, 50, false}}, 100, true), (Ids{1, 2}));
}

}  // namespace
}  // namespace firn::pipeline
