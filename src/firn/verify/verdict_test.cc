#include "firn/verify/verdict.h"

#include <gtest/gtest.h>

#include "firn/commit/protocol/progress.h"
#include "firn/source/memory/memory_source.h"

namespace firn::verify {
namespace {

const record::SourcePartition kP0{"events", 0};
const record::SourcePartition kP1{"events", 1};

class VerdictTest : public ::testing::Test {
 protected:
  VerdictTest() {
    log_->AddPartition(kP0);
    facts_.rows = &rows_;
    facts_.letters = &letters_;
  }
  void Log(int count, const record::SourcePartition& partition = kP0) {
    for (int i = 0; i < count; ++i) log_->Append(partition, "x");
  }
  static void Add(TableOffsets& to, int64_t from, int64_t end,
                  const record::SourcePartition& partition = kP0) {
    PartitionRows& rows = to.partitions[partition];
    for (int64_t offset = from; offset < end; ++offset) {
      ++rows.rows;
      if (!rows.offsets.Insert(offset)) rows.repeated.Insert(offset);
    }
  }
  std::vector<PartitionReport> AgainstLog() {
    source::MemorySource source(log_, 1);
    auto reports = VerifyAgainstLog(facts_, source, runtime::SystemClock());
    EXPECT_TRUE(reports.ok()) << reports.error().ToString();
    return *reports;
  }

  std::shared_ptr<source::MemoryLog> log_ = std::make_shared<source::MemoryLog>();
  TableOffsets rows_;
  TableOffsets letters_;
  VerifyFacts facts_;
};

TEST_F(VerdictTest, EachRecordOnceIsClean) {
  Log(1000);
  Add(rows_, 0, 1000);
  EXPECT_TRUE(AgainstLog().at(0).clean());
  EXPECT_TRUE(VerifyNumbers(facts_).at(0).clean());
}

TEST_F(VerdictTest, HolesRepeatsAndTheTailAreToldApart) {
  Log(1000);
  Add(rows_, 0, 400);
  Add(rows_, 410, 900);
  Add(rows_, 7, 9);
  for (const auto& report : {AgainstLog().at(0), VerifyNumbers(facts_).at(0)}) {
    EXPECT_EQ(report.holes.listed, (std::vector<OffsetRange>{{400, 410}}));
    EXPECT_EQ(report.repeated.listed, (std::vector<OffsetRange>{{7, 9}}));
    EXPECT_EQ(report.repeated_rows, 2);
    EXPECT_FALSE(report.clean());
  }
  EXPECT_EQ(AgainstLog().at(0).tail.listed, (std::vector<OffsetRange>{{900, 1000}}));
  EXPECT_TRUE(VerifyNumbers(facts_).at(0).tail.empty()) << "nobody says how far it should be";
}

TEST_F(VerdictTest, TheTablesOwnProgressTellsTheTailFromWhatWaits) {
  Log(1000);
  Add(rows_, 0, 880);
  facts_.expected[kP0] = {0, 900};
  const PartitionReport report = AgainstLog().at(0);
  EXPECT_EQ(report.tail.listed, (std::vector<OffsetRange>{{880, 900}}));
  EXPECT_EQ(report.waiting, 100);
  EXPECT_EQ(VerifyNumbers(facts_).at(0).tail.listed, (std::vector<OffsetRange>{{880, 900}}));
}

TEST_F(VerdictTest, LettersAndTombstonesAreAccountedFor) {
  Log(10);
  log_->Append(kP0, source::MemoryLog::Record{std::nullopt, std::nullopt, 1});
  Log(10);
  Add(rows_, 0, 5);
  Add(rows_, 6, 10);
  Add(rows_, 11, 21);
  Add(letters_, 5, 6);
  const PartitionReport report = AgainstLog().at(0);
  EXPECT_TRUE(report.clean());
  EXPECT_EQ(report.dead_letters, 1);
  EXPECT_EQ(report.tombstones, 1);
  EXPECT_EQ(VerifyNumbers(facts_).at(0).holes.listed, (std::vector<OffsetRange>{{10, 11}}));
}

TEST_F(VerdictTest, WhatTheLogNoLongerHoldsCannotBeProven) {
  Log(1000);
  Add(rows_, 0, 50);
  Add(rows_, 60, 1000);
  log_->Trim(kP0, 500);
  const PartitionReport report = AgainstLog().at(0);
  EXPECT_EQ(report.unproven.listed, (std::vector<OffsetRange>{{50, 60}}));
  EXPECT_TRUE(report.holes.empty());
}

TEST_F(VerdictTest, APartitionWithoutRowsIsMissingUnlessThePipelineBeganBehindIt) {
  Log(10);
  log_->AddPartition(kP1);
  Log(20, kP1);
  Add(rows_, 0, 10);
  EXPECT_EQ(AgainstLog().at(1).tail.offsets, 20);
  facts_.expected[kP1] = {20, 20};
  EXPECT_TRUE(AgainstLog().at(1).clean());
}

TEST_F(VerdictTest, RecordsBeforeTheFirstRowCountWhereAskedFor) {
  Log(100);
  Add(rows_, 30, 100);
  EXPECT_TRUE(AgainstLog().at(0).clean());
  facts_.from_log_start = true;
  EXPECT_EQ(AgainstLog().at(0).holes.listed, (std::vector<OffsetRange>{{0, 30}}));
  facts_.from_log_start = false;
  facts_.expected[kP0].from = 10;
  EXPECT_EQ(AgainstLog().at(0).holes.listed, (std::vector<OffsetRange>{{10, 30}}));
}

TEST_F(VerdictTest, ManyHolesFarApartAreAllFoundAndABoundedNumberListed) {
  Log(300'000);
  for (int64_t at = 0; at < 300'000; at += 1000) Add(rows_, at, at + 999);
  const PartitionReport report = AgainstLog().at(0);
  EXPECT_EQ(report.holes.offsets + report.tail.offsets, 300);
  EXPECT_EQ(report.holes.listed.size(), Finding::kMaxListed);
}

TEST_F(VerdictTest, PartitionsThatTheSourceDoesNotHaveAreLookedAtByThemselves) {
  Log(10);
  Add(rows_, 0, 10);
  Add(rows_, 5, 7, {"other", 3});
  Add(rows_, 8, 9, {"other", 3});
  const auto reports = AgainstLog();
  ASSERT_EQ(reports.size(), 2U);
  EXPECT_EQ(reports.at(1).holes.listed, (std::vector<OffsetRange>{{7, 8}}));
}

TEST(ExpectationsTest, ComeFromProgressAndTheStartMarker) {
  iceberg::TableMetadata table;
  commit::Progress progress;
  progress.branch = "main";
  progress.positions[kP0] = {90, {}, std::nullopt};
  table.properties[commit::ProgressKey("p", "main")] = commit::EncodeProgress(progress);
  iceberg::Snapshot marker;
  marker.summary = {{commit::kSummaryPipeline, "p"},
                    {commit::kSummaryEpoch, "0"},
                    {commit::kSummaryRanges, commit::EncodeRanges({}, {{kP0, {12, {}, std::nullopt}}})}};
  table.snapshots.push_back(marker);
  const auto expected = ExpectationsOf(table, "", "main");
  ASSERT_TRUE(expected.ok());
  EXPECT_EQ(expected->at(kP0).from, 12);
  EXPECT_EQ(expected->at(kP0).to, 90);
  EXPECT_TRUE(ExpectationsOf(table, "q", "main")->empty());
}

}  // namespace
}  // namespace firn::verify
