#pragma once

#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "firn/db/database.h"
#include "support/postgres_server.h"

namespace firn::catalog::sql {

enum class DatabaseKind : uint8_t { kSqlite, kPostgres };

inline std::string NameOf(const ::testing::TestParamInfo<DatabaseKind>& kind) {
  return kind.param == DatabaseKind::kSqlite ? "Sqlite" : "Postgres";
}

/// An empty database of a test's own: a file in `folder`, or a schema of the tests' PostgreSQL server.
class TestDatabase {
 public:
  TestDatabase(DatabaseKind kind, const std::string& folder) {
    if (kind == DatabaseKind::kSqlite) {
      options_ = db::SqliteOptions{.path = folder + "/catalog.db"};
      sqlalchemy_uri_ = "sqlite:///" + folder + "/catalog.db";
      return;
    }
    const auto server = test::PostgresFromEnvironment();
    if (server.set && !server.uri.empty()) MakeSchema(server.uri);
  }
  ~TestDatabase() {
    if (!schema_.empty()) Ignore(Session()->Execute("DROP SCHEMA " + schema_ + " CASCADE"));
  }
  TestDatabase(const TestDatabase&) = delete;
  TestDatabase& operator=(const TestDatabase&) = delete;

  /// False: there is no server; the test says so by kPostgresMissing, or is left out on request.
  bool ready() const { return !sqlalchemy_uri_.empty(); }
  const db::DatabaseOptions& options() const { return options_; }
  const std::string& sqlalchemy_uri() const { return sqlalchemy_uri_; }
  std::string place() const { return db::PlaceOf(options_).substr(db::PlaceOf(options_).find(':') + 1); }

  std::unique_ptr<db::Session> Session() const {
    auto options = options_;
    if (auto* sqlite = std::get_if<db::SqliteOptions>(&options)) sqlite->busy_timeout_ms = 50;
    auto session = db::OpenSession(options);
    EXPECT_TRUE(session.ok()) << session.error().ToString();
    return *std::move(session);
  }

 private:
  void MakeSchema(const std::string& uri) {
    static std::atomic<int> count{0};
    options_ = db::ParseDatabaseUri(uri).value();
    const std::string name = "catalog_" + std::to_string(::getpid()) + "_" + std::to_string(++count);
    ASSERT_TRUE(Session()->Execute("CREATE SCHEMA " + name).ok());
    schema_ = name;
    auto& parameters = std::get<db::PostgresOptions>(options_).parameters;
    parameters["options"] = "-csearch_path=" + schema_;
    parameters["application_name"] = schema_;
    sqlalchemy_uri_ =
        "postgresql+psycopg2" + uri.substr(uri.find(':')) + "?options=-csearch_path%3D" + schema_;
  }

  db::DatabaseOptions options_;
  std::string sqlalchemy_uri_;
  std::string schema_;
};

}  // namespace firn::catalog::sql
