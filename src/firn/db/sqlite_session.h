#pragma once

#include <memory>

#include "firn/db/database.h"
#include "firn/db/session.h"

namespace firn::db {

/// A SQLite database file. In WAL mode where the file allows it, so that readers and the one writer do not
/// wait for each other, with every commit synced. Transactions take the write lock at once.
class SqliteSession final : public Session {
 public:
  static Result<std::unique_ptr<Session>> Open(SqliteOptions options);
  ~SqliteSession() override;
  SqliteSession(const SqliteSession&) = delete;
  SqliteSession& operator=(const SqliteSession&) = delete;

  Status Execute(const std::string& script) override;
  Result<int64_t> Change(std::string_view sql, const std::vector<Value>& parameters) override;
  Result<std::vector<Row>> Query(std::string_view sql, const std::vector<Value>& parameters) override;
  Result<std::vector<std::string>> ColumnsOf(const std::string& table) override;
  Status CheckUsable() override;

 private:
  struct Handle;
  class Statement;

  SqliteSession(SqliteOptions options, std::unique_ptr<Handle> handle);
  Status Begin() override;
  Status Commit() override;
  void Rollback() noexcept override;
  Status Prepare(std::string_view sql, Statement& statement);
  Error LastError(std::string_view action) const;

  SqliteOptions options_;
  std::unique_ptr<Handle> handle_;
};

}  // namespace firn::db
