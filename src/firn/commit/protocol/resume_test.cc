#include "firn/commit/protocol/resume.h"

#include <gtest/gtest.h>

#include "firn/commit/protocol/progress.h"

namespace firn::commit {
namespace {

using iceberg::Snapshot;
using iceberg::TableMetadata;
using record::SourceIdentity;

const SourceIdentity kLog{"cluster-1", "topic-1"};

class Resume : public ::testing::Test {
 protected:
  Resume() {
    table_.table_uuid = "uuid-1";
    for (int64_t id = 1; id <= 5; ++id) {
      Snapshot snapshot;
      snapshot.snapshot_id = id;
      snapshot.sequence_number = id;
      if (id > 1) snapshot.parent_snapshot_id = id - 1;
      table_.snapshots.push_back(snapshot);
    }
    table_.refs["main"] = {5};
    facts_.table = &table_;
    facts_.pipeline_id = "p";
    facts_.branch = "main";
    facts_.source = {"cluster-1", ""};
    facts_.topics = {"flights"};
  }

  Progress At(int64_t snapshot_id) const {
    return {"uuid-1", "main", snapshot_id, snapshot_id, 3, "c", {{{"flights", 0}, {42, kLog, std::nullopt}}}};
  }
  void Write(const std::string& id, const Progress& progress) {
    table_.properties[ProgressKey(id, "main")] = EncodeProgress(progress);
  }

  template <typename T>
  T Expect() {
    auto decision = DecideResume(facts_);
    if (auto* stop = std::get_if<ResumeStop>(&decision); stop != nullptr && !std::is_same_v<T, ResumeStop>) {
      ADD_FAILURE() << "stopped: " << stop->found;
    }
    EXPECT_TRUE(std::holds_alternative<T>(decision)) << decision.index();
    return std::holds_alternative<T>(decision) ? std::get<T>(decision) : T{};
  }

  TableMetadata table_;
  ResumeFacts facts_;
};

TEST_F(Resume, NothingOfOursIsAFirstRun) { Expect<ResumeFirstRun>(); }

TEST_F(Resume, GoesOnAtThePropertysPositions) {
  Write("p", At(4));
  const auto at = Expect<ResumeAt>();
  EXPECT_EQ(at.positions.at({"flights", 0}).next, 42);
  EXPECT_EQ(at.epoch, 3);
}

TEST_F(Resume, AnExpiredSnapshotStillGoesOn) {
  Write("p", At(2));
  std::erase_if(table_.snapshots, [](const Snapshot& s) { return s.snapshot_id <= 3; });
  EXPECT_EQ(Expect<ResumeAt>().positions.at({"flights", 0}).next, 42);
}

TEST_F(Resume, ARolledBackTableStopsWithBothStates) {
  Write("p", At(5));
  table_.refs["main"].snapshot_id = 3;
  const auto stop = Expect<ResumeStop>();
  EXPECT_NE(stop.found.find("rolled back"), std::string::npos);
  EXPECT_NE(stop.found.find("snapshot 3"), std::string::npos);
  EXPECT_FALSE(stop.remedy.empty());
}

TEST_F(Resume, ACopiedPropertyStops) {
  Progress copied = At(4);
  copied.table_uuid = "uuid-of-the-original";
  Write("p", copied);
  EXPECT_NE(Expect<ResumeStop>().found.find("copied or replaced"), std::string::npos);
}

TEST_F(Resume, ADamagedPropertyStops) {
  table_.properties["firn.progress.p"] = "{";
  Expect<ResumeStop>();
}

TEST_F(Resume, WithoutPropertyTheSummaryWithTheWholeMapServes) {
  table_.snapshots[2].summary = {{kSummaryPipeline, "p"},
                                 {kSummaryEpoch, "8"},
                                 {kSummaryRanges, R"({"*":true,"flights":{"0":[40,44]}})"}};
  const auto at = Expect<ResumeAt>();
  EXPECT_EQ(at.positions.at({"flights", 0}).next, 44);
  EXPECT_EQ(at.epoch, 8);
}

TEST_F(Resume, WithoutPropertyAPartialMapStops) {
  table_.snapshots[2].summary = {{kSummaryPipeline, "p"}, {kSummaryRanges, R"({"flights":{"0":[40,44]}})"}};
  Expect<ResumeStop>();
}

TEST_F(Resume, AnotherPipelineOfTheSameSourceStopsAndAdoptTakesItOver) {
  Write("old-name", At(4));
  EXPECT_NE(Expect<ResumeStop>().remedy.find("--adopt old-name"), std::string::npos);
  facts_.adopt = "old-name";
  EXPECT_EQ(Expect<ResumeAt>().positions.at({"flights", 0}).next, 42);
  facts_.adopt = "never-was";
  Expect<ResumeStop>();
}

TEST_F(Resume, AnotherPipelineOfAnotherSourceIsNoMatter) {
  Progress other = At(4);
  other.positions = {{{"payments", 0}, {7, kLog, std::nullopt}}};
  Write("other", other);
  Expect<ResumeFirstRun>();
  other.positions = {{{"flights", 0}, {7, {"cluster-2", ""}, std::nullopt}}};
  Write("other", other);
  Expect<ResumeFirstRun>();
}

TEST_F(Resume, AGroupNoteTellsOfADroppedTableUntilFirstRunIsAllowed) {
  facts_.group_notes = {GroupNote("uuid-before", 17)};
  EXPECT_NE(Expect<ResumeStop>().found.find("re-created"), std::string::npos);
  facts_.first_run_allowed = true;
  Expect<ResumeFirstRun>();
}

TEST_F(Resume, ForeignNotesAreIgnored) {
  facts_.group_notes = {"", "somebody else's"};
  Expect<ResumeFirstRun>();
}

record::PartitionPosition Position(int64_t next) {
  return {next, kLog, record::Fingerprint{next - 1, 100, 7}};
}

TEST(CheckPartition, GoesOnInsideTheLog) {
  const LogFacts log{0, 100, kLog, record::Fingerprint{41, 100, 7}};
  EXPECT_TRUE(std::holds_alternative<PartitionContinue>(CheckPartition(Position(42), log)));
}

TEST(CheckPartition, TrimmedNamesTheMissingRange) {
  const auto check = CheckPartition(Position(42), LogFacts{50, 100, kLog, std::nullopt});
  ASSERT_TRUE(std::holds_alternative<PartitionTrimmed>(check));
  EXPECT_EQ(std::get<PartitionTrimmed>(check).from, 42);
  EXPECT_EQ(std::get<PartitionTrimmed>(check).to, 50);
}

TEST(CheckPartition, NoticesEveryWayOfBeingAnotherLog) {
  const auto recreated = [](const LogFacts& log) {
    return std::holds_alternative<PartitionRecreated>(CheckPartition(Position(42), log));
  };
  EXPECT_TRUE(recreated({0, 10, kLog, std::nullopt})) << "ends below us";
  EXPECT_TRUE(recreated({0, 100, {"cluster-2", "topic-1"}, std::nullopt}));
  EXPECT_TRUE(recreated({0, 100, {"cluster-1", "topic-2"}, std::nullopt}));
  EXPECT_TRUE(recreated({0, 100, kLog, record::Fingerprint{41, 100, 8}}));
  EXPECT_FALSE(recreated({0, 100, kLog, record::Fingerprint{40, 100, 8}})) << "another record proves nothing";
  EXPECT_FALSE(recreated({0, 100, {}, std::nullopt}));
}

}  // namespace
}  // namespace firn::commit
