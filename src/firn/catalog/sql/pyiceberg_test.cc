#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <set>
#include <sstream>
#include <thread>

#include <gtest/gtest.h>

#include "firn/catalog/sql/database_fixture.h"
#include "firn/catalog/sql/sql_catalog.h"
#include "firn/iceberg/meta/append.h"
#include "firn/store/local/local_store.h"

// PyIceberg and Firn on the same database and tables, at the same time.

namespace firn::catalog::sql {
namespace {

namespace fs = std::filesystem;
using iceberg::CommitConflict;
using iceberg::CommitDone;
using iceberg::TableIdentifier;

const fs::path kPython = fs::path(FIRN_DEPS_DIR) / "venv/bin/python";

class LocalResolver final : public store::StoreResolver {
 public:
  Result<std::shared_ptr<store::Store>> Resolve(std::string_view /*location*/,
                                                const store::StoreAccess& /*access*/) override {
    return store_;
  }

 private:
  std::shared_ptr<store::Store> store_ = std::make_shared<store::LocalStore>();
};

class PyIcebergTest : public ::testing::TestWithParam<DatabaseKind> {
 protected:
  void SetUp() override {
    if (!fs::exists(kPython)) GTEST_SKIP() << "PyIceberg is not installed in " << kPython;
    std::string pattern = (fs::temp_directory_path() / "firn-peer-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
    SqlCatalogConfig config;
    config.name = "lake";
    database_ = std::make_unique<TestDatabase>(GetParam(), folder_);
    if (!database_->ready()) {
      ASSERT_TRUE(test::PostgresFromEnvironment().set) << test::kPostgresMissing;
      GTEST_SKIP() << "FIRN_TEST_POSTGRES=none";
    }
    config.database = database_->options();
    config.warehouse = "file://" + folder_ + "/ware house";
    auto catalog = SqlCatalog::Open(
        config, {std::make_shared<LocalResolver>(), &runtime::SystemClock(), &runtime::SystemIds()});
    ASSERT_TRUE(catalog.ok()) << catalog.error().ToString();
    catalog_ = *std::move(catalog);
  }
  void TearDown() override {
    catalog_.reset();
    database_.reset();
    if (!folder_.empty()) fs::remove_all(folder_);
  }

  std::string Place(const std::string& table) const {
    return "'" + database_->sqlalchemy_uri() + "' 'file://" + folder_ + "/ware house' " + table;
  }

  /// Runs the peer to its end; its output.
  static std::string Peer(const std::string& arguments) {
    std::string command = kPython.string() + " " FIRN_SOURCE_DIR "/src/firn/catalog/sql/pyiceberg_peer.py " +
                          arguments + " 2>&1";
    FILE* pipe = ::popen(command.c_str(), "r");
    std::string output;
    std::array<char, 4096> buffer{};
    while (size_t got = std::fread(buffer.data(), 1, buffer.size(), pipe)) output.append(buffer.data(), got);
    int status = ::pclose(pipe);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << command << "\n" << output;
    return output;
  }

  void CreateTable(const TableIdentifier& table, int format_version) {
    ASSERT_TRUE(catalog_->NamespaceExists(table.ns).value() || catalog_->CreateNamespace(table.ns, {}).ok());
    iceberg::NewTable definition;
    definition.format_version = format_version;
    definition.properties = {{"commit.manifest.min-count-to-merge", "4"}};
    iceberg::NestedField column;
    column.id = 1;
    column.name = "id";
    column.type = iceberg::Type::Primitive(iceberg::TypeId::kLong);
    definition.schema = std::make_shared<iceberg::Schema>(0, std::vector<iceberg::NestedField>{column});
    auto created = catalog_->CreateTable(table, definition);
    ASSERT_TRUE(created.ok()) << created.error().ToString();
  }

  std::vector<iceberg::DataFile> Files(int count) {
    std::istringstream lines(Peer("files " + folder_ + "/data " + std::to_string(count)));
    std::vector<iceberg::DataFile> files;
    std::string path;
    int64_t size = 0;
    while (lines >> path >> size) {
      auto& file = files.emplace_back();
      file.file_path = "file://" + path;
      file.record_count = 1;
      file.file_size_bytes = size;
    }
    EXPECT_EQ(files.size(), static_cast<size_t>(count));
    return files;
  }

  void Append(const TableIdentifier& table, const iceberg::DataFile& file) {
    iceberg::AppendContent content;
    content.files = {file};
    content.snapshot_id = runtime::SystemIds().SnapshotId();
    content.commit_uuid = runtime::SystemIds().Uuid();
    iceberg::AppendBuilder builder(std::make_shared<store::LocalStore>(), content);
    for (int attempt = 1; attempt < 200; ++attempt) {
      auto base = catalog_->LoadTable(table).value();
      auto built = builder.Build(*base.metadata, attempt, runtime::SystemClock().NowMs());
      ASSERT_TRUE(built.ok()) << built.error().ToString();
      auto result = catalog_->CommitTable({base, {}, built->updates, ""});
      if (std::holds_alternative<CommitDone>(result)) return;
      ASSERT_TRUE(std::holds_alternative<CommitConflict>(result));
    }
    FAIL() << "never came through";
  }

  void ExpectIds(const std::string& table, const std::set<int>& ids) {
    std::string line;
    for (int id : ids) line += (line.empty() ? "" : " ") + std::to_string(id);
    EXPECT_EQ(Peer("read " + Place(table)), line + "\n" + line + "\n") << "PyIceberg's line, then DuckDB's";
  }

  std::string folder_;
  std::unique_ptr<TestDatabase> database_;
  std::unique_ptr<SqlCatalog> catalog_;
};

INSTANTIATE_TEST_SUITE_P(Databases, PyIcebergTest,
                         ::testing::Values(DatabaseKind::kSqlite, DatabaseKind::kPostgres), NameOf);

TEST_P(PyIcebergTest, BothAppendToOneTableAndNobodyLosesRows) {
  const TableIdentifier table{{"travel"}, "flights"};
  CreateTable(table, 2);
  std::thread peer([&] { Peer("append " + Place("travel.flights") + " 8"); });
  std::set<int> ids;
  auto files = Files(30);
  for (int i = 0; i < 30; ++i) {
    Append(table, files[static_cast<size_t>(i)]);
    ids.insert(i);
    std::this_thread::sleep_for(std::chrono::milliseconds(60));
  }
  peer.join();
  for (int i = 0; i < 8; ++i) ids.insert(1000 + i);
  ExpectIds("travel.flights", ids);
}

TEST_P(PyIcebergTest, TableOfPyIcebergIsAppendedToAndStaysReadable) {
  Peer("create " + Place("theirs.t"));
  const TableIdentifier table{{"theirs"}, "t"};
  EXPECT_EQ(catalog_->ListTables({"theirs"}).value(), std::vector<TableIdentifier>{table});
  for (const auto& file : Files(2)) Append(table, file);
  Peer("append " + Place("theirs.t") + " 1");
  ExpectIds("theirs.t", {0, 1, 999, 1000});
}

TEST_P(PyIcebergTest, VersionThreeIsReadByOthers) {
  const TableIdentifier table{{"travel"}, "v3"};
  CreateTable(table, 3);
  for (const auto& file : Files(6)) Append(table, file);
  ExpectIds("travel.v3", {0, 1, 2, 3, 4, 5});
}

}  // namespace
}  // namespace firn::catalog::sql
