#include "firn/commit/committer.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "firn/catalog/memory/memory_catalog.h"
#include "firn/commit/protocol/progress.h"
#include "firn/runtime/manual_clock.h"
#include "firn/runtime/seeded_ids.h"
#include "firn/store/memory/memory_store.h"

namespace firn::commit {
namespace {

using catalog::CommitFault;
using iceberg::NestedField;
using iceberg::Type;
using iceberg::TypeId;
using iceberg::TypePtr;

const record::SourcePartition kP0{"flights", 0};
const record::SourcePartition kP1{"flights", 1};
const record::SourceIdentity kLog{"cluster", "topic"};

class CommitterTest : public ::testing::Test {
 protected:
  CommitterTest() {
    catalog_ = std::make_shared<catalog::MemoryCatalog>("lake", "memory://lake", store_, clock_);
    EXPECT_TRUE(catalog_->CreateNamespace({"travel"}, {}).ok());
    CreateTable(2);
  }

  void CreateTable(int format_version, iceberg::Properties properties = {}) {
    iceberg::NewTable table;
    table.uuid = ids_.Uuid();
    table.schema = std::make_shared<iceberg::Schema>(
        0, std::vector<NestedField>{{.id = 1, .name = "a", .type = Type::Primitive(TypeId::kLong)}});
    table.format_version = format_version;
    table.properties = std::move(properties);
    auto created = catalog_->CreateTable(table_, table);
    ASSERT_TRUE(created.ok()) << created.error().ToString();
  }

  Committer Make(const std::string& pipeline = "p") {
    CommitterConfig config;
    config.table = table_;
    config.pipeline_id = pipeline;
    return {catalog_, config, clock_, ids_};
  }

  /// A batch [from, to) of partition 0 with one file that exists in the store.
  TableBatch Batch(int64_t from, int64_t to, const record::SourcePartition& partition = kP0) {
    TableBatch batch;
    batch.ranges[partition] = {from, to, kLog, record::Fingerprint{to - 1, 5, 7}};
    iceberg::DataFile file;
    file.file_path = "memory://lake/travel/flights/data/" + ids_.Uuid() + ".parquet";
    file.record_count = to - from;
    file.file_size_bytes = 100;
    EXPECT_TRUE(store_->WriteAll(file.file_path, "rows", store::IfExists::kFail).ok());
    batch.files.push_back(file);
    return batch;
  }

  std::shared_ptr<const iceberg::TableMetadata> Table() {
    auto loaded = catalog_->LoadTable(table_);
    EXPECT_TRUE(loaded.ok());
    return loaded->metadata;
  }
  Progress CurrentProgress(const std::string& pipeline = "p") {
    auto progress = FindProgress(*Table(), pipeline, "main");
    EXPECT_TRUE(progress.ok() && progress->has_value());
    return **progress;
  }
  bool Exists(const std::string& location) {
    const auto all = store_->Locations();
    return std::ranges::find(all, location) != all.end();
  }
  /// Live data files of the head, each path once.
  std::vector<std::string> LivePaths() {
    std::vector<std::string> paths;
    const auto table = Table();
    const iceberg::Snapshot* head = table->current_snapshot();
    if (head == nullptr) return paths;
    auto manifests = iceberg::ReadManifestList(*store_, *head);
    EXPECT_TRUE(manifests.ok()) << manifests.error().ToString();
    for (const auto& manifest : *manifests) {
      auto entries = iceberg::ReadManifest(*store_, manifest, *table);
      EXPECT_TRUE(entries.ok()) << entries.error().ToString();
      for (const auto& entry : *entries) {
        if (entry.live()) paths.push_back(entry.file.file_path);
      }
    }
    std::ranges::sort(paths);
    EXPECT_EQ(std::ranges::adjacent_find(paths), paths.end()) << "a file is referenced twice";
    return paths;
  }

  runtime::ManualClock clock_;
  runtime::SeededIds ids_{42};
  std::shared_ptr<store::MemoryStore> store_ = std::make_shared<store::MemoryStore>();
  std::shared_ptr<catalog::MemoryCatalog> catalog_;
  iceberg::TableIdentifier table_{{"travel"}, "flights"};
};

template <typename T>
T Expect(CommitOutcome outcome) {
  if (auto* rejected = std::get_if<Rejected>(&outcome); rejected != nullptr && !std::is_same_v<T, Rejected>) {
    ADD_FAILURE() << "rejected: " << rejected->error.ToString();
  }
  EXPECT_TRUE(std::holds_alternative<T>(outcome)) << "outcome " << outcome.index();
  return std::get<T>(std::move(outcome));
}

TEST_F(CommitterTest, ABatchBringsRowsAndPositionsInOneSnapshot) {
  const TableBatch batch = Batch(0, 10);
  const auto done = Expect<Committed>(Make().CommitBatch(batch, {}));
  EXPECT_EQ(done.tries, 1);
  EXPECT_EQ(done.epoch, 1);
  const auto table = Table();
  const iceberg::Snapshot* head = table->current_snapshot();
  ASSERT_NE(head, nullptr);
  EXPECT_EQ(head->snapshot_id, done.snapshot_id);
  EXPECT_EQ(head->operation, "append");
  EXPECT_EQ(head->summary.at(kSummaryPipeline), "p");
  EXPECT_EQ(head->summary.at(kSummaryEpoch), "1");
  EXPECT_EQ(head->summary.at("total-records"), "10");
  const Progress progress = CurrentProgress();
  EXPECT_EQ(progress.snapshot_id, done.snapshot_id);
  EXPECT_EQ(progress.sequence_number, head->sequence_number);
  EXPECT_EQ(progress.commit_id, head->summary.at(kSummaryCommitId));
  EXPECT_EQ(progress.positions.at(kP0).next, 10);
  EXPECT_EQ(progress.positions.at(kP0).last->offset, 9);
  EXPECT_EQ(LivePaths(), std::vector<std::string>{batch.files[0].file_path});
}

TEST_F(CommitterTest, PositionsOfOtherPartitionsAreKept) {
  Committer committer = Make();
  Expect<Committed>(committer.CommitBatch(Batch(0, 10), {}));
  Expect<Committed>(committer.CommitBatch(Batch(100, 110, kP1), {}));
  EXPECT_EQ(CurrentProgress().positions.at(kP0).next, 10);
  EXPECT_EQ(CurrentProgress().positions.at(kP1).next, 110);
}

TEST_F(CommitterTest, ABatchThatDoesNotJoinIsRefusedAndItsFilesRemoved) {
  Committer committer = Make();
  Expect<Committed>(committer.CommitBatch(Batch(0, 10), {}));
  for (const int64_t from : {5, 11}) {
    const TableBatch stale = Batch(from, 20);
    const auto rejected = Expect<Rejected>(committer.CommitBatch(stale, {}));
    ASSERT_TRUE(rejected.fence);
    EXPECT_EQ(rejected.fence->table_at, 10);
    EXPECT_FALSE(Exists(stale.files[0].file_path));
  }
  EXPECT_EQ(LivePaths().size(), 1U);
}

TEST_F(CommitterTest, AZombieFindsOutAtItsNextCommit) {
  Committer zombie = Make();
  Committer successor = Make();
  const TableBatch of_zombie = Batch(0, 10);
  const TableBatch of_successor = Batch(0, 7);
  Expect<Committed>(successor.CommitBatch(of_successor, {}));
  EXPECT_TRUE(Expect<Rejected>(zombie.CommitBatch(of_zombie, {})).fence);
  EXPECT_EQ(LivePaths(), std::vector<std::string>{of_successor.files[0].file_path});
}

TEST_F(CommitterTest, RetriesAfterConflictKeepTheFilesAndLeaveNoLists) {
  catalog_->FailNextCommits({CommitFault::kConflict, CommitFault::kConflict});
  const TableBatch batch = Batch(0, 10);
  EXPECT_EQ(Expect<Committed>(Make().CommitBatch(batch, {})).tries, 3);
  EXPECT_EQ(LivePaths(), std::vector<std::string>{batch.files[0].file_path});
  const auto all = store_->Locations();
  EXPECT_EQ(std::ranges::count_if(
                all, [](const std::string& path) { return path.find("/snap-") != std::string::npos; }),
            1)
      << "lists of lost tries are removed";
}

TEST_F(CommitterTest, ARaceWithAnotherWriterIsRebuiltOnItsSnapshot) {
  Committer other = Make("other");
  int round = 0;
  const TableBatch of_other = Batch(0, 3, {"payments", 0});
  catalog_->BeforeCommit([&] {
    if (round++ == 0) {
      catalog_->BeforeCommit({});
      Expect<Committed>(other.CommitBatch(of_other, {}));
    }
  });
  const auto done = Expect<Committed>(Make().CommitBatch(Batch(0, 10), {}));
  EXPECT_EQ(done.tries, 2);
  EXPECT_EQ(LivePaths().size(), 2U);
  EXPECT_EQ(CurrentProgress("other").positions.at({"payments", 0}).next, 3);
  EXPECT_EQ(Table()->current_snapshot()->sequence_number, 2);
  EXPECT_EQ(Table()->current_snapshot()->summary.at("total-records"), "13");
}

TEST_F(CommitterTest, ABaseThatWasExpiredWhileItWasReadIsALostRace) {
  Committer committer = Make();
  Committer other = Make("other");
  Expect<Committed>(committer.CommitBatch(Batch(0, 10), {}));
  const std::string list = Table()->current_snapshot()->manifest_list;
  const TableBatch batch = Batch(10, 20);
  const TableBatch of_other = Batch(0, 3, {"payments", 0});
  store_->SetHook([&](store::StoreOp op, store::FaultTime time, const std::string& location) {
    if (op != store::StoreOp::kOpen || time != store::FaultTime::kBefore || location != list) return Ok();
    store_->SetHook({});
    Expect<Committed>(other.CommitBatch(of_other, {}));
    return store_->Delete(list);
  });
  EXPECT_EQ(Expect<Committed>(committer.CommitBatch(batch, {})).tries, 2);
  EXPECT_EQ(LivePaths().size(), 3U);
}

TEST_F(CommitterTest, FilesThatAreMissingUnderTheHeadEndTheBatch) {
  Committer committer = Make();
  Expect<Committed>(committer.CommitBatch(Batch(0, 10), {}));
  ASSERT_TRUE(store_->Delete(Table()->current_snapshot()->manifest_list).ok());
  const TableBatch batch = Batch(10, 20);
  EXPECT_EQ(Expect<Rejected>(committer.CommitBatch(batch, {})).error.kind(), ErrorKind::kNotFound);
  EXPECT_FALSE(Exists(batch.files[0].file_path));
}

TEST_F(CommitterTest, ALostAnswerIsFoundInTheHistoryNotCommittedTwice) {
  catalog_->FailNextCommits({CommitFault::kAnswerLost});
  const TableBatch batch = Batch(0, 10);
  Expect<AlreadyCommitted>(Make().CommitBatch(batch, {}));
  EXPECT_EQ(LivePaths(), std::vector<std::string>{batch.files[0].file_path});
  EXPECT_TRUE(Exists(batch.files[0].file_path));
  EXPECT_EQ(Table()->snapshots.size(), 1U);
}

TEST_F(CommitterTest, ALostAnswerIsFoundBehindOthersCommits) {
  Committer committer = Make();
  Committer other = Make("other");
  catalog_->FailNextCommits({CommitFault::kAnswerLost});
  catalog_->FailNextLoads(0);
  const TableBatch batch = Batch(0, 10);
  int round = 0;
  catalog_->BeforeCommit([&] {
    // After ours was applied in secret and before we look: the next commit of the test is the other
    // pipeline's.
    ++round;
  });
  const auto outcome = committer.CommitBatch(batch, {});
  EXPECT_TRUE(std::holds_alternative<AlreadyCommitted>(outcome));
  Expect<Committed>(other.CommitBatch(Batch(0, 3, {"payments", 0}), {}));
  EXPECT_TRUE(std::holds_alternative<AlreadyCommitted>(committer.CommitBatch(batch, {})))
      << "the same batch again";
  EXPECT_EQ(round, 2);
}

TEST_F(CommitterTest, ALostRequestIsSentAgain) {
  catalog_->FailNextCommits({CommitFault::kRequestLost});
  const TableBatch batch = Batch(0, 10);
  EXPECT_EQ(Expect<Committed>(Make().CommitBatch(batch, {})).tries, 2);
  EXPECT_EQ(LivePaths(), std::vector<std::string>{batch.files[0].file_path});
}

TEST_F(CommitterTest, ALateRequestCannotLandBesideItsRepetition) {
  catalog_->FailNextCommits({CommitFault::kRequestDelayed});
  const TableBatch batch = Batch(0, 10);
  Expect<Committed>(Make().CommitBatch(batch, {}));
  EXPECT_EQ(catalog_->DeliverDelayed(), 0) << "its pinned parent is gone";
  EXPECT_EQ(LivePaths(), std::vector<std::string>{batch.files[0].file_path});
}

TEST_F(CommitterTest, ALateRequestThatLandsFirstIsRecognised) {
  catalog_->FailNextCommits({CommitFault::kRequestDelayed});
  const TableBatch batch = Batch(0, 10);
  int round = 0;
  catalog_->BeforeCommit([&] {
    if (++round == 2) {
      EXPECT_EQ(catalog_->DeliverDelayed(), 1);
    }
  });
  Expect<AlreadyCommitted>(Make().CommitBatch(batch, {}));
  EXPECT_EQ(LivePaths(), std::vector<std::string>{batch.files[0].file_path});
}

TEST_F(CommitterTest, UnknownThatStaysUnknownKeepsEveryFileAndNamesThem) {
  std::vector<CommitFault> faults(1000, CommitFault::kRequestLost);
  catalog_->FailNextCommits(faults);
  const TableBatch batch = Batch(0, 10);
  const auto unknown = Expect<UnknownOutcome>(Make().CommitBatch(batch, {}));
  EXPECT_NE(std::ranges::find(unknown.files, batch.files[0].file_path), unknown.files.end());
  for (const std::string& file : unknown.files) EXPECT_TRUE(Exists(file)) << file;
  const Error stop = StopOnUnknown(unknown);
  EXPECT_EQ(stop.kind(), ErrorKind::kDataLoss) << "exit code 3";
  for (const std::string& file : unknown.files)
    EXPECT_NE(stop.message().find(file), std::string::npos) << file;
}

TEST_F(CommitterTest, ARefusalRemovesTheFiles) {
  catalog_->FailNextCommits({CommitFault::kRejected});
  const TableBatch batch = Batch(0, 10);
  const auto rejected = Expect<Rejected>(Make().CommitBatch(batch, {}));
  EXPECT_EQ(rejected.error.kind(), ErrorKind::kPermissionDenied);
  EXPECT_TRUE(store_->Locations().empty());
}

TEST_F(CommitterTest, ConflictsWithoutEndGiveUpAndRemoveTheFiles) {
  catalog_->FailNextCommits(std::vector<CommitFault>(10'000, CommitFault::kConflict));
  const TableBatch batch = Batch(0, 10);
  Expect<ConflictExhausted>(Make().CommitBatch(batch, {}));
  EXPECT_TRUE(store_->Locations().empty());
}

TEST_F(CommitterTest, ARefusalOfASecondCopyIsRecognisedAsOurOwnCommit) {
  catalog_->FailNextCommits({CommitFault::kEcho});
  const TableBatch batch = Batch(0, 10);
  Expect<AlreadyCommitted>(Make().CommitBatch(batch, {}));
  EXPECT_EQ(LivePaths(), std::vector<std::string>{batch.files[0].file_path});
}

TEST_F(CommitterTest, ARefusalOfASecondCopyAsTheLastAnswerRemovesNoFile) {
  CommitterConfig config;
  config.table = table_;
  config.pipeline_id = "p";
  config.retry_limit_ms = 0;
  catalog_->FailNextCommits({CommitFault::kEcho});
  const TableBatch batch = Batch(0, 10);
  Expect<AlreadyCommitted>(Committer(catalog_, config, clock_, ids_).CommitBatch(batch, {}));
  EXPECT_EQ(LivePaths(), std::vector<std::string>{batch.files[0].file_path});
}

TEST_F(CommitterTest, ARefusalThatWasNotTheCatalogsIsRecognisedAsOurOwnCommit) {
  catalog_->FailNextCommits({CommitFault::kBlocked});
  const TableBatch batch = Batch(0, 10);
  Expect<AlreadyCommitted>(Make().CommitBatch(batch, {}));
  EXPECT_EQ(LivePaths(), std::vector<std::string>{batch.files[0].file_path});
  EXPECT_TRUE(Exists(batch.files[0].file_path));
}

TEST_F(CommitterTest, ARefusalThatWasNotTheCatalogsRemovesNoFileWhereNobodyCanLook) {
  catalog_->FailNextCommits({CommitFault::kBlocked});
  catalog_->BeforeCommit([&] { catalog_->FailNextLoads(1); });
  const TableBatch batch = Batch(0, 10);
  Expect<Rejected>(Make().CommitBatch(batch, {}));
  EXPECT_EQ(LivePaths(), std::vector<std::string>{batch.files[0].file_path});
  EXPECT_TRUE(Exists(batch.files[0].file_path));
}

TEST_F(CommitterTest, AnUnreachableCatalogIsWaitedFor) {
  catalog_->FailNextLoads(5);
  Expect<Committed>(Make().CommitBatch(Batch(0, 10), {}));
  EXPECT_GT(clock_.elapsed_ms(), 0);
}

TEST_F(CommitterTest, ATableReplacedInBetweenIsRefused) {
  catalog_->FailNextCommits({CommitFault::kConflict});
  int round = 0;
  catalog_->BeforeCommit([&] {
    if (round++ > 0) return;
    ASSERT_TRUE(catalog_->DropTable(table_, false).ok());
    CreateTable(2);
  });
  EXPECT_EQ(Expect<Rejected>(Make().CommitBatch(Batch(0, 10), {})).error.kind(), ErrorKind::kDataLoss);
}

TEST_F(CommitterTest, RowsThatDoNotFitTheTableAsItWasAlteredMeanwhileAreRefusedAndTheirFilesRemoved) {
  const iceberg::SchemaPtr before = Table()->schema();
  const auto alter = [&](std::vector<NestedField> fields) {
    const auto base = catalog_->LoadTable(table_);
    iceberg::TableCommit commit{*base, {}, {}, ""};
    commit.updates = {iceberg::update::AddSchema{std::make_shared<iceberg::Schema>(0, std::move(fields))},
                      iceberg::update::SetCurrentSchema{-1}};
    ASSERT_TRUE(std::holds_alternative<iceberg::CommitDone>(catalog_->CommitTable(commit)));
  };
  const TypePtr type = Type::Primitive(TypeId::kLong);
  alter({{.id = 1, .name = "b", .type = type}, {.id = 2, .name = "added", .type = type}});
  TableBatch batch = Batch(0, 10);
  batch.schemas = {before};
  Expect<Committed>(Make().CommitBatch(batch, {}));  // renamed and added: ids tell

  // In the middle of our try, so that it is its second look that notices.
  catalog_->BeforeCommit([&] {
    catalog_->BeforeCommit({});
    alter({{.id = 3, .name = "a", .type = type}});
  });
  batch = Batch(10, 20);
  batch.schemas = {before};
  const auto rejected = Expect<Rejected>(Make().CommitBatch(batch, {}));
  EXPECT_TRUE(rejected.altered);
  EXPECT_FALSE(rejected.fence);
  EXPECT_EQ(rejected.error.message(), "column 'a' is another one of the same name now");
  EXPECT_FALSE(Exists(batch.files[0].file_path));
  EXPECT_EQ(CurrentProgress().positions.at(kP0).next, 10);
}

TEST_F(CommitterTest, FilesOfASpecThatWasRemovedMeanwhileAreRefused) {
  TableBatch batch = Batch(0, 10);
  batch.files[0].spec_id = 7;
  const auto rejected = Expect<Rejected>(Make().CommitBatch(batch, {}));
  EXPECT_TRUE(rejected.altered) << "read again, under the specs that there are";
  EXPECT_FALSE(Exists(batch.files[0].file_path));
}

TEST_F(CommitterTest, AStopWhileCommittingLeavesTheFilesAsACrashWould) {
  std::stop_source abort;
  abort.request_stop();
  const TableBatch batch = Batch(0, 10);
  const auto unknown = Expect<UnknownOutcome>(Make().CommitBatch(batch, abort.get_token()));
  EXPECT_EQ(unknown.error.kind(), ErrorKind::kCancelled);
  EXPECT_EQ(StopOnUnknown(unknown).kind(), ErrorKind::kCancelled);
  EXPECT_TRUE(Exists(batch.files[0].file_path));
}

TEST_F(CommitterTest, TheMarkerPinsStartsOnlyWhereTheTableHasNone) {
  Committer committer = Make();
  const record::Positions first{{kP0, {5, kLog, std::nullopt}}};
  EXPECT_EQ(Expect<Committed>(committer.CommitStart(first, {})).epoch, 0);
  EXPECT_EQ(Table()->snapshots.size(), 1U);
  record::Positions more = first;
  more[kP0].next = 99;
  more[kP1] = {7, kLog, std::nullopt};
  Expect<Committed>(committer.CommitStart(more, {}));
  EXPECT_EQ(CurrentProgress().positions.at(kP0).next, 5);
  EXPECT_EQ(CurrentProgress().positions.at(kP1).next, 7);
  Expect<AlreadyCommitted>(committer.CommitStart(more, {}));
  EXPECT_EQ(Table()->snapshots.size(), 2U);
}

TEST_F(CommitterTest, AnotherWorkersMarkerIsNotTakenForOurOwn) {
  catalog_->FailNextCommits({CommitFault::kNone, CommitFault::kRequestLost});
  catalog_->BeforeCommit([&] {
    catalog_->BeforeCommit({});
    Expect<Committed>(Make().CommitStart({{kP1, {7, kLog, std::nullopt}}}, {}));
  });
  Expect<Committed>(Make().CommitStart({{kP0, {5, kLog, std::nullopt}}}, {}));
  EXPECT_EQ(CurrentProgress().positions.at(kP0).next, 5);
  EXPECT_EQ(CurrentProgress().positions.at(kP1).next, 7);
}

TEST_F(CommitterTest, AMarkerWhoseAnswerIsLostIsCommittedOnce) {
  catalog_->FailNextCommits({CommitFault::kAnswerLost});
  Expect<AlreadyCommitted>(Make().CommitStart({{kP0, {5, kLog, std::nullopt}}}, {}));
  EXPECT_EQ(Table()->snapshots.size(), 1U);
  EXPECT_EQ(CurrentProgress().positions.at(kP0).next, 5);
}

TEST_F(CommitterTest, ValidThroughIsTheNewestObservationThatThePositionsReach) {
  TableBatch batch = Batch(0, 10);
  batch.observed = {
      {1'700'000'000'000, {{kP0, 8}}}, {1'700'000'001'000, {{kP0, 10}}}, {1'700'000'002'000, {{kP0, 11}}}};
  EXPECT_EQ(Expect<Committed>(Make().CommitBatch(batch, {})).valid_through_ms, 1'700'000'001'000);
  EXPECT_EQ(Table()->current_snapshot()->summary.at(kSummaryValidThrough), "2023-11-14T22:13:21.000Z");
  TableBatch behind = Batch(10, 11);
  behind.observed = {{1'700'000'003'000, {{kP0, 12}}}};
  Expect<Committed>(Make().CommitBatch(behind, {}));
  EXPECT_FALSE(Table()->current_snapshot()->summary.contains(kSummaryValidThrough));
}

TEST_F(CommitterTest, ExpiresByTheTablesPropertiesOnlyWhereFirnCreatedIt) {
  for (const bool created : {false, true}) {
    table_.name = created ? "ours" : "theirs";
    iceberg::Properties properties{{"history.expire.max-snapshot-age-ms", "1000"}};
    if (created) properties[kCreatedByFirn] = "true";
    CreateTable(2, properties);
    Committer committer = Make();
    for (int64_t i = 0; i < 5; ++i) {
      clock_.Advance(10'000);
      Expect<Committed>(committer.CommitBatch(Batch(i, i + 1), {}));
    }
    EXPECT_EQ(Table()->snapshots.size(), created ? 2U : 5U);
    EXPECT_EQ(LivePaths().size(), 5U) << "metadata only: rows stay";
  }
}

TEST_F(CommitterTest, RowIdsAreReassignedOnEveryTry) {
  table_.name = "v3";
  CreateTable(3);
  catalog_->FailNextCommits({CommitFault::kConflict});
  Expect<Committed>(Make().CommitBatch(Batch(0, 10), {}));
  Expect<Committed>(Make().CommitBatch(Batch(10, 15), {}));
  const auto table = Table();
  EXPECT_EQ(table->next_row_id, 15);
  EXPECT_EQ(table->current_snapshot()->first_row_id, 10);
  EXPECT_EQ(table->current_snapshot()->added_rows, 5);
}

TEST_F(CommitterTest, TimeNeverRunsBackwardsInTheTable) {
  Committer committer = Make();
  Expect<Committed>(committer.CommitBatch(Batch(0, 10), {}));
  const int64_t before = Table()->last_updated_ms;
  clock_.SetWall(before - 3'600'000);
  Expect<Committed>(committer.CommitBatch(Batch(10, 20), {}));
  EXPECT_GE(Table()->last_updated_ms, before);
  EXPECT_GE(Table()->current_snapshot()->timestamp_ms, before);
}

TEST_F(CommitterTest, AChangeThatIsLostIsPlannedAgainAndDoneOnce) {
  catalog_->FailNextCommits({CommitFault::kConflict, CommitFault::kAnswerLost});
  int plans = 0;
  auto changed = Make().Change(
      [&](const iceberg::TableMetadata& table) -> Result<std::vector<iceberg::Update>> {
        ++plans;
        if (table.properties.contains("k")) return std::vector<iceberg::Update>{};
        return std::vector<iceberg::Update>{iceberg::update::SetProperties{{{"k", "v"}}}};
      },
      {});
  ASSERT_TRUE(changed.ok()) << changed.error().ToString();
  EXPECT_EQ(plans, 3);
  EXPECT_EQ(Table()->properties.at("k"), "v");
}

PositionsOrder OrderFor(const iceberg::TableMetadata& table, record::Positions positions) {
  PositionsOrder order;
  order.table_uuid = table.table_uuid;
  if (const iceberg::Snapshot* head = table.Head("main")) order.head = head->snapshot_id;
  order.progress = table.Property(ProgressKey("p", "main"), "");
  order.positions = std::move(positions);
  order.mark = "offsets set";
  return order;
}

TEST_F(CommitterTest, AnOrderMovesPositionsBackwardsWithTheOperatorsMark) {
  Committer committer = Make();
  Expect<Committed>(committer.CommitBatch(Batch(0, 10), {}));
  Expect<Committed>(committer.CommitBatch(Batch(100, 110, kP1), {}));
  record::Positions positions = CurrentProgress().positions;
  positions.at(kP0) = {4, kLog, record::Fingerprint{3, 5, 7}};
  const auto done = Expect<Committed>(committer.CommitOrder(OrderFor(*Table(), positions), {}));
  EXPECT_EQ(CurrentProgress().positions, positions);
  EXPECT_EQ(CurrentProgress().epoch, 3);
  const iceberg::Snapshot* head = Table()->current_snapshot();
  EXPECT_EQ(head->snapshot_id, done.snapshot_id);
  EXPECT_EQ(head->summary.at(kSummaryOperator), "offsets set");
  EXPECT_EQ(head->summary.at("total-records"), "20");
  const auto map = DecodeWholeMap(head->summary.at(kSummaryRanges));
  ASSERT_TRUE(map.ok() && map->has_value());
  EXPECT_EQ((*map)->at(kP0).next, 4);
  EXPECT_EQ((*map)->at(kP1).next, 110);
}

TEST_F(CommitterTest, AfterAnOrderTheSameRangesAreANewBatchAndAZombieIsRefused) {
  Committer committer = Make();
  Expect<Committed>(committer.CommitBatch(Batch(0, 10), {}));
  Expect<Committed>(committer.CommitOrder(OrderFor(*Table(), {{kP0, {0, kLog, std::nullopt}}}), {}));
  EXPECT_TRUE(Expect<Rejected>(committer.CommitBatch(Batch(10, 20), {})).fence);
  catalog_->FailNextCommits({CommitFault::kRequestLost});
  Expect<Committed>(committer.CommitBatch(Batch(0, 10), {}));
  EXPECT_EQ(LivePaths().size(), 2U);
}

TEST_F(CommitterTest, AnOrderHoldsOnlyForTheStateItWasComputedFrom) {
  Committer committer = Make();
  Expect<Committed>(committer.CommitBatch(Batch(0, 10), {}));
  const PositionsOrder order = OrderFor(*Table(), {{kP0, {0, kLog, std::nullopt}}});
  Expect<Committed>(committer.CommitBatch(Batch(10, 20), {}));
  const auto rejected = Expect<Rejected>(committer.CommitOrder(order, {}));
  EXPECT_EQ(rejected.error.kind(), ErrorKind::kConflict);
  EXPECT_EQ(CurrentProgress().positions.at(kP0).next, 20);
}

TEST_F(CommitterTest, AnOrderThatLosesItsRaceIsNotRepeated) {
  Committer committer = Make();
  Committer other = Make("other");
  Expect<Committed>(committer.CommitBatch(Batch(0, 10), {}));
  const PositionsOrder order = OrderFor(*Table(), {{kP0, {0, kLog, std::nullopt}}});
  int calls = 0;
  catalog_->BeforeCommit([&] {
    if (calls++ == 0) Expect<Committed>(other.CommitBatch(Batch(0, 5, kP1), {}));
  });
  EXPECT_EQ(Expect<Rejected>(committer.CommitOrder(order, {})).error.kind(), ErrorKind::kConflict);
  EXPECT_EQ(CurrentProgress().positions.at(kP0).next, 10);
}

TEST_F(CommitterTest, AnOrderWhoseAnswerIsLostIsFoundAgain) {
  Committer committer = Make();
  Expect<Committed>(committer.CommitBatch(Batch(0, 10), {}));
  catalog_->FailNextCommits({CommitFault::kAnswerLost});
  Expect<AlreadyCommitted>(committer.CommitOrder(OrderFor(*Table(), {{kP0, {2, kLog, std::nullopt}}}), {}));
  EXPECT_EQ(CurrentProgress().positions.at(kP0).next, 2);
  EXPECT_EQ(CurrentProgress().epoch, 2);
}

}  // namespace
}  // namespace firn::commit
