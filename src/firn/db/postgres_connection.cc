#include "firn/db/postgres_connection.h"

#include <libpq-fe.h>
#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "firn/db/postgres_uri.h"

namespace firn::db {

namespace {

using Parameters = std::map<std::string, std::string>;

/// How much longer we wait than the server works: its own time limit is the better end.
constexpr int64_t kAnswerGraceMs = 5000;

/// Where the URI says nothing else. A server that vanished is noticed within a minute.
constexpr std::pair<const char*, const char*> kDefaults[] = {
    {"connect_timeout", "10"},   {"fallback_application_name", "firn"},
    {"keepalives_idle", "30"},   {"keepalives_interval", "10"},
    {"keepalives_count", "3"},   {"tcp_user_timeout", "30000"},
    {"client_encoding", "UTF8"},
};

std::vector<std::string> Split(const std::string& list) {
  std::vector<std::string> parts;
  size_t begin = 0;
  for (size_t comma = list.find(','); comma != std::string::npos; comma = list.find(',', begin)) {
    parts.push_back(list.substr(begin, comma - begin));
    begin = comma + 1;
  }
  parts.push_back(list.substr(begin));
  return parts;
}

/// The parameters once per host. libpq would try them in turn as well, but waits for the first that does not
/// answer until TCP gives up.
std::vector<Parameters> PerHost(const Parameters& parameters) {
  const auto hosts = parameters.find(parameters.contains("host") ? "host" : "hostaddr");
  const size_t count = hosts == parameters.end() ? 1 : Split(hosts->second).size();
  std::vector<Parameters> all(count, parameters);
  if (count == 1) return all;
  for (const char* keyword : {"host", "hostaddr", "port"}) {
    const auto list = parameters.find(keyword);
    if (list == parameters.end()) continue;
    const auto parts = Split(list->second);
    for (size_t i = 0; i < count; ++i) all[i][keyword] = parts[std::min(i, parts.size() - 1)];
  }
  // Of several servers one takes changes.
  for (auto& one : all) one.insert({"target_session_attrs", "read-write"});
  return all;
}

/// Waits until the socket is ready. False at the deadline.
bool AwaitSocket(int socket, short events, std::chrono::steady_clock::time_point deadline) {
  using std::chrono::milliseconds;
  while (true) {
    const auto left = std::chrono::ceil<milliseconds>(deadline - std::chrono::steady_clock::now()).count();
    if (left <= 0) return false;
    ::pollfd ready{socket, events, 0};
    const int count = ::poll(&ready, 1, static_cast<int>(std::min<int64_t>(left, 60'000)));
    if (count > 0 || (count < 0 && errno != EINTR)) return true;
  }
}

std::optional<std::string> ParameterText(const Value& value) {
  if (const auto* number = std::get_if<int64_t>(&value)) return std::to_string(*number);
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  return std::nullopt;
}

bool HoldsZeroByte(const std::optional<std::string>& text) {
  return text && text->find('\0') != std::string::npos;
}

bool IsFailure(const PGresult* result) {
  const ExecStatusType status = PQresultStatus(result);
  return status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK && status != PGRES_EMPTY_QUERY;
}

std::string Field(const PGresult* result, int field) {
  const char* text = PQresultErrorField(result, field);
  return text == nullptr ? std::string() : std::string(text);
}

}  // namespace

void ClearPostgresResult::operator()(pg_result* result) const { PQclear(result); }

PostgresConnection::~PostgresConnection() { PQfinish(connection_); }

// --- connecting

Result<std::unique_ptr<PostgresConnection>> PostgresConnection::Connect(const PostgresOptions& options) {
  std::optional<Error> telling;
  for (const Parameters& parameters : PerHost(options.parameters)) {
    auto tried = ConnectTo(parameters, options);
    if (auto* connection = std::get_if<std::unique_ptr<PostgresConnection>>(&tried)) {
      FIRN_TRY((*connection)->SetUp(options));
      return std::move(*connection);
    }
    Error error = ErrorOf(std::get<PostgresFailure>(tried), PostgresAction::kConnect, PostgresPlace(options));
    // A wrong password says more than a host that is not there.
    if (!telling || telling->kind() == ErrorKind::kUnavailable) telling = std::move(error);
  }
  return *std::move(telling);
}

std::variant<std::unique_ptr<PostgresConnection>, PostgresFailure> PostgresConnection::ConnectTo(
    const Parameters& parameters, const PostgresOptions& options) {
  Parameters all = parameters;
  for (const auto& [keyword, value] : kDefaults) all.insert({keyword, value});
  std::vector<const char*> keywords;
  std::vector<const char*> values;
  for (const auto& [keyword, value] : all) {
    keywords.push_back(keyword.c_str());
    values.push_back(value.c_str());
  }
  keywords.push_back(nullptr);
  values.push_back(nullptr);
  std::unique_ptr<PostgresConnection> connection(
      new PostgresConnection(PQconnectStartParams(keywords.data(), values.data(), 0),
                             options.statement_timeout_ms + kAnswerGraceMs));
  if (connection->connection_ == nullptr) return PostgresFailure{"53200", "libpq has no memory", true};
  PQsetErrorVerbosity(connection->connection_, PQERRORS_VERBOSE);
  PQsetNoticeReceiver(connection->connection_, [](void*, const PGresult*) {}, nullptr);
  const int64_t seconds = std::max<int64_t>(1, std::strtoll(all["connect_timeout"].c_str(), nullptr, 10));
  auto failure = connection->AwaitConnected(Clock::now() + std::chrono::seconds(seconds));
  if (failure.connection_lost) return failure;
  return connection;
}

PostgresFailure PostgresConnection::AwaitConnected(Clock::time_point deadline) {
  PostgresPollingStatusType next = PGRES_POLLING_WRITING;
  while (PQstatus(connection_) != CONNECTION_BAD) {
    if (next == PGRES_POLLING_OK) return {};
    if (next == PGRES_POLLING_FAILED) break;
    const short events = next == PGRES_POLLING_READING ? POLLIN : POLLOUT;
    if (!AwaitSocket(PQsocket(connection_), events, deadline))
      return {"", "it did not answer within connect_timeout", true};
    next = PQconnectPoll(connection_);
  }
  PostgresFailure failure = ConnectFailure(PQerrorMessage(connection_));
  if (failure.sqlstate.empty() && PQconnectionNeedsPassword(connection_) != 0) failure.sqlstate = "28P01";
  return failure;
}

// One round trip. An acknowledged commit has to last, whatever the server's default is.
Status PostgresConnection::SetUp(const PostgresOptions& options) {
  PQsetErrorVerbosity(connection_, PQERRORS_DEFAULT);
  PQsetnonblocking(connection_, 1);
  const auto answer = RunScript(
      fmt::format("SET lock_timeout = {}; SET statement_timeout = {}; SET client_min_messages = warning; "
                  "SET default_transaction_isolation = 'read committed'; "
                  "SELECT set_config('synchronous_commit', 'on', false) "
                  "WHERE current_setting('synchronous_commit') = 'off'",
                  options.lock_timeout_ms, options.statement_timeout_ms));
  if (const auto* failure = std::get_if<PostgresFailure>(&answer))
    return ErrorOf(*failure, PostgresAction::kConnect, PostgresPlace(options));
  return Ok();
}

// --- statements

PostgresAnswer PostgresConnection::Run(const std::string& sql, const std::vector<Value>& parameters) {
  std::vector<std::optional<std::string>> texts;
  std::vector<const char*> values;
  for (const Value& value : parameters) texts.push_back(ParameterText(value));
  if (std::any_of(texts.begin(), texts.end(), HoldsZeroByte))
    return PostgresFailure{"22021", "text holds a zero byte", false};
  for (const auto& text : texts) values.push_back(text ? text->c_str() : nullptr);
  return Await(PQsendQueryParams(connection_, sql.c_str(), static_cast<int>(values.size()), nullptr,
                                 values.data(), nullptr, nullptr, 0) == 1);
}

PostgresAnswer PostgresConnection::RunScript(const std::string& script) {
  return Await(PQsendQuery(connection_, script.c_str()) == 1);
}

PostgresAnswer PostgresConnection::Await(bool sent) {
  if (!sent) return Lost(PQerrorMessage(connection_));
  const auto deadline = Clock::now() + std::chrono::milliseconds(answer_timeout_ms_);
  if (!Flush(deadline)) return Lost(PQerrorMessage(connection_));
  return Collect(deadline);
}

bool PostgresConnection::Flush(Clock::time_point deadline) {
  while (true) {
    const int more = PQflush(connection_);
    if (more <= 0) return more == 0;
    if (!AwaitSocket(PQsocket(connection_), POLLIN | POLLOUT, deadline)) return false;
    if (PQconsumeInput(connection_) == 0) return false;
  }
}

bool PostgresConnection::AwaitInput(Clock::time_point deadline) {
  while (PQisBusy(connection_) == 1) {
    if (!AwaitSocket(PQsocket(connection_), POLLIN, deadline)) return false;
    if (PQconsumeInput(connection_) == 0) return true;  // PQgetResult tells what happened
  }
  return true;
}

PostgresAnswer PostgresConnection::Collect(Clock::time_point deadline) {
  PostgresResult last;
  std::optional<PostgresFailure> failure;
  while (true) {
    if (!AwaitInput(deadline)) return Lost("it did not answer in time");
    PostgresResult result(PQgetResult(connection_));
    if (result == nullptr) break;
    if (!failure && IsFailure(result.get())) failure = FailureOf(result.get());
    last = std::move(result);
  }
  if (failure) {
    failure->connection_lost = failure->connection_lost || PQstatus(connection_) != CONNECTION_OK;
    broken_ = broken_ || failure->connection_lost;
    return *std::move(failure);
  }
  if (last == nullptr || PQstatus(connection_) != CONNECTION_OK) return Lost(PQerrorMessage(connection_));
  return last;
}

PostgresFailure PostgresConnection::Lost(std::string message) {
  broken_ = true;
  return {"", std::move(message), true};
}

PostgresFailure PostgresConnection::FailureOf(const pg_result* result) {
  PostgresFailure failure{Field(result, PG_DIAG_SQLSTATE), Field(result, PG_DIAG_MESSAGE_PRIMARY), false};
  const std::string severity = Field(result, PG_DIAG_SEVERITY_NONLOCALIZED);
  failure.connection_lost = severity == "FATAL" || severity == "PANIC";
  if (failure.message.empty()) failure.message = PQresultErrorMessage(result);
  // Connecting again may reach the server that has become the primary.
  if (failure.sqlstate == "25006") broken_ = true;
  return failure;
}

bool PostgresConnection::usable() {
  if (broken_ || PQstatus(connection_) != CONNECTION_OK) return false;
  if (PQtransactionStatus(connection_) != PQTRANS_IDLE) return false;
  ::pollfd ready{PQsocket(connection_), POLLIN, 0};
  while (::poll(&ready, 1, 0) > 0) {
    if (PQconsumeInput(connection_) == 0) return false;
  }
  return true;
}

}  // namespace firn::db
