#include "firn/record/raw_batch.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>

#include "firn/record/dead_letter.h"

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

/// Two records, the second with a header, of a file.
RawBatch TwoRecords() {
  RawBatch raw;
  const auto put = [&raw](std::string_view bytes) {
    return Slice{raw.arena.Append(bytes), static_cast<uint32_t>(bytes.size())};
  };
  raw.partition = {"t", 3};
  raw.file = std::make_shared<FileOrigin>(FileOrigin{"/in.jsonl", ""});
  raw.offsets = {7, 9};
  raw.timestamps_ms = {70, 90};
  raw.lines = {1, 4};
  raw.keys = {put("k"), Slice{}};
  raw.values = {Slice{}, put("four")};
  raw.headers = {{0, put("no"), Slice{}}, {1, put("h"), put("x")}, {1, put("empty"), Slice{}}};
  return raw;
}

TEST(RawBatchTest, BytesOfARecordAreThoseOfKeyAndValue) {
  const RawBatch raw = TwoRecords();
  EXPECT_EQ(RecordBytes(raw, 0), 1);
  EXPECT_EQ(RecordBytes(raw, 1), 4);
}

TEST(DeadLetterTest, HoldsTheWholeRecord) {
  const DeadLetter letter = LetterOf(TwoRecords(), 1);
  EXPECT_EQ(letter.partition, (SourcePartition{"t", 3}));
  EXPECT_EQ(letter.offset, 9);
  EXPECT_EQ(letter.timestamp_ms, 90);
  EXPECT_EQ(letter.file, "/in.jsonl");
  EXPECT_EQ(letter.line, 4);
  EXPECT_EQ(letter.key, std::nullopt);
  EXPECT_EQ(letter.value, "four");
  ASSERT_EQ(letter.headers.size(), 2U);
  EXPECT_EQ(letter.headers[0].first, "h");
  EXPECT_EQ(letter.headers[0].second, "x");
  EXPECT_EQ(letter.headers[1].second, std::nullopt);
}

}  // namespace
}  // namespace firn::record
