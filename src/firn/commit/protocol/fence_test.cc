#include "firn/commit/protocol/fence.h"

#include <gtest/gtest.h>

namespace firn::commit {
namespace {

using record::Fingerprint;
using record::PartitionPosition;
using record::PositionRange;
using record::PositionRanges;
using record::Positions;
using record::SourceIdentity;

const record::SourcePartition kP0{"flights", 0};
const record::SourcePartition kP1{"flights", 1};
const SourceIdentity kLog{"cluster", "topic"};

PositionRange Range(int64_t from, int64_t to) { return {from, to, kLog, std::nullopt}; }

TEST(Fence, AcceptsABatchThatBeginsWhereTheTableStands) {
  const Positions table{{kP0, {10, kLog, std::nullopt}}, {kP1, {5, kLog, std::nullopt}}};
  EXPECT_FALSE(CheckFence(table, {{kP0, Range(10, 20)}}));
}

TEST(Fence, RefusesGapAndOverlapAndNamesThePartition) {
  const Positions table{{kP0, {10, kLog, std::nullopt}}, {kP1, {5, kLog, std::nullopt}}};
  for (const int64_t from : {4, 6}) {
    auto mismatch = CheckFence(table, {{kP0, Range(10, 20)}, {kP1, Range(from, 9)}});
    ASSERT_TRUE(mismatch);
    EXPECT_EQ(mismatch->partition, kP1);
    EXPECT_EQ(mismatch->table_at, 5);
    EXPECT_EQ(mismatch->batch_from, from);
  }
}

TEST(Fence, RefusesAnotherLogAtTheSamePosition) {
  const Positions table{{kP0, {10, kLog, std::nullopt}}};
  PositionRange other = Range(10, 20);
  other.identity.topic_id = "recreated";
  EXPECT_TRUE(CheckFence(table, {{kP0, other}}));
  other.identity.topic_id.clear();
  EXPECT_FALSE(CheckFence(table, {{kP0, other}})) << "an unknown identity cannot contradict";
}

TEST(Fence, AcceptsAPartitionThatTheTableDoesNotKnow) { EXPECT_FALSE(CheckFence({}, {{kP0, Range(7, 9)}})); }

TEST(Fence, AdvanceMovesOnlyTheBatchsPartitionsAndKeepsTheLastFingerprint) {
  const Fingerprint last{9, 111, 222};
  const Positions table{{kP0, {10, kLog, last}}, {kP1, {5, kLog, last}}};
  PositionRange range = Range(10, 30);
  const Positions without = Advance(table, {{kP0, range}});
  EXPECT_EQ(without.at(kP0), (PartitionPosition{30, kLog, last}));
  EXPECT_EQ(without.at(kP1), table.at(kP1));
  range.last = Fingerprint{29, 1, 2};
  EXPECT_EQ(Advance(table, {{kP0, range}}).at(kP0).last, range.last);
}

TEST(Fence, JoinRangeTakesOnlyWhatJoins) {
  PositionRanges ranges;
  ASSERT_TRUE(JoinRange(ranges, kP0, Range(0, 10)).ok());
  ASSERT_TRUE(JoinRange(ranges, kP0, Range(10, 10)).ok());
  ASSERT_TRUE(JoinRange(ranges, kP0, Range(10, 12)).ok());
  EXPECT_EQ(ranges.at(kP0).from, 0);
  EXPECT_EQ(ranges.at(kP0).to, 12);
  EXPECT_FALSE(JoinRange(ranges, kP0, Range(13, 14)).ok());
  EXPECT_FALSE(JoinRange(ranges, kP0, Range(11, 14)).ok());
  EXPECT_FALSE(JoinRange(ranges, kP0, Range(12, 11)).ok());
  EXPECT_EQ(ranges.at(kP0).to, 12);
}

TEST(Fence, ARangeWithoutACursorKeepsTheOlderOne) {
  const record::SourceCursor at_10{10, "ten"};
  const record::SourceCursor at_20{20, "twenty"};
  PositionRanges ranges;
  PositionRange first = Range(0, 10);
  first.cursor = at_10;
  ASSERT_TRUE(JoinRange(ranges, kP0, first).ok());
  ASSERT_TRUE(JoinRange(ranges, kP0, Range(10, 15)).ok());
  EXPECT_EQ(ranges.at(kP0).cursor, at_10) << "a batch cut in the middle: the source skips 5 records";
  Positions table = Advance({}, ranges);
  EXPECT_EQ(table.at(kP0).cursor, at_10);
  table = Advance(table, {{kP0, Range(15, 17)}});
  EXPECT_EQ(table.at(kP0).cursor, at_10);
  PositionRange last = Range(17, 20);
  last.cursor = at_20;
  EXPECT_EQ(Advance(table, {{kP0, last}}).at(kP0).cursor, at_20);
}

TEST(Fence, ACursorCanChangeWithoutRecords) {
  PositionRange opened = Range(10, 10);
  opened.cursor = record::SourceCursor{10, "another file"};
  const Positions table = Advance({{kP0, {10, kLog, std::nullopt}}}, {{kP0, opened}});
  EXPECT_EQ(table.at(kP0).next, 10);
  EXPECT_EQ(table.at(kP0).cursor, opened.cursor);
}

TEST(FenceDeathTest, AdvanceNeverMovesBackwards) {
  const Positions table{{kP0, {10, kLog, std::nullopt}}};
  EXPECT_DEATH(Advance(table, {{kP0, Range(10, 9)}}), "backwards");
  EXPECT_DEATH(Advance(table, {{kP0, Range(11, 12)}}), "fence");
}

}  // namespace
}  // namespace firn::commit
