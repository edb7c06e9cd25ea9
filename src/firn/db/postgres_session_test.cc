#include "firn/db/postgres_session.h"

#include <unistd.h>

#include <atomic>
#include <thread>

#include <gtest/gtest.h>

#include "firn/db/session_pool.h"
#include "support/postgres_server.h"

namespace firn::db {
namespace {

TEST(NumberedParameters, QuestionMarksOutsideOfQuotesAreNumbered) {
  EXPECT_EQ(WithNumberedParameters("a = ? AND b = '?' AND c IN (?, ?)"),
            "a = $1 AND b = '?' AND c IN ($2, $3)");
  EXPECT_EQ(WithNumberedParameters(""), "");
}

class PostgresSessionTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto server = test::PostgresFromEnvironment();
    ASSERT_TRUE(server.set) << test::kPostgresMissing;
    if (server.uri.empty()) GTEST_SKIP() << "FIRN_TEST_POSTGRES=none";
    static std::atomic<int> count{0};
    schema_ = "db_" + std::to_string(::getpid()) + "_" + std::to_string(++count);
    options_ = std::get<PostgresOptions>(ParseDatabaseUri(server.uri).value());
    ASSERT_TRUE(Open()->Execute("CREATE SCHEMA " + schema_).ok());
    options_.parameters["options"] = "-csearch_path=" + schema_;
    options_.lock_timeout_ms = 200;
  }
  void TearDown() override {
    if (!schema_.empty()) Ignore(Open()->Execute("DROP SCHEMA " + schema_ + " CASCADE"));
  }

  std::unique_ptr<Session> Open() {
    auto session = PostgresSession::Open(options_);
    EXPECT_TRUE(session.ok()) << session.error().ToString();
    return *std::move(session);
  }

  static int64_t ProcessOf(Session& session) {
    return session.Query("SELECT pg_backend_pid()", {}).value().at(0).integer(0);
  }

  /// Ends the server's side of a session, as a restart of the server does.
  void EndConnectionOf(Session& session) {
    const int64_t process = ProcessOf(session);
    ASSERT_EQ(Open()->Query("SELECT 1 WHERE pg_terminate_backend(?)", {process})->size(), 1U);
    // The signal takes a moment to arrive.
    for (int i = 0; i < 500; ++i) {
      if (Open()->Query("SELECT 1 FROM pg_stat_activity WHERE pid = ?", {process})->empty()) return;
      ::usleep(10'000);
    }
    FAIL() << "the connection did not end";
  }

  std::string schema_;
  PostgresOptions options_;
};

TEST_F(PostgresSessionTest, ValuesComeBackAsTheyWere) {
  auto session = Open();
  ASSERT_TRUE(session->Execute("CREATE TABLE t (k TEXT PRIMARY KEY, n BIGINT)").ok());
  const std::string text = "ä'?\"\\\n$1";
  auto changed = session->Change("INSERT INTO t VALUES (?, ?), (?, ?)",
                                 {text, int64_t{-9223372036854775807}, "b", std::monostate{}});
  ASSERT_TRUE(changed.ok()) << changed.error().ToString();
  EXPECT_EQ(*changed, 2);
  auto rows = session->Query("SELECT k, n FROM t ORDER BY n", {}).value();
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].text(0), text);
  EXPECT_EQ(rows[0].integer(1), -9223372036854775807);
  EXPECT_TRUE(rows[1].is_null(1));
  EXPECT_EQ(session->Query("SELECT count(*) FROM t", {}).value()[0].integer(0), 2);
}

TEST_F(PostgresSessionTest, ColumnsOfATableThatIsNotThereAreNone) {
  auto session = Open();
  ASSERT_TRUE(session->Execute("CREATE TABLE t (k TEXT, gone INT, n BIGINT); ALTER TABLE t DROP gone").ok());
  EXPECT_EQ(session->ColumnsOf("t").value(), (std::vector<std::string>{"k", "n"}));
  EXPECT_TRUE(session->ColumnsOf("u")->empty());
}

TEST_F(PostgresSessionTest, TextThatPostgresDoesNotTakeIsAnArgumentError) {
  auto session = Open();
  ASSERT_TRUE(session->Execute("CREATE TABLE t (k VARCHAR(3))").ok());
  for (const std::string& text : {std::string("a\0b", 3), std::string("\xff"), std::string("long")}) {
    auto changed = session->Change("INSERT INTO t VALUES (?)", {text});
    ASSERT_FALSE(changed.ok());
    EXPECT_EQ(changed.error().kind(), ErrorKind::kInvalidArgument) << changed.error().ToString();
  }
  EXPECT_TRUE(session->CheckUsable().ok());
}

TEST_F(PostgresSessionTest, TakenKeyIsAlreadyExists) {
  auto session = Open();
  ASSERT_TRUE(session->Execute("CREATE TABLE t (k TEXT PRIMARY KEY)").ok());
  ASSERT_TRUE(session->Change("INSERT INTO t VALUES (?)", {"a"}).ok());
  EXPECT_EQ(session->Change("INSERT INTO t VALUES (?)", {"a"}).error().kind(), ErrorKind::kAlreadyExists);
}

TEST_F(PostgresSessionTest, TransactionWithoutCommitIsRolledBack) {
  auto session = Open();
  ASSERT_TRUE(session->Execute("CREATE TABLE t (k TEXT)").ok());
  {
    auto transaction = Transaction::Begin(*session).value();
    ASSERT_TRUE(session->Change("INSERT INTO t VALUES ('x')", {}).ok());
    EXPECT_FALSE(session->CheckUsable().ok()) << "a session in a transaction is nobody else's";
  }
  EXPECT_TRUE(session->CheckUsable().ok());
  EXPECT_TRUE(session->Query("SELECT * FROM t", {}).value().empty());
}

TEST_F(PostgresSessionTest, CommitOfAFailedTransactionIsNoSuccess) {
  auto session = Open();
  ASSERT_TRUE(session->Execute("CREATE TABLE t (k TEXT PRIMARY KEY)").ok());
  auto transaction = Transaction::Begin(*session).value();
  ASSERT_TRUE(session->Change("INSERT INTO t VALUES ('x')", {}).ok());
  ASSERT_FALSE(session->Change("INSERT INTO t VALUES ('x')", {}).ok());
  EXPECT_EQ(transaction.Commit().error().kind(), ErrorKind::kConflict);
}

TEST_F(PostgresSessionTest, LockOfAnotherIsUnavailableAndRetriable) {
  auto holder = Open();
  ASSERT_TRUE(holder->Execute("CREATE TABLE t (k TEXT); INSERT INTO t VALUES ('x')").ok());
  auto lock = Transaction::Begin(*holder).value();
  ASSERT_TRUE(holder->Change("UPDATE t SET k = 'y'", {}).ok());
  auto blocked = Open()->Change("UPDATE t SET k = 'z'", {});
  ASSERT_FALSE(blocked.ok());
  EXPECT_EQ(blocked.error().kind(), ErrorKind::kUnavailable);
  EXPECT_EQ(blocked.error().retry(), RetryHint::kYes);
  EXPECT_NE(blocked.error().ToString().find("postgresql://"), std::string::npos);
}

TEST_F(PostgresSessionTest, StatementThatTakesTooLongChangesNothing) {
  options_.statement_timeout_ms = 100;
  auto session = Open();
  auto slow = session->Change("SELECT pg_sleep(5)", {});
  ASSERT_FALSE(slow.ok());
  EXPECT_EQ(slow.error().kind(), ErrorKind::kUnavailable) << slow.error().ToString();
  EXPECT_TRUE(session->CheckUsable().ok());
}

TEST_F(PostgresSessionTest, QueryFindsItsWayBackAfterALostConnection) {
  auto session = Open();
  EndConnectionOf(*session);
  auto rows = session->Query("SELECT 1", {});
  ASSERT_TRUE(rows.ok()) << rows.error().ToString();
  EndConnectionOf(*session);
  EXPECT_TRUE(Transaction::Begin(*session).ok());
}

TEST_F(PostgresSessionTest, ChangeOverALostConnectionIsUnknownAndNotSentAgain) {
  auto session = Open();
  ASSERT_TRUE(session->Execute("CREATE TABLE t (k TEXT)").ok());
  EndConnectionOf(*session);
  auto changed = session->Change("INSERT INTO t VALUES ('x')", {});
  ASSERT_FALSE(changed.ok());
  EXPECT_EQ(changed.error().kind(), ErrorKind::kUnknownOutcome);
  EXPECT_EQ(changed.error().retry(), RetryHint::kNo);
  EXPECT_TRUE(Open()->Query("SELECT * FROM t", {})->empty());
}

TEST_F(PostgresSessionTest, ConnectionLostAtCommitIsUnknownAndBeforeItNothingWasDone) {
  auto session = Open();
  ASSERT_TRUE(session->Execute("CREATE TABLE t (k TEXT)").ok());
  {
    auto transaction = Transaction::Begin(*session).value();
    EndConnectionOf(*session);
    EXPECT_EQ(session->Change("INSERT INTO t VALUES ('x')", {}).error().kind(), ErrorKind::kUnavailable);
  }
  EXPECT_FALSE(session->CheckUsable().ok());
  session = Open();
  auto transaction = Transaction::Begin(*session).value();
  ASSERT_TRUE(session->Change("INSERT INTO t VALUES ('x')", {}).ok());
  EndConnectionOf(*session);
  EXPECT_EQ(transaction.Commit().error().kind(), ErrorKind::kUnknownOutcome);
}

TEST_F(PostgresSessionTest, PoolReplacesConnectionsThatEnded) {
  SessionPool pool(options_);
  int64_t before = 0;
  {
    auto lease = pool.Get().value();
    before = ProcessOf(*lease);
    EndConnectionOf(*lease);
  }
  auto lease = pool.Get();
  ASSERT_TRUE(lease.ok());
  EXPECT_NE(ProcessOf(**lease), before);
}

TEST_F(PostgresSessionTest, PoolLendsABoundedNumberAndTheNextUserWaits) {
  SessionPool pool(options_);
  std::atomic<int> lent{0};
  std::atomic<int> most{0};
  std::vector<std::thread> users;
  for (int i = 0; i < 24; ++i) {
    users.emplace_back([&] {
      auto lease = pool.Get();
      ASSERT_TRUE(lease.ok()) << lease.error().ToString();
      int now = ++lent;
      for (int seen = most; now > seen && !most.compare_exchange_weak(seen, now);) continue;
      EXPECT_TRUE((*lease)->Query("SELECT pg_sleep(0.02)", {}).ok());
      --lent;
    });
  }
  for (auto& user : users) user.join();
  EXPECT_LE(most, static_cast<int>(SessionPool::kMaxSessions));
}

TEST_F(PostgresSessionTest, AcknowledgedCommitsLastWhateverTheServersDefault) {
  options_.parameters["options"] += " -csynchronous_commit=off";
  EXPECT_EQ(Open()->Query("SHOW synchronous_commit", {}).value()[0].text(0), "on");
  options_.parameters["options"] += " -csynchronous_commit=remote_apply";
  EXPECT_EQ(Open()->Query("SHOW synchronous_commit", {}).value()[0].text(0), "remote_apply");
}

TEST_F(PostgresSessionTest, ServerThatTakesNoChangesIsLeft) {
  options_.parameters["options"] += " -cdefault_transaction_read_only=on";
  auto session = Open();
  auto changed = session->Change("CREATE TABLE t (k TEXT)", {});
  ASSERT_FALSE(changed.ok());
  EXPECT_EQ(changed.error().kind(), ErrorKind::kUnavailable) << changed.error().ToString();
  EXPECT_FALSE(session->CheckUsable().ok()) << "the next one may reach the new primary";
}

TEST_F(PostgresSessionTest, FirstHostThatDoesNotAnswerIsPassedOver) {
  const std::string good = options_.parameters["port"];
  options_.parameters["host"] = "127.0.0.1," + options_.parameters["host"];
  options_.parameters["port"] = "1," + good;
  EXPECT_EQ(Open()->Query("SHOW port", {}).value()[0].text(0), good);
}

TEST_F(PostgresSessionTest, RefusedConnectionsSayWhoHasToAct) {
  auto wrong = options_;
  wrong.parameters["password"] = "hunter2";
  auto error = PostgresSession::Open(wrong).error();
  EXPECT_EQ(error.kind(), ErrorKind::kPermissionDenied);
  EXPECT_EQ(error.domain(), ErrorDomain::kUser);
  EXPECT_EQ(error.ToString().find("hunter2"), std::string::npos);

  wrong = options_;
  wrong.parameters.erase("password");
  error = PostgresSession::Open(wrong).error();
  EXPECT_EQ(error.kind(), ErrorKind::kPermissionDenied) << error.ToString();

  wrong = options_;
  wrong.parameters["dbname"] = "nowhere";
  error = PostgresSession::Open(wrong).error();
  EXPECT_EQ(error.kind(), ErrorKind::kNotFound) << error.ToString();

  wrong = options_;
  wrong.parameters["port"] = "1";
  error = PostgresSession::Open(wrong).error();
  EXPECT_EQ(error.kind(), ErrorKind::kUnavailable) << error.ToString();
  EXPECT_NE(error.ToString().find(":1/"), std::string::npos);

  wrong = options_;
  wrong.parameters["sslmode"] = "require";
  error = PostgresSession::Open(wrong).error();
  EXPECT_EQ(error.kind(), ErrorKind::kUnavailable) << error.ToString();
  EXPECT_NE(error.ToString().find("SSL"), std::string::npos);
}

}  // namespace
}  // namespace firn::db
