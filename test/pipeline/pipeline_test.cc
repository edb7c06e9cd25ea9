// Scenarios of pipelines of one table.
#include "firn/write/dead_letter_rows.h"
#include "pipeline_fixture.h"

namespace firn::pipeline {
namespace {

TEST_F(PipelineTest, CatchesUpAndASecondRunAddsNothing) {
  Produce(1000);
  auto result = CatchUp();
  EXPECT_EQ(result.end, PipelineEnd::kDone) << result.message;
  ExpectAllOnce();
  const size_t snapshots = Snapshots();
  EXPECT_EQ(CatchUp().end, PipelineEnd::kDone);
  EXPECT_EQ(Snapshots(), snapshots);
  Produce(10);
  EXPECT_EQ(CatchUp().end, PipelineEnd::kDone);
  ExpectAllOnce();
}

TEST_F(PipelineTest, CommitsWhileItRunsAndFlushesAtTheEnd) {
  Produce(100);
  auto process = Start();
  Eventually([&] { return process->pipeline->status().rows_committed >= 100; }, "the first rows");
  Produce(500);
  Eventually([&] { return process->pipeline->status().rows_committed >= 600; }, "more rows");
  const size_t snapshots = Snapshots();
  runtime::SystemClock().SleepMs(200);
  EXPECT_EQ(Snapshots(), snapshots) << "an idle pipeline makes no snapshots";
  Produce(7);
  auto result = Stop(*process);
  EXPECT_EQ(result.end, PipelineEnd::kDone) << result.message;
  EXPECT_EQ(CatchUp().end, PipelineEnd::kDone);
  ExpectAllOnce();
}

TEST_F(PipelineTest, AnAbortLosesAndDoublesNothing) {
  for (int round = 0; round < 5; ++round) {
    Produce(300);
    auto process = Start();
    runtime::SystemClock().SleepMs(5 + 15 * round);
    process->abort.request_stop();
    Wait(*process);
  }
  EXPECT_EQ(CatchUp().end, PipelineEnd::kDone);
  ExpectAllOnce();
}

TEST_F(PipelineTest, ConflictsAndLostAnswersLoseAndDoubleNothing) {
  catalog_->FailNextCommits({CommitFault::kNone, CommitFault::kConflict, CommitFault::kAnswerLost,
                             CommitFault::kRequestLost, CommitFault::kNone, CommitFault::kAnswerLost});
  config_.commit.max_records = 50;
  Produce(1000);
  auto result = CatchUp();
  EXPECT_EQ(result.end, PipelineEnd::kDone) << result.message;
  ExpectAllOnce();
}

TEST_F(PipelineTest, BadRecordsAreSetAsideOnceBeforeTheBatch) {
  Produce(100);
  log_->Append(Partition(1), "{\"id\": \"no number\"}");
  log_->Append(Partition(1), "not json");
  Produce(100);
  auto result = CatchUp();
  EXPECT_EQ(result.end, PipelineEnd::kDone) << result.message;
  ExpectAllOnce();
  EXPECT_EQ(Column("offset", "events_dead_letters").size(), 2U);
  const auto letters = Table("events_dead_letters");
  EXPECT_TRUE(letters.metadata->properties.contains("firn.progress.p"));
}

TEST_F(PipelineTest, DeadLettersOfABatchThatIsReadAgainAreNotDoubled) {
  Produce(100);
  log_->Append(Partition(1), "not json");
  // Commits: the marker, the letters, and then the batch itself is refused for good: the process fails.
  catalog_->FailNextCommits({CommitFault::kNone, CommitFault::kNone, CommitFault::kRejected});
  EXPECT_EQ(CatchUp().end, PipelineEnd::kFailed);
  EXPECT_EQ(Column("offset", "events_dead_letters").size(), 1U);
  EXPECT_EQ(CatchUp().end, PipelineEnd::kDone);
  ExpectAllOnce();
  EXPECT_EQ(Column("offset", "events_dead_letters").size(), 1U);
}

TEST_F(PipelineTest, BadRecordsWaitForACatalogThatIsAway) {
  Produce(10);
  EXPECT_EQ(CatchUp().end, PipelineEnd::kDone);
  log_->Append(Partition(0), "{broken");
  Produce(10);
  config_.commit.interval_ms = 500;
  auto process = Start();
  Eventually([&] { return process->pipeline->status().rows_decoded == 10; }, "a batch that fills");
  catalog_->FailNextLoads(5);
  Eventually([&] { return process->pipeline->status().rows_committed == 10; }, "the batch");
  EXPECT_EQ(Stop(*process).end, PipelineEnd::kDone);
  ExpectAllOnce();
  EXPECT_EQ(Column("offset", "events_dead_letters").size(), 1);
}

TEST_F(PipelineTest, ADeadLetterTableOfAFormerVersionGetsItsNewColumns) {
  const iceberg::SchemaPtr own = write::DeadLetterSchema();
  std::vector<iceberg::NestedField> former;
  for (const iceberg::NestedField& field : own->fields()) {
    if (field.name != "file" && field.name != "line") former.push_back(field);
  }
  iceberg::NewTable definition;
  definition.schema = std::make_shared<iceberg::Schema>(0, former);
  definition.uuid = ids_.Uuid();
  ASSERT_TRUE(catalog_->CreateNamespace({"shop"}, {}).ok());
  ASSERT_TRUE(catalog_->CreateTable({{"shop"}, "events_dead_letters"}, definition).ok());
  log_->Append(Partition(1), "not json");
  EXPECT_EQ(CatchUp().end, PipelineEnd::kDone);
  EXPECT_EQ(Column("line", "events_dead_letters"), std::vector<int64_t>{-1}) << "of no file";
}

TEST_F(PipelineTest, TooManyBadRecordsStopBeforeAnythingIsMovedPast) {
  config_.dead_letters.fail_above_min_records = 100;
  Produce(100);
  for (int i = 0; i < 100; ++i) log_->Append(Partition(0), "not json");
  auto result = CatchUp();
  EXPECT_EQ(result.end, PipelineEnd::kFailed);
  EXPECT_NE(result.message.find("fail_above"), std::string::npos) << result.message;
  EXPECT_TRUE(Column("id").empty());
  EXPECT_FALSE(catalog_->LoadTable({{"shop"}, "events_dead_letters"}).ok());
}

TEST_F(PipelineTest, PolicyFailStopsAtTheRecordAndSkipCountsIt) {
  Produce(8);
  log_->Append(Partition(2), "not json");
  config_.on_bad_record = BadRecordPolicy::kFail;
  auto failed = CatchUp();
  EXPECT_NE(failed.end, PipelineEnd::kDone);
  EXPECT_NE(failed.message.find("events[2] offset 2"), std::string::npos) << failed.message;
  config_.on_bad_record = BadRecordPolicy::kSkip;
  auto process = Start({.until_caught_up = true});
  EXPECT_EQ(Wait(*process).end, PipelineEnd::kDone);
  EXPECT_EQ(process->pipeline->status().skipped, 1);
  ExpectAllOnce();
}

TEST_F(PipelineTest, TombstonesAreCountedOrSetAside) {
  Produce(8);
  log_->Append(Partition(0), source::MemoryLog::Record{"key", std::nullopt, 1000});
  auto process = Start({.until_caught_up = true});
  EXPECT_EQ(Wait(*process).end, PipelineEnd::kDone);
  EXPECT_EQ(process->pipeline->status().tombstones_skipped, 1);
  log_->Append(Partition(0), source::MemoryLog::Record{"key", std::nullopt, 1000});
  config_.tombstones = TombstonePolicy::kDeadLetter;
  EXPECT_EQ(CatchUp().end, PipelineEnd::kDone);
  EXPECT_EQ(Column("offset", "events_dead_letters").size(), 1U);
  ExpectAllOnce();
}

TEST_F(PipelineTest, NewFieldsBecomeColumnsWithoutLosingARow) {
  config_.tables.front().schema_evolution = decode::Evolution::kAddAndWiden;
  config_.commit.max_records = 40;
  Produce(200);
  for (int i = 0; i < 100; ++i) {
    const auto partition = static_cast<int32_t>(next_id_ % kPartitions);
    log_->Append(Partition(partition), fmt::format(R"({{"id":{},"partition":{},"amount":{},"tags":["x"]}})",
                                                   next_id_, partition, next_id_ * 10));
    ++next_id_;
  }
  Produce(100);
  auto result = CatchUp();
  EXPECT_EQ(result.end, PipelineEnd::kDone) << result.message;
  ExpectAllOnce();
  const std::vector<int64_t> amounts = Column("amount");
  EXPECT_EQ(std::ranges::count(amounts, -1), 300);
  EXPECT_EQ(std::ranges::count(amounts, 2000), 1);
  EXPECT_NE(Table().metadata->schema()->FindByName("tags.element"), nullptr);
}

TEST_F(PipelineTest, ColumnsAreInferredFromASample) {
  config_.tables.front().columns.clear();
  config_.tables.front().partition_by = {"partition"};
  Produce(100);
  auto result = CatchUp();
  EXPECT_EQ(result.end, PipelineEnd::kDone) << result.message;
  ExpectAllOnce();
  EXPECT_EQ(Table().metadata->schema()->FindByName("partition")->type->id(), iceberg::TypeId::kLong);
}

TEST_F(PipelineTest, AnotherEngineThatAltersTheTableDoesNotDisturb) {
  config_.commit.max_records = 100;
  Produce(500);
  auto process = Start();
  Eventually([&] { return process->pipeline->status().rows_committed >= 500; }, "the first rows");
  const auto before = Table();
  std::vector<iceberg::NestedField> fields = before.metadata->schema()->fields();
  fields.push_back({.id = before.metadata->last_column_id + 1,
                    .name = "added",
                    .type = iceberg::Type::Primitive(iceberg::TypeId::kString)});
  iceberg::TableCommit alter{before, {}, {}, ""};
  alter.updates = {iceberg::update::AddSchema{std::make_shared<iceberg::Schema>(1, fields)},
                   iceberg::update::SetCurrentSchema{-1}};
  ASSERT_TRUE(std::holds_alternative<iceberg::CommitDone>(catalog_->CommitTable(alter)));
  Produce(500);
  Eventually([&] { return process->pipeline->status().rows_committed >= 1000; }, "rows after the change");
  EXPECT_EQ(Stop(*process).end, PipelineEnd::kDone);
  ExpectAllOnce();
}

TEST_F(PipelineTest, RevokedPartitionsAreHandedOverWithoutLossOrRepeat) {
  Produce(400);
  auto first = Start();
  Eventually([&] { return first->pipeline->status().rows_decoded >= 400; }, "the first process reads");
  auto second = Start();
  Eventually([&] { return second->source != nullptr && !second->source.load()->held().empty(); },
             "the second one is assigned");
  // The test's group coordinator: partitions 2 and 3 go from the first to the second; the second was given
  // all of them at first, as a process with a stale view would be.
  first->source.load()->Push(source::PartitionsRevoked{{Partition(2), Partition(3)}, false});
  second->source.load()->Push(source::PartitionsRevoked{{Partition(0), Partition(1)}, false});
  Eventually(
      [&] { return first->source.load()->held().size() == 2 && second->source.load()->held().size() == 2; },
      "the hand-over");
  Produce(400);
  Eventually([&] { return Column("id").size() >= 800; }, "all rows");
  EXPECT_EQ(Stop(*first).end, PipelineEnd::kDone);
  EXPECT_EQ(Stop(*second).end, PipelineEnd::kDone);
  EXPECT_EQ(CatchUp().end, PipelineEnd::kDone);
  ExpectAllOnce();
}

TEST_F(PipelineTest, TwoProcessesOfOnePipelineWithoutAGroupStopRatherThanDouble) {
  config_.commit.max_records = 20;
  auto first = Start();
  auto second = Start();
  for (int i = 0; i < 50 && first->result.wait_for(std::chrono::seconds(0)) != std::future_status::ready &&
                  second->result.wait_for(std::chrono::seconds(0)) != std::future_status::ready;
       ++i) {
    Produce(100);
    runtime::SystemClock().SleepMs(200);
  }
  const auto a = Stop(*first);
  const auto b = Stop(*second);
  EXPECT_TRUE(a.end == PipelineEnd::kDataStop || b.end == PipelineEnd::kDataStop) << a.message << b.message;
  EXPECT_EQ(CatchUp().end, PipelineEnd::kDone);
  ExpectAllOnce();
}

// The rows of a refused batch are thrown away, and the grace in which a rebalance may explain the refusal
// begins: what is filled in it stands behind a gap.
TEST_F(PipelineTest, ARebalanceAfterARefusedBatchMovesNoPositionOverWhatWasThrownAway) {
  config_.commit.interval_ms = 60'000;
  config_.commit.max_records = 400;
  auto process = Start();
  Eventually(
      [&] { return process->source != nullptr && process->source.load()->held().size() == kPartitions; },
      "the assignment");
  ProduceTo(1, 100);
  Eventually([&] { return process->pipeline->status().rows_decoded >= 100; }, "partition 1 is filled");
  EXPECT_EQ(CatchUp().end, PipelineEnd::kDone);  // another process moves it
  for (const int32_t partition : {0, 2, 3}) ProduceTo(partition, 100);
  Eventually([&] { return metrics_.Render().contains("outcome=\"rejected\""); }, "the refusal");
  process->source.load()->Push(source::PartitionsRevoked{{Partition(3)}, false});
  Eventually([&] { return process->source.load()->held().size() == 3; }, "the first rebalance");
  for (const int32_t partition : {0, 2}) ProduceTo(partition, 50);
  Eventually([&] { return process->pipeline->status().rows_decoded >= 500; }, "records are filled again");
  process->source.load()->Push(source::PartitionsRevoked{{Partition(2)}, false});
  Eventually([&] { return process->source.load()->held().size() == 2; }, "the second rebalance");
  EXPECT_EQ(Stop(*process).end, PipelineEnd::kDone);
  EXPECT_EQ(CatchUp().end, PipelineEnd::kDone);
  ExpectAllOnce();
}

TEST_F(PipelineTest, LostPartitionsAreDiscardedAndReadByTheirOwner) {
  config_.commit.interval_ms = 60'000;
  Produce(400);
  auto process = Start();
  Eventually([&] { return process->pipeline->status().rows_decoded >= 400; },
             "rows are filled, not committed");
  process->source.load()->Push(source::PartitionsRevoked{{Partition(3)}, true});
  Eventually([&] { return process->source.load()->held().size() == 3; }, "the partition is released");
  EXPECT_EQ(Stop(*process).end, PipelineEnd::kDone);
  EXPECT_EQ(CatchUp().end, PipelineEnd::kDone);
  ExpectAllOnce();
}

TEST_F(PipelineTest, ATrimmedLogStopsWithTheMissingRangeOrGoesOnWhereAllowed) {
  Produce(40);
  EXPECT_EQ(CatchUp().end, PipelineEnd::kDone);
  Produce(40);
  log_->Trim(Partition(1), 15);
  auto stopped = CatchUp();
  EXPECT_EQ(stopped.end, PipelineEnd::kDataStop);
  EXPECT_NE(stopped.message.find("events[1]: records [10, 15) are gone"), std::string::npos)
      << stopped.message;
  config_.on_data_loss = OnDataLoss::kEarliest;
  auto result = CatchUp();
  EXPECT_EQ(result.end, PipelineEnd::kDone) << result.message;
  std::set<int64_t> gone;
  for (int64_t offset = 10; offset < 15; ++offset) gone.insert(offset * kPartitions + 1);
  ExpectAllOnce(gone);
}

TEST_F(PipelineTest, ARecreatedTopicStops) {
  Produce(40);
  EXPECT_EQ(CatchUp().end, PipelineEnd::kDone);
  log_->Recreate(Partition(2), "topic-2");
  auto stopped = CatchUp();
  EXPECT_EQ(stopped.end, PipelineEnd::kDataStop);
  EXPECT_NE(stopped.message.find("topic-2"), std::string::npos) << stopped.message;
}

TEST_F(PipelineTest, ADroppedTableStopsUntilFirstRunIsAllowed) {
  Produce(40);
  EXPECT_EQ(CatchUp().end, PipelineEnd::kDone);
  ASSERT_TRUE(catalog_->DropTable({{"shop"}, "events"}, false).ok());
  EXPECT_EQ(CatchUp().end, PipelineEnd::kDataStop);
  EXPECT_EQ(CatchUp({.first_run = true}).end, PipelineEnd::kDone);
  ExpectAllOnce();
}

TEST_F(PipelineTest, ARenamedPipelineStopsUntilItAdopts) {
  Produce(40);
  EXPECT_EQ(CatchUp().end, PipelineEnd::kDone);
  config_.id = "renamed";
  auto stopped = CatchUp();
  EXPECT_EQ(stopped.end, PipelineEnd::kDataStop);
  EXPECT_NE(stopped.message.find("--adopt p"), std::string::npos) << stopped.message;
  Produce(40);
  EXPECT_EQ(CatchUp({.adopt = "p"}).end, PipelineEnd::kDone);
  ExpectAllOnce();
  Produce(40);
  EXPECT_EQ(CatchUp().end, PipelineEnd::kDone) << "adopting once is enough";
  ExpectAllOnce();
}

TEST_F(PipelineTest, AMissingTableWithCreateFalseIsTheUsersError) {
  config_.tables.front().create = false;
  auto result = CatchUp();
  EXPECT_EQ(result.end, PipelineEnd::kUserError);
  EXPECT_NE(result.message.find("create: true"), std::string::npos) << result.message;
}

TEST_F(PipelineTest, ColumnsThatContradictTheTableAreAllNamed) {
  Produce(4);
  EXPECT_EQ(CatchUp().end, PipelineEnd::kDone);
  config_.tables.front().columns = {{.name = "id", .type = "string"}, {.name = "missing", .type = "int"}};
  config_.tables.front().partition_by.clear();
  auto result = CatchUp();
  EXPECT_EQ(result.end, PipelineEnd::kUserError);
  EXPECT_NE(result.message.find("column 'id' is declared string, but long in the table"), std::string::npos)
      << result.message;
  EXPECT_NE(result.message.find("column 'missing' ("), std::string::npos) << result.message;
}

TEST_F(PipelineTest, AFullDiskFailsTheRunAndTheNextOneReadsEverythingAgain) {
  Produce(100);
  store_->FailNext(store::StoreOp::kFinish, ".parquet",
                   Error(ErrorKind::kResourceExhausted, "disk full (injected)"));
  auto failed = CatchUp();
  EXPECT_EQ(failed.end, PipelineEnd::kFailed);
  EXPECT_NE(failed.message.find("disk full"), std::string::npos);
  EXPECT_EQ(CatchUp().end, PipelineEnd::kDone);
  ExpectAllOnce();
}

TEST_F(PipelineTest, EachCommitCarriesRangesThatJoin) {
  config_.commit.max_records = 60;
  config_.commit.interval_ms = 5;
  auto process = Start();
  for (int i = 0; i < 20; ++i) {
    Produce(37);
    runtime::SystemClock().SleepMs(10);
  }
  EXPECT_EQ(Stop(*process).end, PipelineEnd::kDone);
  EXPECT_EQ(CatchUp().end, PipelineEnd::kDone);
  ExpectAllOnce();
  int64_t epoch = -1;
  for (const iceberg::Snapshot& snapshot : Table().metadata->snapshots) {
    const auto text = snapshot.summary.find(commit::kSummaryEpoch);
    ASSERT_NE(text, snapshot.summary.end());
    EXPECT_EQ(std::stoll(text->second), epoch + 1);
    epoch = std::stoll(text->second);
  }
  EXPECT_GT(epoch, 3);
}

TEST_F(PipelineTest, LagCountsWhatIsNotCommittedAndValidThroughIsNeverAheadOfIt) {
  Produce(40);
  EXPECT_EQ(CatchUp().end, PipelineEnd::kDone);
  config_.commit.interval_ms = 3'600'000;
  auto process = Start();
  const auto status = [&] { return process->pipeline->status(); };
  Eventually([&] { return status().lag_records == 0 && status().valid_through_ms > 0; }, "nothing to read");
  const int64_t idle_ms = status().valid_through_ms;
  Eventually([&] { return status().valid_through_ms > idle_ms; }, "time that goes on without commits");
  EXPECT_EQ(status().commits, 0);

  const int64_t produced_ms = runtime::SystemClock().NowMs();
  Produce(20);
  Eventually([&] { return status().rows_decoded == 20 && status().lag_records == 20; }, "lag that is read");
  for (const auto& [partition, age_ms] : status().lag_age_ms) EXPECT_GE(age_ms, 0);
  runtime::SystemClock().SleepMs(4'500);  // two more looks at the ends
  EXPECT_EQ(status().lag_records, 20);
  EXPECT_GT(status().lag_age_ms.at(Partition(0)), 0);
  EXPECT_LE(status().valid_through_ms, produced_ms) << "what came later is read and not committed";
  EXPECT_EQ(Stop(*process).end, PipelineEnd::kDone);
  ExpectAllOnce();
}

TEST_F(PipelineTest, RecordsWaitForASchemaThatIsAwayAndAStopDoesNot) {
  Produce(50);
  schemas_are_away_ = true;
  auto process = Start();
  const auto is_degraded = [&] { return process->pipeline->status().state == PipelineState::kDegraded; };
  Eventually(is_degraded, "DEGRADED");
  EXPECT_NE(process->pipeline->status().reason.find("waiting for schema 7"), std::string::npos);
  EXPECT_EQ(Stop(*process).end, PipelineEnd::kDone);
  EXPECT_TRUE(Column("id").empty());

  process = Start();
  Eventually([&] { return process->pipeline->status().state == PipelineState::kDegraded; }, "DEGRADED again");
  schemas_are_away_ = false;
  Eventually([&] { return Column("id").size() == 50; }, "the records that waited");
  EXPECT_EQ(Stop(*process).end, PipelineEnd::kDone);
  ExpectAllOnce();
}

TEST_F(PipelineTest, ASourceThatIsAwayAtTheStartIsWaitedForAndAStopDoesNot) {
  for (const bool inferred : {false, true}) {
    if (inferred) config_.tables.front().columns.clear();
    Produce(50);
    brokers_are_away_ = true;
    auto process = Start();
    const auto waits = [&] {
      const PipelineStatus status = process->pipeline->status();
      return status.state == PipelineState::kDegraded &&
             status.reason.starts_with("waiting to begin: no broker answers");
    };
    Eventually(waits, "DEGRADED");
    EXPECT_EQ(Stop(*process).end, PipelineEnd::kDone);

    process = Start();
    Eventually(waits, "DEGRADED again");
    brokers_are_away_ = false;
    Eventually([&] { return process->pipeline->status().rows_committed == 50; }, "the records");
    EXPECT_EQ(process->pipeline->status().reason, "");
    EXPECT_EQ(Stop(*process).end, PipelineEnd::kDone);
    ExpectAllOnce();
  }
}

TEST_F(PipelineTest, AStoreThatFailsWhileRowsAreWrittenEndsTheRunAndTheNextOneBringsThemOnce) {
  Produce(400);
  store_->FailNext(store::StoreOp::kCreate, ".parquet", Error(ErrorKind::kUnavailable, "the store is away"));
  auto result = CatchUp();
  EXPECT_EQ(result.end, PipelineEnd::kFailed) << "rows may be in a writer: the records are not decoded again";
  EXPECT_NE(result.message.find("the store is away"), std::string::npos) << result.message;
  EXPECT_EQ(CatchUp().end, PipelineEnd::kDone);
  ExpectAllOnce();
}

TEST_F(PipelineTest, TheStoreIsNotAskedForTheMetadataFileWithEveryCommit) {
  std::atomic<int> asked = 0;
  store_->SetHook([&](store::StoreOp op, store::FaultTime, const std::string& location) -> Status {
    if (op == store::StoreOp::kHead && location.ends_with(".metadata.json")) ++asked;
    return Ok();
  });
  auto process = Start();
  for (int k = 1; k <= 4; ++k) {
    Produce(50);
    Eventually([&] { return process->pipeline->status().rows_committed >= 50 * k; }, "the next batch");
  }
  EXPECT_EQ(Stop(*process).end, PipelineEnd::kDone);
  EXPECT_GE(Snapshots(), 4);
  EXPECT_LE(asked, 2) << "before and after the request, once";
  store_->SetHook(nullptr);
}

}  // namespace
}  // namespace firn::pipeline
