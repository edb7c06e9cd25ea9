#include "firn/db/database.h"

#include <fmt/format.h>

#include "firn/db/postgres_session.h"
#include "firn/db/postgres_uri.h"
#include "firn/db/sqlite_session.h"

namespace firn::db {

namespace {

constexpr std::string_view kForms = "Write sqlite:path/to/catalog.db or postgresql://user@host/database.";

bool StripPrefix(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

Error Refused(ErrorKind kind, std::string message) {
  return Error(kind, std::move(message)).WithRemedy(std::string(kForms));
}

Result<SqliteOptions> ParseSqlite(std::string_view path) {
  if (path.starts_with("//") && !StripPrefix(path, "///"))
    return Refused(ErrorKind::kInvalidArgument, "the uri of a SQLite database names a host");
  if (path.empty() || path.starts_with(":memory:")) {
    return Refused(ErrorKind::kUnsupported,
                   "the uri is of a SQLite database in memory, which nobody else could see");
  }
  if (path.find('?') != std::string_view::npos || path.starts_with("file:"))
    return Refused(ErrorKind::kUnsupported, "the uri of a SQLite database has parameters");
  SqliteOptions options;
  options.path = path;
  return options;
}

}  // namespace

Result<DatabaseOptions> ParseDatabaseUri(std::string_view uri) {
  std::string_view rest = uri;
  StripPrefix(rest, "jdbc:");
  const size_t colon = rest.find(':');
  if (colon == std::string_view::npos)
    return Refused(ErrorKind::kInvalidArgument, "the uri of the database names no kind of database");
  const std::string_view scheme = rest.substr(0, colon);
  const std::string_view kind = scheme.substr(0, scheme.find('+'));  // SQLAlchemy's `kind+driver`
  rest.remove_prefix(colon + 1);
  if (kind == "sqlite") {
    FIRN_ASSIGN(SqliteOptions options, ParseSqlite(rest));
    return DatabaseOptions(std::move(options));
  }
  if (kind == "postgresql" || kind == "postgres") {
    FIRN_ASSIGN(PostgresOptions options, ParsePostgresUri(rest));
    return DatabaseOptions(std::move(options));
  }
  return Refused(ErrorKind::kUnsupported, fmt::format("'{}' is no kind of database that Firn knows", kind));
}

std::string PlaceOf(const DatabaseOptions& options) {
  if (const auto* sqlite = std::get_if<SqliteOptions>(&options)) return "sqlite:" + sqlite->path;
  return PostgresPlace(std::get<PostgresOptions>(options));
}

Result<std::unique_ptr<Session>> OpenSession(const DatabaseOptions& options) {
  if (const auto* sqlite = std::get_if<SqliteOptions>(&options)) return SqliteSession::Open(*sqlite);
  return PostgresSession::Open(std::get<PostgresOptions>(options));
}

}  // namespace firn::db
