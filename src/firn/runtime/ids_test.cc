#include "firn/runtime/ids.h"

#include <gtest/gtest.h>

#include <set>

#include "firn/runtime/seeded_ids.h"

namespace firn::runtime {
namespace {

TEST(IdsTest, UuidsHaveTheirVersionAndVariantAndDiffer) {
  std::set<std::string> seen;
  for (int i = 0; i < 1000; ++i) {
    const std::string uuid = SystemIds().Uuid();
    ASSERT_EQ(uuid.size(), 36U);
    ASSERT_EQ(uuid[14], '4');
    ASSERT_NE(std::string("89ab").find(uuid[19]), std::string::npos) << uuid;
    seen.insert(uuid);
  }
  EXPECT_EQ(seen.size(), 1000U);
}

TEST(IdsTest, UuidV7SortsByTime) {
  SeededIds ids(1);
  const std::string earlier = ids.UuidV7(0x0123456789AB);
  EXPECT_EQ(earlier.substr(0, 15), "01234567-89ab-7");
  EXPECT_LT(earlier, ids.UuidV7(0x0123456789AC));
}

TEST(IdsTest, SnapshotIdsArePositive) {
  SeededIds ids(2);
  for (int i = 0; i < 10'000; ++i) ASSERT_GT(ids.SnapshotId(), 0);
}

TEST(IdsTest, SameSeedGivesTheSameIds) {
  SeededIds a(7);
  SeededIds b(7);
  SeededIds c(8);
  const std::string uuid = a.Uuid();
  EXPECT_EQ(uuid, b.Uuid());
  EXPECT_NE(uuid, c.Uuid());
}

}  // namespace
}  // namespace firn::runtime
