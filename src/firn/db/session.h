#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "firn/base/result.h"

namespace firn::db {

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

/// A connection to a database that other processes use at the same time; opened by OpenSession (database.h).
/// Every commit is durable when it is acknowledged. Used by one thread at a time.
///
/// SQL is what SQLite and PostgreSQL both understand; parameters are written `?`. What differs between the
/// two (placeholders, types, catalogs of their own, locks) stays behind this interface.
///
/// A session whose connection broke connects again by itself where nothing can be doubled: for a query, or to
/// begin a transaction. A statement that writes is never sent twice.
///
/// Errors name the database and say what to do:
///   kUnavailable (retriable)  the server is not there, is starting or stopping, or another process holds a
///                             lock; the file was taken away while it was open; nothing changed
///   kNotFound                 the database to open is not there
///   kPermissionDenied         wrong password, missing right, read-only; nothing changed
///   kResourceExhausted        disk full; nothing changed
///   kAlreadyExists            a key is taken; nothing changed
///   kInvalidArgument          a value that the database does not take; nothing changed
///   kCorrupt                  not a database, a damaged one, or tables that are not as expected
///   kIo                       the disk failed while reading
///   kUnknownOutcome           the disk or the connection failed while a statement that writes, or a COMMIT,
///                             was under way: it may have been applied, or may yet be
class Session {
 public:
  virtual ~Session() = default;

  /// Statements without parameters, separated by semicolons.
  virtual Status Execute(const std::string& script) = 0;
  /// One statement that changes rows; how many it changed. Atomic and durable by itself when no transaction
  /// is open.
  virtual Result<int64_t> Change(std::string_view sql, const std::vector<Value>& parameters) = 0;
  virtual Result<std::vector<Row>> Query(std::string_view sql, const std::vector<Value>& parameters) = 0;
  /// Names of a table's columns; empty when there is no such table.
  virtual Result<std::vector<std::string>> ColumnsOf(const std::string& table) = 0;
  /// kUnavailable when this session is of no use any more: its connection is gone, or SQLite would go on with
  /// a file that was removed or replaced. Looks, does not ask the server.
  virtual Status CheckUsable() = 0;

 private:
  friend class Transaction;
  /// Takes the write lock at once where the database has one.
  virtual Status Begin() = 0;
  virtual Status Commit() = 0;
  virtual void Rollback() noexcept = 0;
};

/// Several statements as one; rolled back unless committed. An error of Commit other than kUnknownOutcome
/// means that nothing was changed.
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
