#include "firn/pipeline/table_fill.h"

#include <gtest/gtest.h>

namespace firn::pipeline {
namespace {

using commit::PendingFrom;
using record::Positions;

const record::SourcePartition kP0{"events", 0};
const record::SourcePartition kP1{"events", 1};

BatchPart Part(const record::SourcePartition& partition, int64_t from, int64_t to, bool own_read = false) {
  BatchPart part;
  part.taken[partition] = {from, to, {}, {}};
  part.records = to - from;
  part.own_read = own_read;
  return part;
}
Positions At(const record::SourcePartition& partition, int64_t next) { return {{partition, {next, {}, {}}}}; }
PendingFrom Pending(const TableFill& fill) {
  PendingFrom pending;
  fill.AddPendingTo(pending);
  return pending;
}

TEST(TableFillTest, WhatLeftTheLanesIsPendingUntilItIsCommitted) {
  TableFill fill;
  ASSERT_TRUE(fill.Take(Part(kP0, 10, 20), At(kP0, 20), At(kP0, 10)).ok());
  EXPECT_EQ(Pending(fill), (PendingFrom{{kP0, 10}}));
  const TableFill::Batch batch = fill.TakeBatch(At(kP0, 10));
  EXPECT_EQ(batch.ranges.at(kP0).from, 10);
  EXPECT_EQ(batch.ranges.at(kP0).to, 20);
  ASSERT_TRUE(fill.Take(Part(kP0, 20, 30), At(kP0, 30), At(kP0, 10)).ok());
  EXPECT_EQ(Pending(fill), (PendingFrom{{kP0, 10}})) << "the batch in flight counts";
  EXPECT_FALSE(fill.Committed()) << "the table was not behind";
  EXPECT_EQ(Pending(fill), (PendingFrom{{kP0, 20}}));
  fill.Discard();
  EXPECT_TRUE(Pending(fill).empty());
}

TEST(TableFillTest, ABatchReachesAsFarAsTheReadInPartitionsWithoutRecordsOfTheTable) {
  TableFill fill;
  const Positions table{{kP0, {10, {}, {}}}, {kP1, {5, {}, {}}}};
  const Positions read{{kP0, {20, {}, {}}}, {kP1, {50, {}, {}}}};
  ASSERT_TRUE(fill.Take(Part(kP0, 10, 20), read, table).ok());
  EXPECT_EQ(fill.TakeBatch(table).ranges.at(kP1).to, 50);
}

TEST(TableFillTest, OfATableThatFailsEverythingOnItsWayIsMissing) {
  TableFill fill;
  ASSERT_TRUE(fill.Take(Part(kP0, 10, 20), At(kP0, 20), {}).ok());
  fill.TakeBatch({});
  ASSERT_TRUE(fill.Take(Part(kP1, 7, 9), At(kP1, 9), {}).ok());
  fill.MissAll();
  EXPECT_EQ(fill.behind(), (PendingFrom{{kP0, 10}, {kP1, 7}}));
  EXPECT_TRUE(Pending(fill).empty()) << "it holds nobody's bound back";
  fill.Refuse(Part(kP1, 3, 4));
  EXPECT_EQ(fill.behind().at(kP1), 3);
  EXPECT_EQ(fill.MissingFrom(At(kP0, 15)), (PendingFrom{{kP0, 15}, {kP1, 3}})) << "the table has up to 15";
  EXPECT_EQ(fill.TakesFrom(At(kP0, 15))->at(kP0), kTakesNothing);
}

TEST(TableFillTest, AtTheSeamWhatTheLanesBringWaitsForTheOwnRead) {
  TableFill fill;
  fill.LeftOut({{kP0, 10}});
  fill.Join({{kP0, 100}});
  EXPECT_EQ(fill.TakesFrom(At(kP0, 10))->at(kP0), 100);
  ASSERT_TRUE(fill.Take(Part(kP0, 100, 150), At(kP0, 150), At(kP0, 10)).ok());
  EXPECT_TRUE(fill.carry().taken.empty()) << "of the lanes: held";
  ASSERT_TRUE(fill.Take(Part(kP0, 10, 100, /*own_read=*/true), At(kP0, 100), At(kP0, 10)).ok());
  EXPECT_EQ(fill.carry().taken.at(kP0).to, 100);
  fill.Joined();
  EXPECT_EQ(fill.carry().taken.at(kP0).to, 150);
  fill.TakeBatch(At(kP0, 10));
  EXPECT_FALSE(fill.behind().empty());
  EXPECT_TRUE(fill.Committed());
  EXPECT_TRUE(fill.behind().empty());
  EXPECT_FALSE(fill.joining());
}

TEST(TableFillTest, WithNothingLeftToCommitTheSeamClosesByItself) {
  TableFill fill;
  fill.LeftOut({{kP0, 10}});
  EXPECT_FALSE(fill.CloseEmptySeam());
  fill.Join({{kP0, 100}});
  EXPECT_FALSE(fill.CloseEmptySeam()) << "the own read is not there yet";
  fill.Joined();
  EXPECT_TRUE(fill.CloseEmptySeam());
  EXPECT_TRUE(fill.behind().empty());
}

TEST(TableFillTest, WhatIsDiscardedAtTheSeamLeavesTheTableAsFarBehind) {
  TableFill fill;
  fill.LeftOut({{kP0, 10}});
  fill.Join({{kP0, 100}});
  fill.Joined();
  ASSERT_TRUE(fill.Take(Part(kP0, 100, 150), At(kP0, 150), At(kP0, 10)).ok());
  fill.Discard();
  EXPECT_EQ(fill.behind(), (PendingFrom{{kP0, 10}}));
  EXPECT_FALSE(fill.CloseEmptySeam());
}

TEST(TableFillTest, AnOwnReadThatIsGivenUpTakesWhatTheLanesBroughtWithIt) {
  TableFill fill;
  fill.LeftOut({{kP0, 10}});
  fill.Join({{kP0, 100}});
  ASSERT_TRUE(fill.Take(Part(kP0, 100, 150), At(kP0, 150), At(kP0, 10)).ok());
  fill.AbandonJoin();
  EXPECT_FALSE(fill.joining());
  EXPECT_EQ(fill.behind(), (PendingFrom{{kP0, 10}}));
  EXPECT_FALSE(fill.touches({kP0}));
}

}  // namespace
}  // namespace firn::pipeline
