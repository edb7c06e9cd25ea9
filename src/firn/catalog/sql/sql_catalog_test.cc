#include "firn/catalog/sql/sql_catalog.h"

#include <atomic>
#include <filesystem>
#include <set>
#include <thread>

#include <gtest/gtest.h>

#include "firn/catalog/sql/database_fixture.h"
#include "firn/iceberg/meta/append.h"
#include "firn/runtime/fault_point.h"
#include "firn/runtime/manual_clock.h"
#include "firn/runtime/seeded_ids.h"
#include "firn/store/local/local_store.h"
#include "firn/store/memory/memory_store.h"

namespace firn::catalog::sql {
namespace {

namespace fs = std::filesystem;
using iceberg::CatalogCommitResult;
using iceberg::CommitConflict;
using iceberg::CommitDone;
using iceberg::CommitRejected;
using iceberg::CommitUnknown;
using iceberg::LoadedTable;
using iceberg::Properties;
using iceberg::TableCommit;
using iceberg::TableIdentifier;

class SqlCatalogTest : public ::testing::TestWithParam<DatabaseKind> {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "firn-sql-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
    config_.name = "lake";
    database_ = std::make_unique<TestDatabase>(GetParam(), folder_);
    if (!database_->ready()) {
      ASSERT_TRUE(test::PostgresFromEnvironment().set) << test::kPostgresMissing;
      GTEST_SKIP() << "FIRN_TEST_POSTGRES=none";
    }
    config_.database = database_->options();
    config_.warehouse = "memory://warehouse";
    config_.busy_timeout_ms = 50;
  }
  void TearDown() override {
    ASSERT_TRUE(runtime::ArmFaults("").ok());
    database_.reset();
    fs::remove_all(folder_);
  }

  std::unique_ptr<SqlCatalog> Open() {
    auto catalog =
        SqlCatalog::Open(config_, {std::make_shared<store::SingleStoreResolver>(store_), &clock_, &ids_});
    EXPECT_TRUE(catalog.ok()) << catalog.error().ToString();
    return *std::move(catalog);
  }

  std::unique_ptr<SqlCatalog> OpenWithTable(Properties properties = {}) {
    auto catalog = Open();
    EXPECT_TRUE(catalog->CreateNamespace({"travel"}, {}).ok());
    auto created = catalog->CreateTable(kTable, Definition(std::move(properties)));
    EXPECT_TRUE(created.ok()) << created.error().ToString();
    return catalog;
  }

  static iceberg::NewTable Definition(Properties properties = {}) {
    iceberg::NewTable table;
    iceberg::NestedField column;
    column.id = 1;
    column.name = "n";
    column.type = iceberg::Type::Primitive(iceberg::TypeId::kInt);
    table.schema = std::make_shared<iceberg::Schema>(0, std::vector<iceberg::NestedField>{column});
    table.properties = std::move(properties);
    return table;
  }

  static TableCommit SetProperty(const LoadedTable& base, const std::string& key, const std::string& value) {
    return {base,
            {iceberg::requirement::TableUuid{base.metadata->table_uuid}},
            {iceberg::update::SetProperties{{{key, value}}}},
            ""};
  }

  LoadedTable Commit(SqlCatalog& catalog, const std::string& key, const std::string& value) {
    auto result = catalog.CommitTable(SetProperty(catalog.LoadTable(kTable).value(), key, value));
    EXPECT_TRUE(std::holds_alternative<CommitDone>(result));
    return std::get<CommitDone>(std::move(result)).table;
  }

  std::unique_ptr<db::Session> Database() { return database_->Session(); }

  const TableIdentifier kTable{{"travel"}, "flights"};
  std::string folder_;
  std::unique_ptr<TestDatabase> database_;
  SqlCatalogConfig config_;
  runtime::ManualClock clock_;
  runtime::SeededIds ids_{7};
  std::shared_ptr<store::MemoryStore> store_ = std::make_shared<store::MemoryStore>();
};

INSTANTIATE_TEST_SUITE_P(Databases, SqlCatalogTest,
                         ::testing::Values(DatabaseKind::kSqlite, DatabaseKind::kPostgres), NameOf);

class SqliteCatalogTest : public SqlCatalogTest {};
INSTANTIATE_TEST_SUITE_P(Databases, SqliteCatalogTest, ::testing::Values(DatabaseKind::kSqlite), NameOf);

class PostgresCatalogTest : public SqlCatalogTest {};
INSTANTIATE_TEST_SUITE_P(Databases, PostgresCatalogTest, ::testing::Values(DatabaseKind::kPostgres), NameOf);

TEST_P(SqlCatalogTest, CreatesLoadsAndListsTables) {
  auto catalog = OpenWithTable();
  auto loaded = catalog->LoadTable(kTable).value();
  EXPECT_EQ(loaded.metadata->location, "memory://warehouse/travel/flights");
  EXPECT_TRUE(loaded.metadata_location.starts_with("memory://warehouse/travel/flights/metadata/00000-"));
  EXPECT_EQ(catalog->ListTables({"travel"}).value(), std::vector<TableIdentifier>{kTable});
  EXPECT_EQ(catalog->CreateTable(kTable, Definition()).error().kind(), ErrorKind::kAlreadyExists);
  EXPECT_EQ(store_->Locations().size(), 1U) << "the second creation removes its metadata file";
  EXPECT_EQ(catalog->LoadTable({{"travel"}, "none"}).error().kind(), ErrorKind::kNotFound);
}

TEST_P(SqlCatalogTest, NewDatabaseHasLayoutV1AndTypedRows) {
  auto catalog = OpenWithTable();
  auto rows = Database()
                  ->Query(
                      "SELECT catalog_name, table_namespace, table_name, previous_metadata_location, "
                      "iceberg_type FROM iceberg_tables",
                      {})
                  .value();
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].text(0), "lake");
  EXPECT_EQ(rows[0].text(1), "travel");
  EXPECT_EQ(rows[0].text(2), "flights");
  EXPECT_TRUE(rows[0].is_null(3));
  EXPECT_EQ(rows[0].text(4), "TABLE");
}

TEST_P(SqlCatalogTest, NamespacesFollowRowsOfTablesAndProperties) {
  auto catalog = Open();
  EXPECT_EQ(catalog->CreateTable(kTable, Definition()).error().kind(), ErrorKind::kNotFound);
  ASSERT_TRUE(catalog->CreateNamespace({"a", "b"}, {{"owner", "me"}}).ok());
  ASSERT_TRUE(catalog->CreateNamespace({"c"}, {}).ok());
  EXPECT_EQ(catalog->CreateNamespace({"c"}, {}).error().kind(), ErrorKind::kAlreadyExists);
  EXPECT_TRUE(catalog->NamespaceExists({"a"}).value());
  EXPECT_TRUE(catalog->NamespaceExists({"a", "b"}).value());
  EXPECT_FALSE(catalog->NamespaceExists({"a", "x"}).value());
  EXPECT_EQ(catalog->ListNamespaces({}).value(), (std::vector<iceberg::Namespace>{{"a"}, {"c"}}));
  EXPECT_EQ(catalog->ListNamespaces({"a"}).value(), (std::vector<iceberg::Namespace>{{"a", "b"}}));
  EXPECT_EQ(catalog->ListNamespaces({"zzz"}).error().kind(), ErrorKind::kNotFound);
  EXPECT_EQ(catalog->ListTables({"zzz"}).error().kind(), ErrorKind::kNotFound);
  EXPECT_EQ(catalog->CreateNamespace({}, {}).error().kind(), ErrorKind::kInvalidArgument);
  EXPECT_EQ(catalog->CreateNamespace({"a.b"}, {}).error().kind(), ErrorKind::kInvalidArgument);
}

TEST_P(SqlCatalogTest, NamespacePropertiesAreKeptAndChanged) {
  auto catalog = OpenWithTable();
  ASSERT_TRUE(catalog->CreateNamespace({"a"}, {{"owner", "me"}, {"x", "1"}}).ok());
  EXPECT_EQ(catalog->LoadNamespace({"a"}).value(), (Properties{{"owner", "me"}, {"x", "1"}}));
  ASSERT_TRUE(catalog->UpdateNamespace({"a"}, {"x", "never-set"}, {{"owner", "you"}, {"y", "2"}}).ok());
  EXPECT_EQ(catalog->LoadNamespace({"a"}).value(), (Properties{{"owner", "you"}, {"y", "2"}}));
  EXPECT_EQ(catalog->UpdateNamespace({"a"}, {"y"}, {{"y", "3"}}).error().kind(), ErrorKind::kInvalidArgument);
  EXPECT_EQ(catalog->LoadNamespace({"nowhere"}).error().kind(), ErrorKind::kNotFound);
  EXPECT_EQ(catalog->UpdateNamespace({"nowhere"}, {}, {}).error().kind(), ErrorKind::kNotFound);
  EXPECT_TRUE(catalog->LoadNamespace({"travel"})->empty());
}

TEST_P(SqlCatalogTest, NamespaceOfAnotherProgramStaysWhenItsLastPropertyGoes) {
  auto catalog = OpenWithTable();
  ASSERT_TRUE(
      Database()->Execute("INSERT INTO iceberg_namespace_properties VALUES ('lake', 'b', 'k', 'v')").ok());
  ASSERT_TRUE(catalog->UpdateNamespace({"b"}, {"k"}, {}).ok());
  EXPECT_TRUE(catalog->NamespaceExists({"b"}).value());
  EXPECT_TRUE(catalog->LoadNamespace({"b"})->empty());
}

TEST_P(SqlCatalogTest, OnlyAnEmptyNamespaceIsDropped) {
  auto catalog = OpenWithTable();
  EXPECT_EQ(catalog->DropNamespace({"travel"}).error().kind(), ErrorKind::kInvalidArgument);
  ASSERT_TRUE(catalog->CreateNamespace({"a", "b"}, {}).ok());
  EXPECT_EQ(catalog->DropNamespace({"a"}).error().kind(), ErrorKind::kInvalidArgument);
  EXPECT_TRUE(catalog->DropNamespace({"a", "b"}).ok());
  EXPECT_FALSE(catalog->NamespaceExists({"a"}).value()) << "only the one below it made it one";
  EXPECT_EQ(catalog->DropNamespace({"a", "b"}).error().kind(), ErrorKind::kNotFound);
  ASSERT_TRUE(catalog->DropTable(kTable, false).ok());
  EXPECT_TRUE(catalog->DropNamespace({"travel"}).ok());
}

TEST_P(SqlCatalogTest, RenameKeepsTheMetadataAndRefusesATakenName) {
  auto catalog = OpenWithTable();
  auto base = catalog->LoadTable(kTable).value();
  const TableIdentifier to{{"shop"}, "orders"};
  EXPECT_EQ(catalog->RenameTable(kTable, to).error().kind(), ErrorKind::kNotFound) << "no namespace shop";
  ASSERT_TRUE(catalog->CreateNamespace({"shop"}, {}).ok());
  ASSERT_TRUE(catalog->CreateTable({{"shop"}, "taken"}, Definition()).ok());
  EXPECT_EQ(catalog->RenameTable(kTable, {{"shop"}, "taken"}).error().kind(), ErrorKind::kAlreadyExists);
  EXPECT_EQ(catalog->RenameTable({{"travel"}, "none"}, to).error().kind(), ErrorKind::kNotFound);
  ASSERT_TRUE(catalog->RenameTable(kTable, to).ok());
  EXPECT_EQ(catalog->LoadTable(kTable).error().kind(), ErrorKind::kNotFound);
  EXPECT_EQ(catalog->LoadTable(to)->metadata_location, base.metadata_location);
  auto late = catalog->CommitTable(SetProperty(base, "k", "v"));
  EXPECT_TRUE(std::holds_alternative<CommitRejected>(late)) << "a commit to the old name finds nothing";
}

TEST_P(SqlCatalogTest, LocationOfTheNamespaceIsHonoured) {
  auto catalog = Open();
  ASSERT_TRUE(catalog->CreateNamespace({"travel"}, {{"location", "memory://elsewhere/t/"}}).ok());
  EXPECT_EQ(catalog->CreateTable(kTable, Definition()).value().metadata->location,
            "memory://elsewhere/t/flights");
}

TEST_P(SqlCatalogTest, FolderAsWarehouseGivesFileLocations) {
  config_.warehouse = "/srv/ware house/";
  auto catalog = Open();
  ASSERT_TRUE(catalog->CreateNamespace({"a", "b"}, {}).ok());
  EXPECT_EQ(catalog->CreateTable({{"a", "b"}, "t"}, Definition()).value().metadata->location,
            "file:///srv/ware house/a/b/t");
}

TEST_P(SqlCatalogTest, CatalogsOfOneDatabaseDoNotSeeEachOther) {
  auto lake = OpenWithTable();
  config_.name = "other";
  auto other = Open();
  EXPECT_FALSE(other->NamespaceExists({"travel"}).value());
  EXPECT_EQ(other->LoadTable(kTable).error().kind(), ErrorKind::kNotFound);
}

TEST_P(SqlCatalogTest, CommitSwapsThePointerAndLogsTheOldMetadata) {
  auto catalog = OpenWithTable();
  auto before = catalog->LoadTable(kTable).value();
  auto after = Commit(*catalog, "k", "v");
  EXPECT_EQ(after.metadata->properties.at("k"), "v");
  EXPECT_TRUE(after.metadata_location.find("/metadata/00001-") != std::string::npos)
      << after.metadata_location;
  EXPECT_EQ(after.metadata->metadata_log.back().metadata_file, before.metadata_location);
  EXPECT_EQ(catalog->LoadTable(kTable)->metadata_location, after.metadata_location);
  auto rows = Database()->Query("SELECT previous_metadata_location FROM iceberg_tables", {}).value();
  EXPECT_EQ(rows[0].text(0), before.metadata_location);
}

TEST_P(SqlCatalogTest, MetadataIsParsedOncePerFile) {
  auto catalog = OpenWithTable();
  auto reader = Open();
  ASSERT_TRUE(reader->LoadTable(kTable).ok());
  auto opened = store_->Count(store::StoreOp::kOpen);
  ASSERT_TRUE(reader->LoadTable(kTable).ok());
  EXPECT_EQ(store_->Count(store::StoreOp::kOpen), opened);
  Commit(*catalog, "k", "v");
  EXPECT_EQ(reader->LoadTable(kTable)->metadata->properties.at("k"), "v");
}

TEST_P(SqlCatalogTest, MovedBaseIsAConflictAndWritesNothing) {
  auto catalog = OpenWithTable();
  auto stale = catalog->LoadTable(kTable).value();
  Commit(*catalog, "k", "1");
  auto files = store_->Locations();
  auto result = catalog->CommitTable(SetProperty(stale, "k", "2"));
  ASSERT_TRUE(std::holds_alternative<CommitConflict>(result));
  EXPECT_EQ(store_->Locations(), files);
  EXPECT_EQ(catalog->LoadTable(kTable)->metadata->properties.at("k"), "1");
}

TEST_P(SqlCatalogTest, FailedRequirementIsAConflict) {
  auto catalog = OpenWithTable();
  auto commit = SetProperty(catalog->LoadTable(kTable).value(), "k", "v");
  commit.requirements = {iceberg::requirement::RefSnapshotId{"main", 5}};
  auto result = catalog->CommitTable(commit);
  ASSERT_TRUE(std::holds_alternative<CommitConflict>(result));
}

TEST_P(SqlCatalogTest, LostSwapDeletesItsOwnMetadataOnly) {
  auto catalog = OpenWithTable();
  auto other = Open();
  auto base = catalog->LoadTable(kTable).value();
  // The other commit comes in after our check of the base: while our metadata file is being written.
  std::atomic<bool> done{false};
  store_->SetHook([&](store::StoreOp op, store::FaultTime time, const std::string& location) -> Status {
    bool ours = op == store::StoreOp::kFinish && time == store::FaultTime::kAfter &&
                location.find("00001-") != std::string::npos;
    if (ours && !done.exchange(true)) Commit(*other, "k", "theirs");
    return Ok();
  });
  auto result = catalog->CommitTable(SetProperty(base, "k", "ours"));
  store_->SetHook(nullptr);
  ASSERT_TRUE(std::holds_alternative<CommitConflict>(result));
  EXPECT_EQ(store_->Locations().size(), 2U);
  EXPECT_EQ(catalog->LoadTable(kTable)->metadata->properties.at("k"), "theirs");
}

TEST_P(SqlCatalogTest, LockedDatabaseRejectsRetriablyAndLeavesNoFile) {
  auto catalog = OpenWithTable();
  auto base = catalog->LoadTable(kTable).value();
  auto holder = Database();
  auto lock = db::Transaction::Begin(*holder).value();
  ASSERT_TRUE(holder->Change("UPDATE iceberg_tables SET iceberg_type = iceberg_type", {}).ok());
  EXPECT_TRUE(catalog->LoadTable(kTable).ok()) << "reading does not wait for a writer";
  auto result = catalog->CommitTable(SetProperty(base, "k", "v"));
  ASSERT_TRUE(std::holds_alternative<CommitRejected>(result));
  const Error& error = std::get<CommitRejected>(result).error;
  EXPECT_EQ(error.kind(), ErrorKind::kUnavailable);
  EXPECT_EQ(error.retry(), RetryHint::kYes);
  EXPECT_NE(error.ToString().find(database_->place()), std::string::npos);
  EXPECT_EQ(store_->Locations().size(), 1U);
}

TEST_P(SqliteCatalogTest, VanishedDatabaseIsUnavailableNotEmpty) {
  auto catalog = OpenWithTable();
  auto base = catalog->LoadTable(kTable).value();
  const std::string file = folder_ + "/catalog.db";
  fs::remove(file);
  auto loaded = catalog->LoadTable(kTable);
  ASSERT_FALSE(loaded.ok());
  EXPECT_EQ(loaded.error().kind(), ErrorKind::kUnavailable);
  EXPECT_TRUE(std::holds_alternative<CommitRejected>(catalog->CommitTable(SetProperty(base, "k", "v"))));
  EXPECT_FALSE(fs::exists(file));
}

TEST_P(SqlCatalogTest, UnwritableWarehouseRejectsTheCommit) {
  auto catalog = OpenWithTable();
  auto base = catalog->LoadTable(kTable).value();
  store_->FailNext(store::StoreOp::kCreate, "metadata", Error(ErrorKind::kPermissionDenied, "read-only"));
  auto result = catalog->CommitTable(SetProperty(base, "k", "v"));
  ASSERT_TRUE(std::holds_alternative<CommitRejected>(result));
  EXPECT_EQ(std::get<CommitRejected>(result).error.kind(), ErrorKind::kPermissionDenied);
  store_->FailNext(store::StoreOp::kCreate, "metadata", Error(ErrorKind::kResourceExhausted, "disk full"));
  EXPECT_EQ(catalog->CreateTable({{"travel"}, "new"}, Definition()).error().kind(),
            ErrorKind::kResourceExhausted);
  EXPECT_EQ(catalog->LoadTable({{"travel"}, "new"}).error().kind(), ErrorKind::kNotFound);
}

#ifdef FIRN_FAULT_POINTS
TEST_P(SqlCatalogTest, LostAnswerIsUnknownAndDeletesNothing) {
  auto catalog = OpenWithTable();
  auto base = catalog->LoadTable(kTable).value();
  ASSERT_TRUE(runtime::ArmFaults("commit_after_stored:1:error").ok());
  auto result = catalog->CommitTable(SetProperty(base, "k", "v"));
  ASSERT_TRUE(std::holds_alternative<CommitUnknown>(result));
  EXPECT_EQ(std::get<CommitUnknown>(result).error.kind(), ErrorKind::kUnknownOutcome);
  EXPECT_EQ(catalog->LoadTable(kTable)->metadata->properties.at("k"), "v");
}

TEST_P(SqlCatalogTest, FaultBeforeTheSwapRemovesTheMetadataFile) {
  auto catalog = OpenWithTable();
  auto base = catalog->LoadTable(kTable).value();
  ASSERT_TRUE(runtime::ArmFaults("metadata_after_write:1:error").ok());
  EXPECT_TRUE(std::holds_alternative<CommitRejected>(catalog->CommitTable(SetProperty(base, "k", "v"))));
  EXPECT_EQ(store_->Locations().size(), 1U);
}
#endif

TEST_P(PostgresCatalogTest, ConnectionLostInTheSwapIsUnknownAndDeletesNothing) {
  config_.busy_timeout_ms = 30'000;
  auto catalog = OpenWithTable();
  auto base = catalog->LoadTable(kTable).value();
  auto holder = Database();
  auto lock = std::make_unique<db::Transaction>(db::Transaction::Begin(*holder).value());
  ASSERT_TRUE(holder->Change("UPDATE iceberg_tables SET iceberg_type = iceberg_type", {}).ok());
  CatalogCommitResult result = CommitRejected{Error(ErrorKind::kInternal, "not run")};
  std::thread committer([&] { result = catalog->CommitTable(SetProperty(base, "k", "v")); });
  int64_t ended = 0;
  for (int i = 0; i < 1000 && ended == 0; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    ended = std::ssize(holder
                           ->Query("WITH blocked AS MATERIALIZED (SELECT pid FROM pg_stat_activity WHERE "
                                   "pg_backend_pid() = ANY (pg_blocking_pids(pid))) "
                                   "SELECT pg_terminate_backend(pid) FROM blocked",
                                   {})
                           .value());
  }
  committer.join();
  lock.reset();
  EXPECT_EQ(ended, 1);
  ASSERT_TRUE(std::holds_alternative<CommitUnknown>(result));
  EXPECT_EQ(std::get<CommitUnknown>(result).error.kind(), ErrorKind::kUnknownOutcome);
  EXPECT_EQ(store_->Locations().size(), 2U) << "the new metadata file may be the table's";
  EXPECT_EQ(catalog->LoadTable(kTable)->metadata_location, base.metadata_location);
}

TEST_P(PostgresCatalogTest, ServerThatEndedIdleConnectionsIsNotNoticed) {
  auto catalog = OpenWithTable();
  auto base = catalog->LoadTable(kTable).value();
  auto admin = Database();
  ASSERT_FALSE(
      admin
          ->Query("SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE "
                  "application_name = current_setting('application_name') AND pid <> pg_backend_pid()",
                  {})
          ->empty());
  EXPECT_TRUE(std::holds_alternative<CommitDone>(catalog->CommitTable(SetProperty(base, "k", "v"))));
}

TEST_P(SqlCatalogTest, ExistingCatalogIsOpenedWithoutMakingOne) {
  const auto open = [&] {
    return SqlCatalog::OpenExisting(config_,
                                    {std::make_shared<store::SingleStoreResolver>(store_), &clock_, &ids_});
  };
  auto before = open();
  ASSERT_TRUE(before.ok()) << before.error().ToString();
  EXPECT_EQ((*before)->LoadTable(kTable).error().kind(), ErrorKind::kNotFound);
  EXPECT_EQ((*before)->ListNamespaces({}).error().kind(), ErrorKind::kNotFound);
  EXPECT_EQ((*before)->CreateNamespace({"a"}, {}).error().kind(), ErrorKind::kNotFound);
  EXPECT_FALSE(fs::exists(folder_ + "/catalog.db"));
  OpenWithTable();
  EXPECT_TRUE((*before)->LoadTable(kTable).ok()) << "it is there now";
  EXPECT_TRUE((*open())->LoadTable(kTable).ok());
}

TEST_P(SqlCatalogTest, ManyProcessesMakeTheCatalogAtOnce) {
  std::vector<std::thread> openers;
  config_.busy_timeout_ms = 10'000;
  for (int i = 0; i < 6; ++i) openers.emplace_back([&] { EXPECT_NE(Open(), nullptr); });
  for (auto& opener : openers) opener.join();
  EXPECT_EQ(Database()->ColumnsOf("iceberg_tables")->size(), 6U);
}

TEST_P(SqlCatalogTest, OldMetadataIsDeletedOnlyWhenTheTableSaysSo) {
  auto keeps = OpenWithTable({{"write.metadata.previous-versions-max", "2"}});
  for (int i = 0; i < 5; ++i) Commit(*keeps, "k", std::to_string(i));
  EXPECT_EQ(store_->Locations().size(), 6U);
  Commit(*keeps, "write.metadata.delete-after-commit.enabled", "true");
  Commit(*keeps, "k", "x");
  auto loaded = keeps->LoadTable(kTable).value();
  EXPECT_EQ(loaded.metadata->metadata_log.size(), 2U);
  EXPECT_EQ(store_->Locations().size(), 6U) << "two dropped with the property, two added";
  for (const auto& entry : loaded.metadata->metadata_log) EXPECT_TRUE(store_->Head(entry.metadata_file).ok());
}

TEST_P(SqlCatalogTest, GzipMetadataIsWrittenAndRead) {
  auto catalog = OpenWithTable({{"write.metadata.compression-codec", "gzip"}});
  auto after = Commit(*catalog, "k", "v");
  EXPECT_TRUE(after.metadata_location.ends_with(".gz.metadata.json"));
  EXPECT_TRUE(store_->ReadAll(after.metadata_location)->starts_with("\x1f\x8b"));
  EXPECT_EQ(Open()->LoadTable(kTable)->metadata->properties.at("k"), "v");
}

TEST_P(SqlCatalogTest, V0DatabaseIsUsedAsItIs) {
  ASSERT_TRUE(Database()
                  ->Execute("CREATE TABLE iceberg_tables (catalog_name VARCHAR(255) NOT NULL, "
                            "table_namespace VARCHAR(255) NOT NULL, "
                            "table_name VARCHAR(255) NOT NULL, metadata_location VARCHAR(1000), "
                            "previous_metadata_location VARCHAR(1000), "
                            "PRIMARY KEY (catalog_name, table_namespace, table_name));"
                            "CREATE TABLE iceberg_namespace_properties (catalog_name VARCHAR(255) NOT NULL, "
                            "namespace VARCHAR(255) NOT NULL, "
                            "property_key VARCHAR(255), property_value VARCHAR(1000), PRIMARY KEY "
                            "(catalog_name, namespace, property_key));")
                  .ok());
  auto catalog = OpenWithTable();
  Commit(*catalog, "k", "v");
  EXPECT_EQ(catalog->ListTables({"travel"})->size(), 1U);
  EXPECT_EQ(Database()->ColumnsOf("iceberg_tables")->size(), 5U);
}

TEST_P(SqlCatalogTest, ViewsOfOthersAreNotTables) {
  auto catalog = OpenWithTable();
  ASSERT_TRUE(
      Database()
          ->Execute("INSERT INTO iceberg_tables VALUES ('lake', 'travel', 'v', 'memory://v', NULL, 'VIEW'), "
                    "('lake', 'travel', 'untyped', 'memory://u', NULL, NULL)")
          .ok());
  EXPECT_EQ(catalog->ListTables({"travel"})->size(), 2U);
  EXPECT_EQ(catalog->LoadTable({{"travel"}, "v"}).error().kind(), ErrorKind::kNotFound);
  EXPECT_EQ(catalog->CreateTable({{"travel"}, "v"}, Definition()).error().kind(), ErrorKind::kAlreadyExists);
}

TEST_P(SqlCatalogTest, MissingMetadataFileIsNotAMissingTable) {
  auto catalog = OpenWithTable();
  ASSERT_TRUE(Database()->Execute("UPDATE iceberg_tables SET metadata_location = 'memory://gone'").ok());
  auto loaded = catalog->LoadTable(kTable);
  EXPECT_EQ(loaded.error().kind(), ErrorKind::kCorrupt);
  EXPECT_NE(loaded.error().ToString().find("memory://gone"), std::string::npos);
}

TEST_P(SqlCatalogTest, DropKeepsFilesAndPurgeDeletesThem) {
  auto catalog = OpenWithTable();
  Commit(*catalog, "k", "v");
  ASSERT_TRUE(catalog->DropTable(kTable, false).ok());
  EXPECT_EQ(store_->Locations().size(), 2U);
  EXPECT_EQ(catalog->DropTable(kTable, false).error().kind(), ErrorKind::kNotFound);
  ASSERT_TRUE(catalog->CreateTable(kTable, Definition()).ok());
  ASSERT_TRUE(catalog->DropTable(kTable, true).ok());
  EXPECT_EQ(store_->Locations().size(), 2U);
}

TEST_P(SqlCatalogTest, RacingWritersLoseNothing) {
  constexpr int kWriters = 4;
  constexpr int kCommits = 15;
  config_.busy_timeout_ms = 10'000;
  auto first = OpenWithTable({{"commit.manifest.min-count-to-merge", "5"}});
  std::atomic<int> conflicts{0};
  std::vector<std::thread> writers;
  for (int w = 0; w < kWriters; ++w) {
    writers.emplace_back([&, w] {
      auto catalog = Open();
      for (int c = 0; c < kCommits; ++c) {
        iceberg::DataFile file;
        file.file_path = "memory://warehouse/data/" + std::to_string(w) + "-" + std::to_string(c);
        file.record_count = 1;
        iceberg::AppendContent content;
        content.files = {file};
        content.snapshot_id = ids_.SnapshotId();
        content.commit_uuid = ids_.Uuid();
        iceberg::AppendBuilder builder(store_, content);
        for (int attempt = 1;; ++attempt) {
          ASSERT_LT(attempt, 1000);
          auto base = catalog->LoadTable(kTable).value();
          auto built = builder.Build(*base.metadata, attempt, clock_.NowMs());
          ASSERT_TRUE(built.ok()) << built.error().ToString();
          auto result = catalog->CommitTable({base, {}, built->updates, ""});
          if (std::holds_alternative<CommitDone>(result)) {
            for (const auto& unused : builder.UnusedAfterCommit(built->snapshot))
              ASSERT_TRUE(store_->Delete(unused).ok());
            break;
          }
          ASSERT_TRUE(std::holds_alternative<CommitConflict>(result));
          ++conflicts;
        }
      }
    });
  }
  for (auto& writer : writers) writer.join();
  auto table = first->LoadTable(kTable).value();
  EXPECT_EQ(table.metadata->snapshots.size(), static_cast<size_t>(kWriters * kCommits));
  EXPECT_EQ(table.metadata->current_snapshot()->summary.at("total-records"),
            std::to_string(kWriters * kCommits));
  std::set<std::string> live;
  auto manifests = iceberg::ReadManifestList(*store_, *table.metadata->current_snapshot()).value();
  for (const auto& manifest : manifests) {
    auto entries = iceberg::ReadManifest(*store_, manifest, *table.metadata);
    ASSERT_TRUE(entries.ok()) << entries.error().ToString();
    for (const auto& entry : *entries) {
      if (!entry.live()) continue;
      EXPECT_TRUE(live.insert(entry.file.file_path).second) << entry.file.file_path;
    }
  }
  EXPECT_EQ(live.size(), static_cast<size_t>(kWriters * kCommits));
  RecordProperty("conflicts", conflicts);
}

}  // namespace
}  // namespace firn::catalog::sql
