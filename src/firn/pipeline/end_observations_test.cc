#include "firn/pipeline/end_observations.h"

#include <gtest/gtest.h>

namespace firn::pipeline {
namespace {

const record::SourcePartition kP0{"events", 0};
const record::SourcePartition kP1{"events", 1};

std::map<record::SourcePartition, source::PartitionBounds> Ends(int64_t p0, int64_t p1) {
  return {{kP0, {0, p0, {}}}, {kP1, {0, p1, {}}}};
}
record::Positions At(int64_t p0, int64_t p1) { return {{kP0, {p0, {}, {}}}, {kP1, {p1, {}, {}}}}; }

TEST(EndObservationsTest, TellsTheNewestThatTheReadHasPassed) {
  EndObservations seen;
  seen.Add(1000, Ends(10, 10));
  seen.Add(2000, Ends(20, 10));
  seen.Add(3000, Ends(30, 30));
  ASSERT_EQ(seen.PassedBy(At(25, 10)).size(), 1);
  EXPECT_EQ(seen.PassedBy(At(25, 10)).front().time_ms, 2000);
  EXPECT_TRUE(seen.PassedBy(At(9, 50)).empty());
  EXPECT_TRUE(seen.PassedBy({{kP0, {99, {}, {}}}}).empty()) << "nothing is known of events-1";
}

TEST(EndObservationsTest, WithoutAllEndsThereIsNothingToPass) {
  EndObservations seen;
  seen.Add(1000, {{kP0, {0, 10, {}}}, {kP1, {0, std::nullopt, {}}}});
  EXPECT_TRUE(seen.all().empty());
}

TEST(EndObservationsTest, WhatWasReachedIsForgotten) {
  EndObservations seen;
  for (int64_t time_ms : {1000, 2000, 3000}) seen.Add(time_ms, Ends(time_ms, time_ms));
  seen.ForgetThrough(2000);
  ASSERT_EQ(seen.all().size(), 1);
  EXPECT_EQ(seen.all().front().time_ms, 3000);
}

TEST(EndObservationsTest, AreThinnedOutAndKeepTheOldest) {
  EndObservations seen;
  for (int64_t i = 0; i < 1000; ++i) seen.Add(i, Ends(i, i));
  EXPECT_LE(seen.all().size(), EndObservations::kMaxKept);
  EXPECT_EQ(seen.all().front().time_ms, 0);
  EXPECT_EQ(seen.all().back().time_ms, 999);
}

}  // namespace
}  // namespace firn::pipeline
