#pragma once

#include <memory>
#include <string>

#include "firn/db/database.h"
#include "firn/db/postgres_connection.h"
#include "firn/db/session.h"

namespace firn::db {

/// A session of a PostgreSQL server, read committed. Queries outside a transaction, and the beginning of one,
/// are sent again on a new connection when the old one broke; everything else fails with the session.
class PostgresSession final : public Session {
 public:
  static Result<std::unique_ptr<Session>> Open(PostgresOptions options);

  Status Execute(const std::string& script) override;
  Result<int64_t> Change(std::string_view sql, const std::vector<Value>& parameters) override;
  Result<std::vector<Row>> Query(std::string_view sql, const std::vector<Value>& parameters) override;
  Result<std::vector<std::string>> ColumnsOf(const std::string& table) override;
  Status CheckUsable() override;

 private:
  PostgresSession(PostgresOptions options, std::unique_ptr<PostgresConnection> connection);
  Status Begin() override;
  Status Commit() override;
  void Rollback() noexcept override;
  PostgresAnswer RunAgainIfLost(const std::string& sql, const std::vector<Value>& parameters);
  Error ErrorOf(const PostgresAnswer& answer, PostgresAction action) const;
  /// Inside a transaction nothing is done before its COMMIT.
  PostgresAction write_action() const {
    return in_transaction_ ? PostgresAction::kRead : PostgresAction::kWrite;
  }

  const PostgresOptions options_;
  const std::string place_;
  std::unique_ptr<PostgresConnection> connection_;
  bool in_transaction_ = false;
};

/// `?` outside of quotes as `$1`, `$2` ...
std::string WithNumberedParameters(std::string_view sql);

}  // namespace firn::db
