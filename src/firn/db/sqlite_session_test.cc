#include "firn/db/sqlite_session.h"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "firn/db/session_pool.h"

namespace firn::db {
namespace {

namespace fs = std::filesystem;

class SqliteSessionTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "firn-db-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
    options_.path = folder_ + "/x/catalog.db";
    options_.busy_timeout_ms = 50;
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::unique_ptr<Session> Open() {
    auto session = SqliteSession::Open(options_);
    EXPECT_TRUE(session.ok()) << session.error().ToString();
    return *std::move(session);
  }

  std::string folder_;
  SqliteOptions options_;
};

TEST_F(SqliteSessionTest, CreatesFileAndFolderInWalMode) {
  auto session = Open();
  ASSERT_TRUE(session->Execute("CREATE TABLE t (k TEXT PRIMARY KEY, n INTEGER)").ok());
  EXPECT_EQ(session->Change("INSERT INTO t VALUES (?, ?), (?, ?)", {"a", int64_t{1}, "b", std::monostate{}})
                .value(),
            2);
  auto rows = session->Query("SELECT k, n FROM t ORDER BY k", {}).value();
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].text(0), "a");
  EXPECT_EQ(rows[0].integer(1), 1);
  EXPECT_TRUE(rows[1].is_null(1));
  EXPECT_EQ(session->Query("PRAGMA journal_mode", {}).value().at(0).text(0), "wal");
}

TEST_F(SqliteSessionTest, ColumnsOfATableThatIsNotThereAreNone) {
  auto session = Open();
  ASSERT_TRUE(session->Execute("CREATE TABLE t (k TEXT PRIMARY KEY, n INTEGER)").ok());
  EXPECT_EQ(session->ColumnsOf("t").value(), (std::vector<std::string>{"k", "n"}));
  EXPECT_TRUE(session->ColumnsOf("u")->empty());
}

TEST_F(SqliteSessionTest, TakenKeyIsAlreadyExists) {
  auto session = Open();
  ASSERT_TRUE(session->Execute("CREATE TABLE t (k TEXT PRIMARY KEY)").ok());
  ASSERT_TRUE(session->Change("INSERT INTO t VALUES (?)", {"a"}).ok());
  EXPECT_EQ(session->Change("INSERT INTO t VALUES (?)", {"a"}).error().kind(), ErrorKind::kAlreadyExists);
}

TEST_F(SqliteSessionTest, LockedByAnotherIsUnavailableAndRetriable) {
  auto holder = Open();
  ASSERT_TRUE(holder->Execute("CREATE TABLE t (k TEXT)").ok());
  auto other = Open();
  auto lock = Transaction::Begin(*holder);
  ASSERT_TRUE(lock.ok());
  auto blocked = other->Change("INSERT INTO t VALUES ('x')", {});
  ASSERT_FALSE(blocked.ok());
  EXPECT_EQ(blocked.error().kind(), ErrorKind::kUnavailable);
  EXPECT_EQ(blocked.error().retry(), RetryHint::kYes);
  EXPECT_NE(blocked.error().ToString().find(options_.path), std::string::npos);
  EXPECT_TRUE(other->Query("SELECT * FROM t", {}).ok());  // readers do not wait for the writer
  ASSERT_TRUE(lock->Commit().ok());
  EXPECT_TRUE(other->Change("INSERT INTO t VALUES ('x')", {}).ok());
}

TEST_F(SqliteSessionTest, TransactionWithoutCommitIsRolledBack) {
  auto session = Open();
  ASSERT_TRUE(session->Execute("CREATE TABLE t (k TEXT)").ok());
  {
    auto transaction = Transaction::Begin(*session).value();
    ASSERT_TRUE(session->Change("INSERT INTO t VALUES ('x')", {}).ok());
  }
  EXPECT_TRUE(session->Query("SELECT * FROM t", {}).value().empty());
}

TEST_F(SqliteSessionTest, MissingFileIsNotFoundWhenNotCreating) {
  options_.create = false;
  auto session = SqliteSession::Open(options_);
  ASSERT_FALSE(session.ok());
  EXPECT_EQ(session.error().kind(), ErrorKind::kNotFound);
  EXPECT_NE(session.error().ToString().find(options_.path), std::string::npos);
}

TEST_F(SqliteSessionTest, OtherFileIsCorrupt) {
  fs::create_directories(folder_ + "/x");
  std::ofstream(options_.path) << std::string(4096, 'z');
  auto session = SqliteSession::Open(options_);
  ASSERT_FALSE(session.ok());
  EXPECT_EQ(session.error().kind(), ErrorKind::kCorrupt);
}

TEST_F(SqliteSessionTest, FolderInPlaceOfTheFileIsNamed) {
  fs::create_directories(options_.path);
  auto session = SqliteSession::Open(options_);
  ASSERT_FALSE(session.ok());
  EXPECT_EQ(session.error().kind(), ErrorKind::kPermissionDenied);
  EXPECT_NE(session.error().ToString().find(options_.path), std::string::npos);
}

TEST_F(SqliteSessionTest, ReadOnlySessionMayNotWrite) {
  ASSERT_TRUE(Open()->Execute("CREATE TABLE t (k TEXT)").ok());
  options_.read_only = true;
  auto session = Open();
  EXPECT_TRUE(session->Query("SELECT * FROM t", {}).ok());
  EXPECT_EQ(session->Change("INSERT INTO t VALUES ('x')", {}).error().kind(), ErrorKind::kPermissionDenied);
}

TEST_F(SqliteSessionTest, RemovedFileIsNoticed) {
  auto session = Open();
  ASSERT_TRUE(session->Execute("CREATE TABLE t (k TEXT)").ok());
  EXPECT_TRUE(session->CheckUsable().ok());
  fs::remove_all(folder_ + "/x");
  EXPECT_EQ(session->CheckUsable().error().kind(), ErrorKind::kUnavailable);
}

TEST_F(SqliteSessionTest, PoolDoesNotMakeAVanishedDatabaseAnew) {
  SessionPool pool(options_);
  ASSERT_TRUE(pool.Get().value()->Execute("CREATE TABLE t (k TEXT)").ok());
  EXPECT_TRUE(pool.Get().value()->Query("SELECT * FROM t", {}).ok());
  fs::remove_all(folder_ + "/x");
  EXPECT_EQ(pool.Get().error().kind(), ErrorKind::kUnavailable);
  EXPECT_FALSE(fs::exists(options_.path));
}

}  // namespace
}  // namespace firn::db
