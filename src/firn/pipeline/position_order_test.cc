#include "firn/pipeline/position_order.h"

#include <gtest/gtest.h>

#include "firn/catalog/memory/memory_catalog.h"
#include "firn/commit/protocol/progress.h"
#include "firn/runtime/manual_clock.h"
#include "firn/runtime/seeded_ids.h"
#include "firn/source/memory/memory_source.h"
#include "firn/store/memory/memory_store.h"

namespace firn::pipeline {
namespace {

using Kind = PositionTarget::Kind;
const record::SourcePartition kP0{"events", 0};
const record::SourcePartition kP1{"events", 1};

/// Two partitions of 20 records each; the table stands at 12 and 15.
class PositionOrderTest : public ::testing::Test {
 protected:
  PositionOrderTest() {
    for (const auto& partition : {kP0, kP1}) {
      log_->AddPartition(partition);
      for (int i = 0; i < 20; ++i) log_->Append(partition, "x");
    }
    config_.id = "p";
    config_.tables.front().name = {"lake", {"shop"}, "events"};
    EXPECT_TRUE(catalog_->CreateNamespace({"shop"}, {}).ok());
    iceberg::NewTable table;
    table.uuid = ids_.Uuid();
    table.schema = std::make_shared<iceberg::Schema>(
        0, std::vector<iceberg::NestedField>{
               {.id = 1, .name = "a", .type = iceberg::Type::Primitive(iceberg::TypeId::kLong)}});
    EXPECT_TRUE(catalog_->CreateTable(name_, table).ok());
    Advance(kP0, 0, 12);
    Advance(kP1, 0, 15);
  }

  commit::Committer Committer() {
    commit::CommitterConfig config;
    config.table = name_;
    config.pipeline_id = "p";
    return {catalog_, config, clock_, ids_};
  }
  void Advance(const record::SourcePartition& partition, int64_t from, int64_t to) {
    commit::TableBatch batch;
    const auto bounds = log_->Bounds();
    batch.ranges[partition] = {from, to, bounds.at(partition).identity,
                               log_->FingerprintAt(partition, to - 1)};
    EXPECT_TRUE(std::holds_alternative<commit::Committed>(Committer().CommitBatch(batch, {})));
  }
  iceberg::LoadedTable Table() { return catalog_->LoadTable(name_).value(); }
  void Change(const iceberg::Update& update) {
    ASSERT_TRUE(Committer()
                    .Change(
                        [&](const auto& table) -> Result<std::vector<iceberg::Update>> {
                          if (done_) return std::vector<iceberg::Update>{};
                          done_ = true;
                          static_cast<void>(table);
                          return std::vector<iceberg::Update>{update};
                        },
                        {})
                    .ok());
    done_ = false;
  }
  void RollBackTo(int64_t snapshot_id) {
    Change(iceberg::update::SetSnapshotRef{"main", {.snapshot_id = snapshot_id}});
  }
  Result<PlannedPositions> Plan(PositionTarget target) {
    return PlanPositions(Table(), config_, source_, target);
  }
  PositionTarget To(Kind kind) {
    PositionTarget target;
    target.kind = kind;
    target.said = "said";
    return target;
  }
  PositionTarget At(std::map<record::SourcePartition, int64_t> offsets) {
    PositionTarget target = To(Kind::kOffsets);
    target.offsets = std::move(offsets);
    return target;
  }

  runtime::ManualClock clock_;
  runtime::SeededIds ids_{42};
  std::shared_ptr<source::MemoryLog> log_ = std::make_shared<source::MemoryLog>();
  source::MemorySource source_{log_, 1};
  std::shared_ptr<store::MemoryStore> store_ = std::make_shared<store::MemoryStore>();
  std::shared_ptr<catalog::MemoryCatalog> catalog_ =
      std::make_shared<catalog::MemoryCatalog>("lake", "memory://lake", store_, clock_);
  iceberg::TableIdentifier name_{{"shop"}, "events"};
  PipelineConfig config_;
  bool done_ = false;
};

TEST_F(PositionOrderTest, ANamedPartitionMovesAndTheOthersStay) {
  const auto planned = Plan(At({{kP0, 3}}));
  ASSERT_TRUE(planned.ok()) << planned.error().ToString();
  EXPECT_TRUE(planned->needed);
  ASSERT_EQ(planned->moves.size(), 1U);
  EXPECT_EQ(planned->moves[0].from, 12);
  EXPECT_EQ(planned->moves[0].to, 3);
  EXPECT_EQ(planned->order.positions.at(kP1).next, 15);
  EXPECT_EQ(planned->order.positions.at(kP0).last, log_->FingerprintAt(kP0, 2));
  EXPECT_TRUE(std::holds_alternative<commit::Committed>(Committer().CommitOrder(planned->order, {})));
  const auto standing = StandingOf(Table(), config_, &source_);
  ASSERT_TRUE(standing.ok());
  EXPECT_TRUE(standing->goes_on);
  EXPECT_EQ(standing->partitions.at(0).position, 3);
  EXPECT_EQ(standing->partitions.at(0).state, "goes on");
}

TEST_F(PositionOrderTest, WhereItStandsAlreadyNothingIsNeeded) {
  const auto planned = Plan(At({{kP0, 12}}));
  ASSERT_TRUE(planned.ok());
  EXPECT_TRUE(planned->moves.empty());
  EXPECT_FALSE(planned->needed);
  EXPECT_FALSE(Plan(To(Kind::kRecorded))->needed);
}

TEST_F(PositionOrderTest, PositionsOutsideOfTheLogAndUnknownNamesAreRefusedWithWhatThereIs) {
  log_->Trim(kP0, 5);
  for (const int64_t offset : {4, 21}) {
    const auto refused = Plan(At({{kP0, offset}}));
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().kind(), ErrorKind::kInvalidArgument);
    EXPECT_NE(refused.error().ToString().find("5 to 20"), std::string::npos) << refused.error().ToString();
  }
  EXPECT_NE(Plan(At({{{"event", 0}, 7}})).error().ToString().find("'events'"), std::string::npos);
  EXPECT_FALSE(Plan(At({{{"events", 9}, 7}})).ok());
  PositionTarget target = To(Kind::kEarliest);
  target.topics = {"evnts"};
  EXPECT_NE(Plan(target).error().ToString().find("'events'"), std::string::npos);
}

TEST_F(PositionOrderTest, EndsOfTheLog) {
  log_->Trim(kP1, 6);
  EXPECT_EQ(Plan(To(Kind::kEarliest))->order.positions.at(kP1).next, 6);
  EXPECT_EQ(Plan(To(Kind::kLatest))->order.positions.at(kP1).next, 20);
}

TEST_F(PositionOrderTest, ASourceThatCannotFindTimesSaysSo) {
  const auto refused = Plan(To(Kind::kTime));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().kind(), ErrorKind::kUnsupported);
  EXPECT_NE(refused.error().ToString().find("--offset"), std::string::npos);
}

TEST_F(PositionOrderTest, AfterARollbackTheHistoryOrTheRecordDecides) {
  const int64_t before = Table().metadata->snapshots.front().snapshot_id;  // kP0 at 12, kP1 unknown
  RollBackTo(before);
  EXPECT_FALSE(StandingOf(Table(), config_, &source_)->goes_on);

  const auto recorded = Plan(To(Kind::kRecorded));
  ASSERT_TRUE(recorded.ok());
  EXPECT_TRUE(recorded->needed);
  EXPECT_TRUE(recorded->moves.empty());

  const auto history = Plan(To(Kind::kHistory));
  ASSERT_TRUE(history.ok()) << history.error().ToString();
  EXPECT_EQ(history->order.positions.at(kP0).next, 12);
  EXPECT_FALSE(history->order.positions.contains(kP1)) << "unknown then: found anew";
  ASSERT_EQ(history->moves.size(), 1U);
  EXPECT_EQ(history->moves[0].to, std::nullopt);
  EXPECT_TRUE(std::holds_alternative<commit::Committed>(Committer().CommitOrder(history->order, {})));
  EXPECT_TRUE(StandingOf(Table(), config_, &source_)->goes_on);
}

TEST_F(PositionOrderTest, ARecreatedTopicIsTakenAtItsNewLog) {
  log_->Recreate(kP0, "topic-2");
  log_->Append(kP0, "new");
  const auto stopped = StandingOf(Table(), config_, &source_);
  ASSERT_TRUE(stopped.ok());
  EXPECT_NE(stopped->partitions.at(0).state, "goes on");
  PositionTarget target = To(Kind::kEarliest);
  const auto planned = Plan(target);
  ASSERT_TRUE(planned.ok()) << planned.error().ToString();
  EXPECT_EQ(planned->order.positions.at(kP0).identity.topic_id, "topic-2");
  EXPECT_TRUE(std::holds_alternative<commit::Committed>(Committer().CommitOrder(planned->order, {})));
  EXPECT_EQ(StandingOf(Table(), config_, &source_)->partitions.at(0).state, "goes on");
}

TEST_F(PositionOrderTest, APropertyThatCannotBeReadIsReplacedByAnOrder) {
  Change(iceberg::update::SetProperties{{{"firn.progress.p", "{"}}});
  EXPECT_FALSE(StandingOf(Table(), config_, &source_)->goes_on);
  const auto planned = Plan(At({{kP0, 12}, {kP1, 15}}));
  ASSERT_TRUE(planned.ok());
  EXPECT_TRUE(planned->needed);
}

}  // namespace
}  // namespace firn::pipeline
