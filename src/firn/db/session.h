#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "firn/base/result.h"

namespace firn::db {

struct SessionOptions {
  std::string path;    ///< the database file
  bool create = true;  ///< make the file, and the folders above it, when it is not there
  bool read_only = false;
  int64_t busy_timeout_ms = 5000;  ///< how long a statement waits for another process's lock
};

/// A bound parameter or a column: null, an integer or text.
using Value = std::variant<std::monostate, int64_t, std::string>;

/// One row of an answer.
class Row {
 public:
  explicit Row(std::vector<Value> columns) : columns_(std::move(columns)) {}
  bool is_null(size_t column) const { return std::holds_alternative<std::monostate>(columns_[column]); }
  /// Empty for null; integers as decimal text.
  std::string text(size_t column) const;
  /// 0 for null and for text.
  int64_t integer(size_t column) const;

 private:
  std::vector<Value> columns_;
};

/// A connection to a SQLite database that other processes may open at the same time. In WAL mode where the
/// file allows it, so that readers and the one writer do not wait for each other, with every commit synced.
/// Used by one thread at a time.
///
/// Errors name the file and say what to do:
///   kUnavailable (retriable)  another process holds the lock, or the file was taken away or replaced while
///   it was open;
///                             the statement changed nothing
///   kNotFound                 the file to open is not there
///   kPermissionDenied         the file, or its folder, may not be read or written; nothing changed
///   kResourceExhausted        disk full; nothing changed
///   kAlreadyExists            a key is taken; nothing changed
///   kCorrupt                  not a database, or a damaged one
///   kIo                       the disk failed: whether a statement that writes was applied is not known
class Session {
 public:
  static Result<std::unique_ptr<Session>> Open(SessionOptions options);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// Statements without parameters, separated by semicolons.
  Status Execute(const std::string& script);
  /// One statement that changes rows; how many it changed. Atomic and durable by itself when no transaction
  /// is open.
  Result<int64_t> Change(std::string_view sql, const std::vector<Value>& parameters);
  Result<std::vector<Row>> Query(std::string_view sql, const std::vector<Value>& parameters);

  /// kUnavailable when the file at the path is no longer the one that is open: SQLite would go on with the
  /// unlinked one.
  Status CheckInPlace();
  const std::string& path() const { return options_.path; }

 private:
  friend class Transaction;
  struct Handle;
  class Statement;

  Session(SessionOptions options, std::unique_ptr<Handle> handle);
  Status Prepare(std::string_view sql, Statement& statement);
  Error LastError(std::string_view action) const;

  SessionOptions options_;
  std::unique_ptr<Handle> handle_;
};

/// Several statements as one. Takes the write lock at once (BEGIN IMMEDIATE); rolled back unless committed.
class Transaction {
 public:
  static Result<Transaction> Begin(Session& session);
  Transaction(Transaction&& other) noexcept;
  Transaction& operator=(Transaction&&) = delete;
  ~Transaction();
  Status Commit();

 private:
  explicit Transaction(Session& session) : session_(&session) {}
  Session* session_;  ///< null: over
};

}  // namespace firn::db
