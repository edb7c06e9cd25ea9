#include "firn/record/raw_batch.h"

#include <gtest/gtest.h>

#include <string>

namespace firn::record {
namespace {

TEST(ArenaTest, KeepsBytesOverGrowth) {
  Arena arena;
  std::vector<std::pair<uint32_t, std::string>> written;
  for (int i = 0; i < 1000; ++i) {
    std::string text(static_cast<size_t>(i), static_cast<char>('a' + i % 26));
    written.emplace_back(arena.Append(text), text);
  }
  for (const auto& [begin, text] : written) {
    EXPECT_EQ(arena.View(begin, static_cast<uint32_t>(text.size())), text);
  }
}

TEST(ArenaTest, HasZeroedPaddingAfterTheEnd) {
  Arena arena;
  arena.Append("{}");
  for (size_t i = 0; i < kArenaPadding; ++i) EXPECT_EQ(arena.data()[arena.size() + i], '\0');
}

TEST(ArenaTest, EmptyAppendStillGivesReadablePadding) {
  Arena arena;
  EXPECT_EQ(arena.Append(""), 0U);
  EXPECT_EQ(arena.size(), 0U);
  EXPECT_EQ(arena.data()[kArenaPadding - 1], '\0');
}

TEST(SliceTest, NullDiffersFromEmpty) {
  EXPECT_TRUE(Slice{}.is_null());
  EXPECT_FALSE((Slice{.begin = 3, .length = 0}).is_null());
}

}  // namespace
}  // namespace firn::record
