#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "firn/base/result.h"
#include "firn/db/database.h"
#include "firn/db/postgres_error.h"

struct pg_conn;
struct pg_result;

namespace firn::db {

struct ClearPostgresResult {
  void operator()(pg_result* result) const;
};
using PostgresResult = std::unique_ptr<pg_result, ClearPostgresResult>;
using PostgresAnswer = std::variant<PostgresResult, PostgresFailure>;

/// One libpq connection whose every wait ends: connecting after `connect_timeout` (10 s), a statement after
/// its time limit. Tries the hosts of the options in turn. Used by one thread at a time.
class PostgresConnection {
 public:
  static Result<std::unique_ptr<PostgresConnection>> Connect(const PostgresOptions& options);
  ~PostgresConnection();
  PostgresConnection(const PostgresConnection&) = delete;
  PostgresConnection& operator=(const PostgresConnection&) = delete;

  /// One statement with `$1` ... parameters.
  PostgresAnswer Run(const std::string& sql, const std::vector<Value>& parameters);
  /// Statements without parameters; the answer of the last one, or the first failure.
  PostgresAnswer RunScript(const std::string& script);

  /// False when the server has closed it, it failed before, or a transaction is open that nobody ends.
  bool usable();

 private:
  using Clock = std::chrono::steady_clock;

  PostgresConnection(pg_conn* connection, int64_t answer_timeout_ms)
      : connection_(connection), answer_timeout_ms_(answer_timeout_ms) {}

  static std::variant<std::unique_ptr<PostgresConnection>, PostgresFailure> ConnectTo(
      const std::map<std::string, std::string>& parameters, const PostgresOptions& options);
  PostgresFailure AwaitConnected(Clock::time_point deadline);
  Status SetUp(const PostgresOptions& options);
  PostgresAnswer Await(bool sent);
  bool Flush(Clock::time_point deadline);
  bool AwaitInput(Clock::time_point deadline);
  PostgresAnswer Collect(Clock::time_point deadline);
  PostgresFailure Lost(std::string message);
  PostgresFailure FailureOf(const pg_result* result);

  pg_conn* const connection_;
  const int64_t answer_timeout_ms_;
  bool broken_ = false;
};

}  // namespace firn::db
