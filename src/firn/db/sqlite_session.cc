#include "firn/db/sqlite_session.h"

#include <sqlite3.h>

#include <filesystem>
#include <utility>

#include <fmt/format.h>

namespace firn::db {

namespace {

namespace fs = std::filesystem;

struct Meaning {
  ErrorKind kind;
  std::string_view text;
  std::string_view remedy;
};

Meaning MeaningOf(int code) {
  switch (code & 0xFF) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return {ErrorKind::kUnavailable, "the database is locked by another process",
              "Wait, or end the process that holds the lock."};
    case SQLITE_CANTOPEN:
      return {ErrorKind::kPermissionDenied, "the database cannot be opened",
              "Check that the path is a file and that this user may read and write it and its folder."};
    case SQLITE_PERM:
    case SQLITE_READONLY:
    case SQLITE_AUTH:
      return {ErrorKind::kPermissionDenied, "the database may not be written",
              "Give this user the right to write the file and its folder."};
    case SQLITE_FULL:
      return {ErrorKind::kResourceExhausted, "the disk is full",
              "Free space on the file system that holds the database."};
    case SQLITE_CORRUPT:
      return {ErrorKind::kCorrupt, "the database is damaged",
              "Restore it from a backup, or recover it with the sqlite3 tool."};
    case SQLITE_NOTADB:
      return {ErrorKind::kCorrupt, "the file is not a SQLite database", "Check the path."};
    case SQLITE_CONSTRAINT:
      return {ErrorKind::kAlreadyExists, "a key is already taken", ""};
    case SQLITE_ERROR:
      return {ErrorKind::kCorrupt, "a table or column is not as expected",
              "Check that the file holds what it should."};
    case SQLITE_NOMEM:
      return {ErrorKind::kResourceExhausted, "no memory", ""};
    case SQLITE_IOERR:
      return {ErrorKind::kIo, "the disk reported an error", ""};
    default:
      return {ErrorKind::kInternal, "unexpected", ""};
  }
}

Error MakeError(int code, const std::string& path, std::string_view action, const char* detail) {
  Meaning meaning = MeaningOf(code);
  Error error(meaning.kind,
              fmt::format("SQLite database {}: cannot {}: {} ({})", path, action, meaning.text, detail));
  return std::move(error).WithRemedy(std::string(meaning.remedy));
}

Error Missing(ErrorKind kind, const std::string& path, std::string_view what) {
  Error error(kind, fmt::format("SQLite database {}: {}", path, what));
  return std::move(error).WithRemedy("Check the path, or put the file back.");
}

/// A disk that fails in the middle of a write leaves it open what is on it.
Error OfAWrite(Error error) {
  if (error.kind() != ErrorKind::kIo) return error;
  return Error(ErrorKind::kUnknownOutcome, error.message()).WithRemedy(error.remedy());
}

Status OfAWrite(Status status) { return status.ok() ? status : OfAWrite(std::move(status).error()); }

Status MakeFolder(const std::string& path) {
  std::error_code failed;
  fs::create_directories(fs::absolute(path, failed).parent_path(), failed);
  if (!failed) return Ok();
  return Error(ErrorKind::kPermissionDenied,
               fmt::format("SQLite database {}: cannot make its folder: {}", path, failed.message()))
      .WithRemedy("Make the folder, or give this user the right to.");
}

}  // namespace

struct SqliteSession::Handle {
  sqlite3* db = nullptr;
  Handle() = default;
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle() { sqlite3_close_v2(db); }
};

/// A prepared statement; finalised at the end.
class SqliteSession::Statement {
 public:
  Statement() = default;
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;
  ~Statement() { sqlite3_finalize(statement_); }

  sqlite3_stmt** out() { return &statement_; }
  int Step() { return sqlite3_step(statement_); }

  int Bind(const std::vector<Value>& parameters) {
    for (size_t i = 0; i < parameters.size(); ++i) {
      int code = BindOne(static_cast<int>(i + 1), parameters[i]);
      if (code != SQLITE_OK) return code;
    }
    return SQLITE_OK;
  }

  Row ReadRow() const {
    std::vector<Value> columns;
    for (int i = 0; i < sqlite3_column_count(statement_); ++i) columns.push_back(ReadColumn(i));
    return Row(std::move(columns));
  }

 private:
  int BindOne(int index, const Value& value) {
    if (const auto* number = std::get_if<int64_t>(&value))
      return sqlite3_bind_int64(statement_, index, *number);
    if (const auto* text = std::get_if<std::string>(&value)) {
      return sqlite3_bind_text64(statement_, index, text->data(), text->size(), SQLITE_TRANSIENT,
                                 SQLITE_UTF8);
    }
    return sqlite3_bind_null(statement_, index);
  }

  Value ReadColumn(int index) const {
    switch (sqlite3_column_type(statement_, index)) {
      case SQLITE_NULL:
        return std::monostate{};
      case SQLITE_INTEGER:
        return int64_t{sqlite3_column_int64(statement_, index)};
      default: {
        const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement_, index));
        return std::string(text, static_cast<size_t>(sqlite3_column_bytes(statement_, index)));
      }
    }
  }

  sqlite3_stmt* statement_ = nullptr;
};

SqliteSession::SqliteSession(SqliteOptions options, std::unique_ptr<Handle> handle)
    : options_(std::move(options)), handle_(std::move(handle)) {}

SqliteSession::~SqliteSession() = default;

Result<std::unique_ptr<Session>> SqliteSession::Open(SqliteOptions options) {
  std::error_code failed;
  bool create = options.create && !options.read_only;
  if (!create && !fs::exists(options.path, failed))
    return Missing(ErrorKind::kNotFound, options.path, "the file does not exist");
  if (create) FIRN_TRY(MakeFolder(options.path));
  int flags = SQLITE_OPEN_NOMUTEX | (options.read_only ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE) |
              (create ? SQLITE_OPEN_CREATE : 0);
  auto handle = std::make_unique<Handle>();
  int code = sqlite3_open_v2(options.path.c_str(), &handle->db, flags, nullptr);
  if (code != SQLITE_OK) return MakeError(code, options.path, "open it", sqlite3_errstr(code));
  sqlite3_extended_result_codes(handle->db, 1);
  sqlite3_busy_timeout(handle->db, static_cast<int>(options.busy_timeout_ms));
  bool writable = !options.read_only;
  std::unique_ptr<SqliteSession> session(new SqliteSession(std::move(options), std::move(handle)));
  // Opening is lazy; the first read finds out whether this is a database at all.
  FIRN_TRY(session->Execute("PRAGMA schema_version; PRAGMA synchronous=FULL;"));
  // Where WAL cannot be had (another connection, a read-only folder) the database works as it is.
  if (writable) Ignore(session->Execute("PRAGMA journal_mode=WAL;"));
  return session;
}

Status SqliteSession::Execute(const std::string& script) {
  int code = sqlite3_exec(handle_->db, script.c_str(), nullptr, nullptr, nullptr);
  return code == SQLITE_OK ? Ok() : Status(LastError("use it"));
}

Status SqliteSession::Prepare(std::string_view sql, Statement& statement) {
  int code =
      sqlite3_prepare_v2(handle_->db, sql.data(), static_cast<int>(sql.size()), statement.out(), nullptr);
  return code == SQLITE_OK ? Ok() : Status(LastError("read it"));
}

Result<int64_t> SqliteSession::Change(std::string_view sql, const std::vector<Value>& parameters) {
  Statement statement;
  FIRN_TRY(Prepare(sql, statement));
  if (statement.Bind(parameters) != SQLITE_OK || statement.Step() != SQLITE_DONE)
    return OfAWrite(LastError("write to it"));
  return int64_t{sqlite3_changes(handle_->db)};
}

Result<std::vector<Row>> SqliteSession::Query(std::string_view sql, const std::vector<Value>& parameters) {
  Statement statement;
  FIRN_TRY(Prepare(sql, statement));
  if (statement.Bind(parameters) != SQLITE_OK) return LastError("read it");
  std::vector<Row> rows;
  int code = statement.Step();
  for (; code == SQLITE_ROW; code = statement.Step()) rows.push_back(statement.ReadRow());
  if (code != SQLITE_DONE) return LastError("read it");
  return rows;
}

Status SqliteSession::CheckUsable() {
  int moved = 0;
  int code = sqlite3_file_control(handle_->db, "main", SQLITE_FCNTL_HAS_MOVED, &moved);
  if (code == SQLITE_OK && moved != 0)
    return Missing(ErrorKind::kUnavailable, options_.path,
                   "the file was removed or replaced while it was open");
  return Ok();
}

Result<std::vector<std::string>> SqliteSession::ColumnsOf(const std::string& table) {
  FIRN_ASSIGN(auto rows, Query("SELECT name FROM pragma_table_info(?)", {table}));
  std::vector<std::string> names;
  for (const auto& row : rows) names.push_back(row.text(0));
  return names;
}

Error SqliteSession::LastError(std::string_view action) const {
  return MakeError(sqlite3_errcode(handle_->db), options_.path, action, sqlite3_errmsg(handle_->db));
}

Status SqliteSession::Begin() { return Execute("BEGIN IMMEDIATE"); }

Status SqliteSession::Commit() { return OfAWrite(Execute("COMMIT")); }

void SqliteSession::Rollback() noexcept { Ignore(Execute("ROLLBACK")); }

}  // namespace firn::db
