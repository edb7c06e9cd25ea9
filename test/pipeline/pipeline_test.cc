// Whole pipelines over in-memory broker, catalog and store: real lanes, decoder, writer, committer and
// control thread.
#include "firn/pipeline/pipeline.h"

#include <arrow/api.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <future>
#include <set>

#include "firn/catalog/memory/memory_catalog.h"
#include "firn/commit/protocol/progress.h"
#include "firn/decode/json/infer_schema.h"
#include "firn/decode/json/json_decoder.h"
#include "firn/iceberg/scan/table_scan.h"
#include "firn/obs/metrics.h"
#include "firn/runtime/seeded_ids.h"
#include "firn/source/memory/memory_source.h"
#include "firn/store/memory/memory_store.h"
#include "firn/write/dead_letter_rows.h"

namespace firn::pipeline {
namespace {

using catalog::CommitFault;
using record::SourcePartition;

constexpr int kPartitions = 4;
constexpr auto kPatience = std::chrono::seconds(60);

SourcePartition Partition(int32_t index) { return {"events", index}; }

/// Cannot decode while the schemas of the records are not to be had.
class WaitingDecoder final : public decode::Decoder {
 public:
  WaitingDecoder(std::unique_ptr<decode::Decoder> inner, const std::atomic<bool>* away)
      : inner_(std::move(inner)), away_(away) {}
  Result<decode::DecodeResult> Decode(const record::RawBatch& raw, size_t begin) override {
    if (*away_) return Error(ErrorKind::kUnavailable, "waiting for schema 7");
    return inner_->Decode(raw, begin);
  }
  const iceberg::SchemaPtr& schema() const override { return inner_->schema(); }

 private:
  std::unique_ptr<decode::Decoder> inner_;
  const std::atomic<bool>* away_;
};

class PipelineTest : public ::testing::Test {
 protected:
  PipelineTest() {
    for (int32_t i = 0; i < kPartitions; ++i) log_->AddPartition(Partition(i));
    config_.key = config_.id = "p";
    config_.table.name = {"lake", {"shop"}, "events"};
    config_.table.columns = {{.name = "id", .type = "long"},
                             {.name = "part", .type = "int", .from = "partition"}};
    config_.table.partition_by = {"part"};
    config_.commit.interval_ms = 20;
    config_.dead_letters.table = {"lake", {"shop"}, "events_dead_letters"};
  }

  /// Appends `count` records with new ids, spread over the partitions.
  void Produce(int count) {
    for (int i = 0; i < count; ++i) {
      const auto partition = static_cast<int32_t>(next_id_ % kPartitions);
      log_->Append(Partition(partition), fmt::format(R"({{"id":{},"partition":{}}})", next_id_, partition));
      ++next_id_;
    }
  }

  struct Process {
    std::unique_ptr<Pipeline> pipeline;
    std::atomic<source::MemorySource*> source = nullptr;  // set by the thread of the run
    std::stop_source stop;
    std::stop_source abort;
    std::future<PipelineResult> result;
  };

  /// Starts a process of the pipeline (a thread); ends it with Stop or Wait.
  std::unique_ptr<Process> Start(RunOptions options = {}) {
    auto process = std::make_unique<Process>();
    PipelineDeps deps;
    deps.catalog = deps.dead_letter_catalog = catalog_;
    deps.make_source = [this, raw = process.get()](int lanes) -> Result<std::unique_ptr<source::Source>> {
      auto source = std::make_unique<source::MemorySource>(log_, lanes);
      raw->source = source.get();
      return std::unique_ptr<source::Source>(std::move(source));
    };
    deps.make_decoder = [this](const decode::BoundSchema& bound) -> Result<std::unique_ptr<decode::Decoder>> {
      FIRN_ASSIGN(auto decoder, decode::MakeJsonDecoder(bound));
      return std::unique_ptr<decode::Decoder>(
          std::make_unique<WaitingDecoder>(std::move(decoder), &schemas_are_away_));
    };
    deps.infer_schema = [](const std::vector<record::RawBatch>& sample) {
      return decode::InferJsonSchema(sample);
    };
    deps.lanes = 2;
    deps.clock = &runtime::SystemClock();
    deps.ids = &ids_;
    deps.memory = &memory_;
    deps.metrics = &metrics_;
    process->pipeline = MakePipeline(config_, std::move(deps));
    process->result = std::async(std::launch::async, [raw = process.get(), options] {
      return raw->pipeline->Run(options, raw->stop.get_token(), raw->abort.get_token());
    });
    return process;
  }

  static PipelineResult Wait(Process& process) {
    if (process.result.wait_for(kPatience) != std::future_status::ready) {
      ADD_FAILURE() << "the pipeline does not end";
      process.abort.request_stop();
    }
    return process.result.get();
  }
  static PipelineResult Stop(Process& process) {
    process.stop.request_stop();
    return Wait(process);
  }

  PipelineResult CatchUp(RunOptions options = {}) {
    options.until_caught_up = true;
    return Wait(*Start(options));
  }

  static void Eventually(const std::function<bool()>& condition, const char* what) {
    const auto end = std::chrono::steady_clock::now() + kPatience;
    while (!condition()) {
      ASSERT_LT(std::chrono::steady_clock::now(), end) << "waited in vain for: " << what;
      runtime::SystemClock().SleepMs(2);
    }
  }

  iceberg::LoadedTable Table(const std::string& name = "events") {
    auto loaded = catalog_->LoadTable({{"shop"}, name});
    EXPECT_TRUE(loaded.ok()) << loaded.error().ToString();
    return *loaded;
  }
  size_t Snapshots() { return Table().metadata->snapshots.size(); }

  std::vector<int64_t> Column(const std::string& column, const std::string& table_name = "events") {
    const auto table = Table(table_name);
    iceberg::ScanOptions options;
    options.columns = {column};
    auto scan = iceberg::TableScan::Make(table.metadata, table.store, options);
    EXPECT_TRUE(scan.ok()) << scan.error().ToString();
    auto stream = scan->Read();
    EXPECT_TRUE(stream.ok()) << stream.error().ToString();
    std::vector<int64_t> values;
    for (;;) {
      auto batch = (*stream)->Next();
      EXPECT_TRUE(batch.ok()) << batch.error().ToString();
      if (!batch.ok() || *batch == nullptr) break;
      for (int64_t i = 0; i < (*batch)->num_rows(); ++i) {
        auto scalar = (*batch)->column(0)->GetScalar(i).ValueOrDie();
        values.push_back(scalar->is_valid ? Value(*scalar) : -1);
      }
    }
    return values;
  }
  static int64_t Value(const arrow::Scalar& scalar) {
    if (scalar.type->id() == arrow::Type::INT32) return static_cast<const arrow::Int32Scalar&>(scalar).value;
    if (scalar.type->id() == arrow::Type::INT64) return static_cast<const arrow::Int64Scalar&>(scalar).value;
    return static_cast<int64_t>(scalar.ToString().size());
  }

  /// Every id below next_id_ but `except`, once each.
  void ExpectAllOnce(const std::set<int64_t>& except = {}) {
    std::vector<int64_t> expected;
    for (int64_t id = 0; id < next_id_; ++id) {
      if (!except.contains(id)) expected.push_back(id);
    }
    std::vector<int64_t> ids = Column("id");
    std::ranges::sort(ids);
    EXPECT_EQ(ids, expected);
  }

  runtime::SeededIds ids_{7};
  runtime::MemoryBudget memory_{int64_t{1} << 30};
  obs::Metrics metrics_;
  PipelineConfig config_;
  std::shared_ptr<source::MemoryLog> log_ = std::make_shared<source::MemoryLog>();
  std::shared_ptr<store::MemoryStore> store_ = std::make_shared<store::MemoryStore>();
  std::shared_ptr<catalog::MemoryCatalog> catalog_ =
      std::make_shared<catalog::MemoryCatalog>("lake", "memory://lake", store_, runtime::SystemClock());
  int64_t next_id_ = 0;
  std::atomic<bool> schemas_are_away_ = false;
};

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
  config_.table.schema_evolution = decode::Evolution::kAddAndWiden;
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
  config_.table.columns.clear();
  config_.table.partition_by = {"partition"};
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
  config_.table.create = false;
  auto result = CatchUp();
  EXPECT_EQ(result.end, PipelineEnd::kUserError);
  EXPECT_NE(result.message.find("create: true"), std::string::npos) << result.message;
}

TEST_F(PipelineTest, ColumnsThatContradictTheTableAreAllNamed) {
  Produce(4);
  EXPECT_EQ(CatchUp().end, PipelineEnd::kDone);
  config_.table.columns = {{.name = "id", .type = "string"}, {.name = "missing", .type = "int"}};
  config_.table.partition_by.clear();
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

}  // namespace
}  // namespace firn::pipeline
