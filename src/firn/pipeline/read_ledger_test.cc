#include "firn/pipeline/read_ledger.h"

#include <gtest/gtest.h>

namespace firn::pipeline {
namespace {

const record::SourcePartition kP0{"events", 0};
const record::SourcePartition kP1{"events", 1};

LaneCut Read(const record::SourcePartition& partition, int64_t from, int64_t to,
             commit::PendingFrom pending = {}) {
  LaneCut cut;
  cut.read[partition] = {from, to, {}, {}};
  cut.pending = std::move(pending);
  return cut;
}

TEST(ReadLedgerTest, TheBoundStopsAtWhatLanesHoldAndAtWhatIsPending) {
  ReadLedger ledger(2);
  ledger.Start({{kP0, {10, {}, {}}}, {kP1, {0, {}, {}}}});
  ASSERT_TRUE(ledger.Take(0, Read(kP0, 10, 50, {{kP0, 30}})).ok());
  ASSERT_TRUE(ledger.Take(1, Read(kP1, 0, 9)).ok());
  EXPECT_EQ(ledger.Bound({}).at(kP0).next, 30);
  EXPECT_EQ(ledger.Bound({{kP0, 20}, {kP1, 4}}).at(kP0).next, 20);
  EXPECT_EQ(ledger.Bound({{kP1, 4}}).at(kP1).next, 4);
  ASSERT_TRUE(ledger.Take(0, Read(kP0, 50, 50)).ok());
  EXPECT_EQ(ledger.Bound({}).at(kP0).next, 50) << "the lane holds nothing any more";
}

TEST(ReadLedgerTest, RangesThatDoNotJoinAreRefused) {
  ReadLedger ledger(1);
  ledger.Start({{kP0, {10, {}, {}}}});
  EXPECT_FALSE(ledger.Take(0, Read(kP0, 11, 12)).ok());
  EXPECT_FALSE(ledger.Take(0, Read(kP0, 9, 12)).ok());
  EXPECT_TRUE(ledger.Take(0, Read(kP1, 7, 12)).ok()) << "a partition that was given up";
}

TEST(ReadLedgerTest, ABoundInTheMiddleHasACursorAtOrBelowIt) {
  ReadLedger ledger(1);
  ledger.Start({{kP0, {0, {}, {}}}});
  for (int64_t at : {10, 20, 30}) {
    LaneCut cut = Read(kP0, at - 10, at);
    cut.read[kP0].cursor = record::SourceCursor{at, std::to_string(at)};
    ASSERT_TRUE(ledger.Take(0, cut).ok());
  }
  EXPECT_EQ(ledger.Bound({}).at(kP0).cursor->at, 30);
  EXPECT_EQ(ledger.Bound({{kP0, 25}}).at(kP0).cursor->at, 20);
  EXPECT_FALSE(ledger.Bound({{kP0, 5}}).at(kP0).cursor.has_value());
}

TEST(ReadLedgerTest, StartingAgainForgetsWhatLanesHeld) {
  ReadLedger ledger(1);
  ledger.Start({{kP0, {0, {}, {}}}});
  ASSERT_TRUE(ledger.Take(0, Read(kP0, 0, 50, {{kP0, 10}})).ok());
  ledger.Start({{kP0, {10, {}, {}}}});
  EXPECT_EQ(ledger.Bound({}).at(kP0).next, 10);
  ledger.Forget({kP0});
  EXPECT_TRUE(ledger.Bound({}).empty());
}

}  // namespace
}  // namespace firn::pipeline
