#include "firn/base/text_distance.h"

#include <gtest/gtest.h>

#include <vector>

namespace firn {
namespace {

TEST(EditDistanceTest, CountsInsertionsDeletionsReplacementsAndSwaps) {
  EXPECT_EQ(EditDistance("", ""), 0U);
  EXPECT_EQ(EditDistance("abc", ""), 3U);
  EXPECT_EQ(EditDistance("intervall", "interval"), 1U);
  EXPECT_EQ(EditDistance("tpoic", "topic"), 1U);
  EXPECT_EQ(EditDistance("kitten", "sitting"), 3U);
}

TEST(NearestNameTest, FindsTheMeantNameAndNoFarOne) {
  const std::vector<std::string> known = {"interval", "max_records", "max_input_bytes"};
  EXPECT_EQ(NearestName("intervall", known), "interval");
  EXPECT_EQ(NearestName("maxRecords", known), "max_records");
  EXPECT_EQ(NearestName("max-input-bytes", known), "max_input_bytes");
  EXPECT_EQ(NearestName("warehouse", known), std::nullopt);
  EXPECT_EQ(NearestName("x", known), std::nullopt);
}

}  // namespace
}  // namespace firn
