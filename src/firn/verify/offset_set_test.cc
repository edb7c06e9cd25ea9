#include "firn/verify/offset_set.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <set>

namespace firn::verify {
namespace {

std::vector<OffsetRange> Gaps(const OffsetSet& set, int64_t from, int64_t to) {
  std::vector<OffsetRange> gaps;
  while (auto gap = set.NextGap(from, to)) {
    gaps.push_back(*gap);
    from = gap->to;
  }
  return gaps;
}

TEST(OffsetSet, TellsRepeatsAndGaps) {
  OffsetSet set;
  for (const int64_t offset : {5, 6, 9}) EXPECT_TRUE(set.Insert(offset));
  EXPECT_FALSE(set.Insert(6));
  EXPECT_EQ(set.size(), 3);
  EXPECT_EQ(set.first(), 5);
  EXPECT_EQ(set.last(), 9);
  EXPECT_EQ(Gaps(set, 5, 12), (std::vector<OffsetRange>{{7, 9}, {10, 12}}));
  EXPECT_EQ(Gaps(set, 0, 5), (std::vector<OffsetRange>{{0, 5}}));
  EXPECT_EQ(Gaps(set, 5, 7), (std::vector<OffsetRange>{}));
}

TEST(OffsetSet, AGapOverManyBlocksIsOne) {
  OffsetSet set;
  set.Insert(3);
  set.Insert(int64_t{1} << 40);
  EXPECT_EQ(Gaps(set, 3, (int64_t{1} << 40) + 1), (std::vector<OffsetRange>{{4, int64_t{1} << 40}}));
}

TEST(OffsetSet, FullBlocksTakeNothingInWhateverOrderTheyFill) {
  constexpr int64_t kCount = 1 << 20;
  std::vector<int64_t> offsets(kCount);
  std::iota(offsets.begin(), offsets.end(), 0);
  std::shuffle(offsets.begin(), offsets.end(), std::mt19937_64(7));
  OffsetSet set;
  for (const int64_t offset : offsets) ASSERT_TRUE(set.Insert(offset));
  EXPECT_EQ(set.NextGap(0, kCount), std::nullopt);
  EXPECT_FALSE(set.Insert(17));
  EXPECT_EQ(set.last(), kCount - 1);
  EXPECT_LT(set.memory_bytes(), 16 << 10);
}

TEST(OffsetSet, AgreesWithAPlainSet) {
  std::mt19937_64 random(11);
  for (const double share : {0.001, 0.05, 0.5, 0.97}) {
    OffsetSet set;
    std::set<int64_t> plain;
    constexpr int64_t kEnd = 200'000;
    for (int64_t i = 0; i < static_cast<int64_t>(kEnd * share * 1.3); ++i) {
      const auto offset = static_cast<int64_t>(random() % kEnd);
      EXPECT_EQ(set.Insert(offset), plain.insert(offset).second);
    }
    EXPECT_EQ(set.size(), static_cast<int64_t>(plain.size()));
    std::vector<OffsetRange> expected;
    for (int64_t offset = 0; offset < kEnd; ++offset) {
      ASSERT_EQ(set.Contains(offset), plain.contains(offset)) << offset;
      if (plain.contains(offset)) continue;
      if (!expected.empty() && expected.back().to == offset) {
        ++expected.back().to;
      } else {
        expected.push_back({offset, offset + 1});
      }
    }
    EXPECT_EQ(Gaps(set, 0, kEnd), expected);
  }
}

}  // namespace
}  // namespace firn::verify
