#include "firn/source/kafka/partition_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "firn/record/fingerprint.h"

namespace firn::source::kafka {
namespace {

using testing::ElementsAre;

record::SourcePartition Partition() { return {.topic = "flights", .partition = 3}; }

PartitionReader ReaderAt(int64_t next) {
  return {Partition(),
          {.next = next, .identity = {.cluster_id = "c", .topic_id = "t"}, .last = std::nullopt}};
}

RecordView At(int64_t offset, std::string_view value = "v") {
  return {.offset = offset, .timestamp_ms = offset * 10, .key = std::nullopt, .value = value};
}

TEST(PartitionReaderTest, RangesJoinAcrossGaps) {
  PartitionReader reader = ReaderAt(5);
  EXPECT_TRUE(reader.Take(At(7)));
  EXPECT_TRUE(reader.Take(At(9)));
  const auto first = reader.Cut();
  ASSERT_TRUE(first);
  EXPECT_EQ(first->range.from, 5);
  EXPECT_EQ(first->range.to, 10);
  EXPECT_THAT(first->offsets, ElementsAre(7, 9));
  EXPECT_THAT(first->timestamps_ms, ElementsAre(70, 90));
  EXPECT_EQ(first->range.identity.topic_id, "t");
  EXPECT_EQ(first->range.last, record::FingerprintOf(*first, 1));

  EXPECT_TRUE(reader.Take(At(20)));
  EXPECT_EQ(reader.Cut()->range.from, 10);
}

TEST(PartitionReaderTest, DropsWhatWasHandedOutAlready) {
  PartitionReader reader = ReaderAt(5);
  EXPECT_FALSE(reader.Take(At(4)));
  EXPECT_TRUE(reader.Take(At(5)));
  EXPECT_FALSE(reader.Take(At(5)));
  EXPECT_THAT(reader.Cut()->offsets, ElementsAre(5));
}

TEST(PartitionReaderTest, TheEndAdvancesARangeWithoutRecords) {
  PartitionReader reader = ReaderAt(5);
  EXPECT_FALSE(reader.Cut());
  reader.ReachEnd(5);
  EXPECT_FALSE(reader.Cut());
  reader.ReachEnd(8);
  const auto batch = reader.Cut();
  ASSERT_TRUE(batch);
  EXPECT_EQ(batch->size(), 0U);
  EXPECT_EQ(batch->range.to, 8);
  EXPECT_FALSE(batch->range.last);
}

TEST(PartitionReaderTest, AnOldEndDoesNotMoveBackwards) {
  PartitionReader reader = ReaderAt(5);
  ASSERT_TRUE(reader.Take(At(9)));
  reader.ReachEnd(7);
  EXPECT_EQ(reader.next(), 10);
}

TEST(PartitionReaderTest, MovingDropsTheOpenBatch) {
  PartitionReader reader = ReaderAt(5);
  ASSERT_TRUE(reader.Take(At(5)));
  reader.MoveTo({.next = 2, .identity = {}, .last = std::nullopt});
  EXPECT_FALSE(reader.Cut());
  EXPECT_TRUE(reader.Take(At(2)));
  const auto batch = reader.Cut();
  EXPECT_EQ(batch->range.from, 2);
  EXPECT_THAT(batch->offsets, ElementsAre(2));
}

TEST(PartitionReaderTest, AfterCorruptDataNothingIsTakenUntilItIsMoved) {
  PartitionReader reader = ReaderAt(5);
  ASSERT_TRUE(reader.Take(At(5)));
  reader.Close();
  EXPECT_FALSE(reader.Take(At(6)));
  reader.ReachEnd(100);
  EXPECT_EQ(reader.Cut()->range.to, 6);
  reader.MoveTo({.next = 6, .identity = {}, .last = std::nullopt});
  EXPECT_TRUE(reader.Take(At(6)));
}

TEST(PartitionReaderTest, KeepsNullsEmptyTextsAndHeaders) {
  PartitionReader reader = ReaderAt(0);
  ASSERT_TRUE(reader.Take({.offset = 0, .timestamp_ms = -1, .key = "", .value = std::nullopt}));
  ASSERT_TRUE(reader.Take({.offset = 1, .timestamp_ms = -1, .key = std::nullopt, .value = "x"}));
  reader.AddHeader("h", std::nullopt);
  const auto batch = reader.Cut();
  EXPECT_FALSE(batch->keys[0].is_null());
  EXPECT_EQ(batch->key(0), "");
  EXPECT_TRUE(batch->values[0].is_null());
  EXPECT_TRUE(batch->keys[1].is_null());
  EXPECT_EQ(batch->value(1), "x");
  ASSERT_EQ(batch->headers.size(), 1U);
  EXPECT_EQ(batch->headers[0].record, 1U);
  EXPECT_EQ(batch->arena.View(batch->headers[0].name.begin, batch->headers[0].name.length), "h");
  EXPECT_TRUE(batch->headers[0].value.is_null());
}

}  // namespace
}  // namespace firn::source::kafka
