#include "firn/db/postgres_session.h"

#include <libpq-fe.h>

#include <cstdlib>
#include <string_view>
#include <utility>

#include "firn/db/postgres_uri.h"

namespace firn::db {

namespace {

// pg_type.h: the types whose values are whole numbers.
constexpr Oid kInt8 = 20;
constexpr Oid kInt2 = 21;
constexpr Oid kInt4 = 23;

Value ColumnOf(const PGresult* result, int row, int column) {
  if (PQgetisnull(result, row, column) == 1) return std::monostate{};
  const char* text = PQgetvalue(result, row, column);
  const Oid type = PQftype(result, column);
  if (type == kInt8 || type == kInt4 || type == kInt2) return int64_t{std::strtoll(text, nullptr, 10)};
  return std::string(text, static_cast<size_t>(PQgetlength(result, row, column)));
}

std::vector<Row> RowsOf(const PGresult* result) {
  std::vector<Row> rows;
  for (int row = 0; row < PQntuples(result); ++row) {
    std::vector<Value> columns;
    for (int column = 0; column < PQnfields(result); ++column)
      columns.push_back(ColumnOf(result, row, column));
    rows.emplace_back(std::move(columns));
  }
  return rows;
}

bool Failed(const PostgresAnswer& answer) { return std::holds_alternative<PostgresFailure>(answer); }

PGresult* ResultOf(const PostgresAnswer& answer) { return std::get<PostgresResult>(answer).get(); }

}  // namespace

std::string WithNumberedParameters(std::string_view sql) {
  std::string numbered;
  int count = 0;
  bool quoted = false;
  for (const char c : sql) {
    if (c == '\'') quoted = !quoted;
    if (c == '?' && !quoted) {
      numbered += '$' + std::to_string(++count);
    } else {
      numbered += c;
    }
  }
  return numbered;
}

Result<std::unique_ptr<Session>> PostgresSession::Open(PostgresOptions options) {
  FIRN_ASSIGN(auto connection, PostgresConnection::Connect(options));
  return std::unique_ptr<Session>(new PostgresSession(std::move(options), std::move(connection)));
}

PostgresSession::PostgresSession(PostgresOptions options, std::unique_ptr<PostgresConnection> connection)
    : options_(std::move(options)), place_(PostgresPlace(options_)), connection_(std::move(connection)) {}

Error PostgresSession::ErrorOf(const PostgresAnswer& answer, PostgresAction action) const {
  return db::ErrorOf(std::get<PostgresFailure>(answer), action, place_);
}

PostgresAnswer PostgresSession::RunAgainIfLost(const std::string& sql, const std::vector<Value>& parameters) {
  auto answer = connection_->Run(sql, parameters);
  const auto* failure = std::get_if<PostgresFailure>(&answer);
  if (failure == nullptr || !failure->connection_lost || in_transaction_) return answer;
  auto again = PostgresConnection::Connect(options_);
  if (!again.ok()) return answer;
  connection_ = *std::move(again);
  return connection_->Run(sql, parameters);
}

Status PostgresSession::Execute(const std::string& script) {
  const auto answer = connection_->RunScript(script);
  return Failed(answer) ? Status(ErrorOf(answer, write_action())) : Ok();
}

Result<int64_t> PostgresSession::Change(std::string_view sql, const std::vector<Value>& parameters) {
  const auto answer = connection_->Run(WithNumberedParameters(sql), parameters);
  if (Failed(answer)) return ErrorOf(answer, write_action());
  return int64_t{std::strtoll(PQcmdTuples(ResultOf(answer)), nullptr, 10)};
}

Result<std::vector<Row>> PostgresSession::Query(std::string_view sql, const std::vector<Value>& parameters) {
  const auto answer = RunAgainIfLost(WithNumberedParameters(sql), parameters);
  if (Failed(answer)) return ErrorOf(answer, PostgresAction::kRead);
  return RowsOf(ResultOf(answer));
}

// As an unquoted name in a statement would be found: in the search path.
Result<std::vector<std::string>> PostgresSession::ColumnsOf(const std::string& table) {
  FIRN_ASSIGN(auto rows, Query("SELECT attname FROM pg_catalog.pg_attribute WHERE attrelid = "
                               "pg_catalog.to_regclass(?) AND attnum > 0 AND NOT attisdropped "
                               "ORDER BY attnum",
                               {table}));
  std::vector<std::string> names;
  for (const auto& row : rows) names.push_back(row.text(0));
  return names;
}

Status PostgresSession::CheckUsable() {
  if (!in_transaction_ && connection_->usable()) return Ok();
  return Error(ErrorKind::kUnavailable, "PostgreSQL database " + place_ + ": the connection is closed");
}

Status PostgresSession::Begin() {
  const auto answer = RunAgainIfLost("BEGIN", {});
  if (Failed(answer)) return ErrorOf(answer, PostgresAction::kRead);
  in_transaction_ = true;
  return Ok();
}

Status PostgresSession::Commit() {
  const auto answer = connection_->Run("COMMIT", {});
  if (Failed(answer)) return ErrorOf(answer, PostgresAction::kWrite);
  in_transaction_ = false;
  // What the server says to COMMIT after a statement of the transaction failed.
  if (std::string_view(PQcmdStatus(ResultOf(answer))) == "ROLLBACK") {
    return Error(ErrorKind::kConflict, "PostgreSQL database " + place_ + ": the transaction was rolled back");
  }
  return Ok();
}

void PostgresSession::Rollback() noexcept {
  if (!Failed(connection_->Run("ROLLBACK", {}))) in_transaction_ = false;
}

}  // namespace firn::db
