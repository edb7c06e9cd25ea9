// Scenarios of pipelines of many tables behind one source.
#include <mutex>

#include "firn/commit/protocol/shared_read.h"
#include "pipeline_fixture.h"

namespace firn::pipeline {
namespace {

class ManyTablesTest : public PipelineTest {
 protected:
  ManyTablesTest() {
    config_.dead_letters.table = {"lake", {"shop"}, "letters"};
    config_.dead_letters.fail_above_min_records = 1'000'000;
    ByField();
  }

  static TableConfig Rule(const std::string& name) {
    TableConfig rule;
    rule.name = {"lake", {"shop"}, name};
    rule.columns = {{.name = "id", .type = "long"}, {.name = "kind", .type = "string"}};
    return rule;
  }
  /// One rule: the field `kind` names the table.
  void ByField() { config_.tables = {Rule("{kind}")}; }

  /// Records of this kind, spread over the partitions of one topic: every partition holds records of all
  /// tables.
  void ProduceKind(const std::string& kind, int count) {
    for (int i = 0; i < count; ++i) {
      log_->Append(Partition(static_cast<int32_t>(next_id_ % kPartitions)),
                   fmt::format(R"({{"id":{},"kind":"{}"}})", next_id_, kind));
      expected_[kind].push_back(next_id_++);
    }
  }
  /// Mixed: a, b and c in turn.
  void ProduceMixed(int count) {
    for (int i = 0; i < count; ++i) ProduceKind(std::string(1, static_cast<char>('a' + i % 3)), 1);
  }

  /// Table b, of which another engine made its one column `id` text.
  void MakeTableThatContradicts() {
    iceberg::NewTable other;
    other.schema = std::make_shared<iceberg::Schema>(
        0, std::vector<iceberg::NestedField>{
               {.id = 1, .name = "id", .type = iceberg::Type::Primitive(iceberg::TypeId::kString)}});
    other.uuid = ids_.Uuid();
    ASSERT_TRUE(catalog_->CreateNamespace({"shop"}, {}).ok());
    ASSERT_TRUE(catalog_->CreateTable({{"shop"}, "b"}, other).ok());
  }

  std::vector<int64_t> Ids(const std::string& table) {
    if (!catalog_->LoadTable({{"shop"}, table}).ok()) return {};
    std::vector<int64_t> ids = Column("id", table);
    std::ranges::sort(ids);
    return ids;
  }
  void ExpectEachOnce() {
    for (const auto& [kind, ids] : expected_) EXPECT_EQ(Ids(kind), ids) << "table " << kind;
  }

  commit::Complete Control() {
    const auto table = Table("letters");
    const auto property = table.metadata->properties.find(commit::CompleteKey(config_.id));
    EXPECT_NE(property, table.metadata->properties.end());
    auto complete = commit::DecodeComplete(property->second);
    EXPECT_TRUE(complete.ok());
    return *complete;
  }

  std::map<std::string, std::vector<int64_t>> expected_;
};

TEST_F(ManyTablesTest, TopicsGoToTheirTablesAndASecondRunReadsNothing) {
  config_.tables = {Rule("{topic:1}")};
  config_.tables[0].match.topic = "shop\\.(.*)";
  for (const char* topic : {"shop.a", "shop.b", "shop.c"}) {
    for (int32_t i = 0; i < 2; ++i) log_->AddPartition({topic, i});
  }
  for (int i = 0; i < 300; ++i) {
    const std::string kind(1, static_cast<char>('a' + i % 3));
    log_->Append({"shop." + kind, i % 2}, fmt::format(R"({{"id":{}}})", next_id_));
    expected_[kind].push_back(next_id_++);
  }
  log_->Append(Partition(0), R"({"id":-1})");
  auto result = CatchUp();
  EXPECT_EQ(result.end, PipelineEnd::kDone) << result.message;
  ExpectEachOnce();
  EXPECT_EQ(Column("offset", "letters").size(), 1U) << "no rule takes the topic events";
  auto again = Start({.until_caught_up = true});
  EXPECT_EQ(Wait(*again).end, PipelineEnd::kDone);
  EXPECT_EQ(again->pipeline->status().input_bytes, 0) << "the lower bound is where the first run ended";
  EXPECT_EQ(again->pipeline->status().commits, 0);
  EXPECT_EQ(Control().tables.size(), 3U);
}

TEST_F(ManyTablesTest, RecordsOfOnePartitionGoToTheirTablesByAField) {
  ProduceMixed(1000);
  log_->Append(Partition(1), R"({"id":-1})");
  log_->Append(Partition(1), "not json");
  auto result = CatchUp();
  EXPECT_EQ(result.end, PipelineEnd::kDone) << result.message;
  ExpectEachOnce();
  EXPECT_EQ(Column("offset", "letters").size(), 2U);
  ProduceMixed(100);
  EXPECT_EQ(CatchUp().end, PipelineEnd::kDone);
  ExpectEachOnce();
}

TEST_F(ManyTablesTest, CommitsWhileItRunsAndTablesAppearOnTheWay) {
  ProduceMixed(100);
  auto process = Start();
  Eventually([&] { return process->pipeline->status().rows_committed >= 100; }, "the first rows");
  ProduceKind("d", 50);
  ProduceMixed(100);
  Eventually([&] { return process->pipeline->status().rows_committed >= 250; }, "more rows");
  const auto status = process->pipeline->status();
  EXPECT_EQ(status.tables.size(), 4U);
  for (const auto& [name, table] : status.tables) EXPECT_EQ(table.state, PipelineState::kRunning) << name;
  EXPECT_EQ(Stop(*process).end, PipelineEnd::kDone);
  ExpectEachOnce();
}

TEST_F(ManyTablesTest, ACrashBetweenTheCommitsOfTwoTablesLosesAndDoublesNothing) {
  for (int k = 1; k <= 14; ++k) {
    ProduceMixed(90);
    if (k % 4 == 0)
      ProduceKind(fmt::format("new{}", k), 7);  // a table that the dead process may have made or not
    auto process = Start();
    std::atomic<int> commits{0};
    catalog_->BeforeCommit([&commits, k, raw = process.get()] {
      if (++commits >= k % 3 + 1) raw->abort.request_stop();
    });
    Wait(*process);
    catalog_->BeforeCommit({});
  }
  auto result = CatchUp();
  EXPECT_EQ(result.end, PipelineEnd::kDone) << result.message;
  ExpectEachOnce();
}

TEST_F(ManyTablesTest, ConflictsAndLostAnswersLoseAndDoubleNothing) {
  using catalog::CommitFault;
  catalog_->FailNextCommits({CommitFault::kNone, CommitFault::kConflict, CommitFault::kAnswerLost,
                             CommitFault::kRequestLost, CommitFault::kNone, CommitFault::kAnswerLost});
  config_.commit.max_records = 50;
  ProduceMixed(1000);
  auto result = CatchUp();
  EXPECT_EQ(result.end, PipelineEnd::kDone) << result.message;
  ExpectEachOnce();
}

TEST_F(ManyTablesTest, AStopWhileTheCatalogIsAwayWaitsForItWithinItsLimit) {
  ProduceMixed(30);
  EXPECT_EQ(CatchUp().end, PipelineEnd::kDone);
  for (const bool comes_back : {true, false}) {
    ProduceMixed(30);
    auto process = Start({.shutdown_timeout_ms = 2'000});
    Eventually([&] { return process->pipeline->status().rows_committed == 30; }, "the rows of this life");
    catalog_->FailNextLoads(comes_back ? 2 : 1'000'000);
    const PipelineResult result = Stop(*process);
    EXPECT_EQ(result.end, comes_back ? PipelineEnd::kDone : PipelineEnd::kInterrupted) << result.message;
    if (!comes_back) {
      EXPECT_NE(result.message.find("all records are committed"), std::string::npos) << result.message;
    }
    catalog_->FailNextLoads(0);
  }
  EXPECT_EQ(CatchUp().end, PipelineEnd::kDone);
  ExpectEachOnce();
}

TEST_F(ManyTablesTest, AStopWhileTheCatalogIsAwayIsCleanWhereNothingIsLeftToDo) {
  ProduceMixed(30);
  EXPECT_EQ(CatchUp().end, PipelineEnd::kDone);
  auto process = Start({.shutdown_timeout_ms = 2'000});
  Eventually([&] { return process->pipeline->status().lag_records == 0; }, "a run with nothing to read");
  catalog_->FailNextLoads(1'000'000);
  EXPECT_EQ(Stop(*process).end, PipelineEnd::kDone);
}

TEST_F(ManyTablesTest, AnIdleTableDoesNotMakeTheNextRunReadFromTheStart) {
  ProduceKind("idle", 10);
  EXPECT_EQ(CatchUp().end, PipelineEnd::kDone);
  ProduceKind("busy", 2000);
  EXPECT_EQ(CatchUp().end, PipelineEnd::kDone);
  ProduceKind("busy", 4);
  auto process = Start({.until_caught_up = true});
  EXPECT_EQ(Wait(*process).end, PipelineEnd::kDone);
  EXPECT_LT(process->pipeline->status().input_bytes, 500) << "four records are read";
  ProduceKind("idle", 10);
  EXPECT_EQ(CatchUp().end, PipelineEnd::kDone);
  ExpectEachOnce();
}

TEST_F(ManyTablesTest, ATableThatContradictsFailsAloneAndCatchesUpWhenItIsMended) {
  MakeTableThatContradicts();
  ProduceMixed(300);
  auto process = Start({.until_caught_up = true});
  auto failed = Wait(*process);
  EXPECT_EQ(failed.end, PipelineEnd::kFailed) << failed.message;
  EXPECT_NE(failed.message.find("lake.shop.b"), std::string::npos) << failed.message;
  EXPECT_EQ(process->pipeline->status().tables.at("lake.shop.b").state, PipelineState::kFailed);
  EXPECT_EQ(Ids("a"), expected_["a"]);
  EXPECT_EQ(Ids("c"), expected_["c"]);
  EXPECT_EQ(Control().behind.count("lake.shop.b"), 1U);

  ProduceMixed(300);
  EXPECT_EQ(CatchUp().end, PipelineEnd::kFailed) << "it is as before";
  EXPECT_EQ(Ids("a"), expected_["a"]);

  ASSERT_TRUE(catalog_->DropTable({{"shop"}, "b"}, false).ok());
  ProduceMixed(300);
  auto result = CatchUp();
  EXPECT_EQ(result.end, PipelineEnd::kDone) << result.message;
  ExpectEachOnce();
  EXPECT_TRUE(Control().behind.empty());
  ProduceMixed(30);
  EXPECT_EQ(CatchUp().end, PipelineEnd::kDone);
  ExpectEachOnce();
}

TEST_F(ManyTablesTest, WhatOneTableLacksIsNotValidHoweverFarTheOthersAre) {
  MakeTableThatContradicts();
  ProduceMixed(30);
  auto process = Start();
  Eventually([&] { return process->pipeline->status().rows_committed == 20; }, "rows of the other tables");
  runtime::SystemClock().SleepMs(4'500);  // two looks at the ends of the log
  ProduceKind("a", 5);
  Eventually([&] { return process->pipeline->status().rows_committed == 25; }, "more of them");
  EXPECT_EQ(process->pipeline->status().valid_through_ms, 0);
  EXPECT_EQ(process->pipeline->status().state, PipelineState::kDegraded);
  EXPECT_EQ(Stop(*process).end, PipelineEnd::kFailed);

  ASSERT_TRUE(catalog_->DropTable({{"shop"}, "b"}, /*purge=*/false).ok());
  process = Start();
  Eventually([&] { return process->pipeline->status().valid_through_ms > 0; }, "all tables");
  EXPECT_EQ(Stop(*process).end, PipelineEnd::kDone);
  ExpectEachOnce();
}

TEST_F(ManyTablesTest, ATableCatchesUpWhileTheOthersGoOn) {
  MakeTableThatContradicts();
  ProduceMixed(3000);
  EXPECT_EQ(CatchUp().end, PipelineEnd::kFailed);
  ASSERT_TRUE(catalog_->DropTable({{"shop"}, "b"}, false).ok());
  auto process = Start();
  for (int i = 0; i < 40; ++i) {
    ProduceMixed(30);
    runtime::SystemClock().SleepMs(10);
  }
  const auto all =
      static_cast<int64_t>(expected_["a"].size() + expected_["b"].size() + expected_["c"].size());
  Eventually([&] { return std::ssize(Ids("a")) + std::ssize(Ids("b")) + std::ssize(Ids("c")) >= all; },
             "all rows");
  Eventually(
      [&] { return process->pipeline->status().tables.at("lake.shop.b").state == PipelineState::kRunning; },
      "the table is well");
  EXPECT_EQ(Stop(*process).end, PipelineEnd::kDone);
  EXPECT_EQ(CatchUp().end, PipelineEnd::kDone);
  ExpectEachOnce();
  EXPECT_TRUE(Control().behind.empty());
}

TEST_F(ManyTablesTest, ATableDroppedUnderUsFailsAloneAndNeedsAWord) {
  ProduceMixed(300);
  auto process = Start();
  Eventually([&] { return process->pipeline->status().rows_committed >= 300; }, "the first rows");
  ASSERT_TRUE(catalog_->DropTable({{"shop"}, "b"}, false).ok());
  const size_t before = expected_["b"].size();
  ProduceMixed(300);
  Eventually(
      [&] { return process->pipeline->status().tables.at("lake.shop.b").state == PipelineState::kFailed; },
      "the table fails");
  ProduceMixed(300);
  Eventually([&] { return Ids("a") == expected_["a"] && Ids("c") == expected_["c"]; }, "the others go on");
  EXPECT_NE(Stop(*process).end, PipelineEnd::kDone);
  auto stopped = CatchUp();
  EXPECT_EQ(stopped.end, PipelineEnd::kDataStop) << stopped.message;
  auto result = CatchUp({.first_run = true});
  EXPECT_EQ(result.end, PipelineEnd::kDone) << result.message;
  expected_["b"].erase(expected_["b"].begin(), expected_["b"].begin() + static_cast<std::ptrdiff_t>(before));
  ExpectEachOnce();
}

TEST_F(ManyTablesTest, FailFastEndsTheRunWithTheFirstTable) {
  config_.tables[0].create = false;
  ProduceMixed(30);
  auto result = CatchUp({.fail_fast = true});
  EXPECT_EQ(result.end, PipelineEnd::kUserError) << result.message;
  EXPECT_NE(result.message.find("create: true"), std::string::npos) << result.message;
}

TEST_F(ManyTablesTest, LettersOfTablesThatShareAPartitionDoNotHideEachOther) {
  ProduceKind("b", 4);
  log_->Append(Partition(0), R"({"id":"bad","kind":"a"})");
  log_->Append(Partition(0), R"({"id":"bad","kind":"b"})");
  log_->Append(Partition(0), R"({"id":"bad","kind":"a"})");
  log_->Append(Partition(0), "not json");
  EXPECT_EQ(CatchUp().end, PipelineEnd::kDone);
  EXPECT_EQ(Column("offset", "letters").size(), 4U);
  EXPECT_EQ(CatchUp().end, PipelineEnd::kDone);
  EXPECT_EQ(Column("offset", "letters").size(), 4U);
}

TEST_F(ManyTablesTest, MoreTablesThanAllowedAreDeadLetters) {
  config_.tables[0].max_tables = 2;
  ProduceKind("a", 4);
  ProduceKind("b", 4);
  EXPECT_EQ(CatchUp().end, PipelineEnd::kDone);
  ProduceKind("c", 4);
  ProduceKind("a", 4);
  EXPECT_EQ(CatchUp().end, PipelineEnd::kDone);
  expected_.erase("c");
  ExpectEachOnce();
  EXPECT_EQ(Column("offset", "letters").size(), 4U);
}

TEST_F(ManyTablesTest, EachTableHasASchemaOfItsOwn) {
  config_.tables[0].columns.clear();
  ProduceMixed(300);
  for (int i = 0; i < 20; ++i) {
    log_->Append(Partition(2), fmt::format(R"({{"id":{},"kind":"b","amount":{}}})", next_id_, i));
    expected_["b"].push_back(next_id_++);
  }
  ProduceMixed(300);
  auto result = CatchUp();
  EXPECT_EQ(result.end, PipelineEnd::kDone) << result.message;
  ExpectEachOnce();
  EXPECT_NE(Table("b").metadata->schema()->FindByName("amount"), nullptr);
  EXPECT_EQ(Table("a").metadata->schema()->FindByName("amount"), nullptr);
}

TEST_F(ManyTablesTest, RevokedPartitionsAreHandedOverWithoutLossOrRepeat) {
  ProduceMixed(400);
  auto first = Start();
  Eventually([&] { return first->pipeline->status().rows_decoded >= 400; }, "the first process reads");
  auto second = Start();
  Eventually([&] { return second->source != nullptr && !second->source.load()->held().empty(); },
             "the second one is assigned");
  first->source.load()->Push(source::PartitionsRevoked{{Partition(2), Partition(3)}, false});
  second->source.load()->Push(source::PartitionsRevoked{{Partition(0), Partition(1)}, false});
  Eventually(
      [&] { return first->source.load()->held().size() == 2 && second->source.load()->held().size() == 2; },
      "the hand-over");
  ProduceMixed(400);
  Eventually([&] { return Ids("a").size() + Ids("b").size() + Ids("c").size() >= 800; }, "all rows");
  EXPECT_EQ(Stop(*first).end, PipelineEnd::kDone);
  EXPECT_EQ(Stop(*second).end, PipelineEnd::kDone);
  EXPECT_EQ(CatchUp().end, PipelineEnd::kDone);
  ExpectEachOnce();
}

TEST_F(ManyTablesTest, LostPartitionsAreDiscardedAndReadByTheirOwner) {
  config_.commit.interval_ms = 60'000;
  ProduceMixed(400);
  auto process = Start();
  Eventually([&] { return process->pipeline->status().rows_decoded >= 400; },
             "rows are filled, not committed");
  process->source.load()->Push(source::PartitionsRevoked{{Partition(3)}, true});
  Eventually([&] { return process->source.load()->held().size() == 3; }, "the partition is released");
  EXPECT_EQ(Stop(*process).end, PipelineEnd::kDone);
  EXPECT_EQ(CatchUp().end, PipelineEnd::kDone);
  ExpectEachOnce();
}

TEST_F(ManyTablesTest, ALostControlTableStopsUntilFirstRunIsAllowedAndThenNothingIsDoubled) {
  ProduceMixed(300);
  EXPECT_EQ(CatchUp().end, PipelineEnd::kDone);
  ASSERT_TRUE(catalog_->DropTable({{"shop"}, "letters"}, false).ok());
  ProduceMixed(300);
  auto stopped = CatchUp();
  EXPECT_EQ(stopped.end, PipelineEnd::kDataStop) << stopped.message;
  EXPECT_NE(stopped.message.find("letters"), std::string::npos) << stopped.message;
  EXPECT_EQ(CatchUp({.first_run = true}).end, PipelineEnd::kDone);
  ExpectEachOnce();
}

}  // namespace
}  // namespace firn::pipeline
