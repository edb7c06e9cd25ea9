#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <variant>

#include "firn/base/result.h"
#include "firn/db/session.h"

namespace firn::db {

struct SqliteOptions {
  std::string path;    ///< the database file
  bool create = true;  ///< make the file, and the folders above it, when it is not there
  bool read_only = false;
  int64_t busy_timeout_ms = 10'000;  ///< how long a statement waits for another process's lock
};

struct PostgresOptions {
  /// libpq's connection parameters by keyword (`host`, `dbname`, `password`, `sslmode` ...). What is not
  /// among them comes from libpq's environment (PGPASSWORD, .pgpass ...).
  std::map<std::string, std::string> parameters;
  int64_t lock_timeout_ms = 10'000;       ///< how long a statement waits for another session's lock
  int64_t statement_timeout_ms = 30'000;  ///< the server gives a statement up after this, we 5 s later
};

/// Where a database is and how to reach it. May hold a password: print PlaceOf, never the parameters.
using DatabaseOptions = std::variant<SqliteOptions, PostgresOptions>;

/// `sqlite:path`, `sqlite:///path` (as SQLAlchemy writes it: a fourth slash makes it absolute) or
/// `jdbc:sqlite:path`; `postgresql://`, `postgres://` and `jdbc:postgresql:` URIs with libpq's parameters;
/// SQLAlchemy's driver names (`postgresql+psycopg2://`) are passed over.
/// kUnsupported for other databases and for databases in memory. No error text holds a part of the URI that
/// could be a secret.
Result<DatabaseOptions> ParseDatabaseUri(std::string_view uri);

/// The database for people, without secrets: `sqlite:/srv/catalog.db`, `postgresql://user@host:5432/name`.
std::string PlaceOf(const DatabaseOptions& options);

Result<std::unique_ptr<Session>> OpenSession(const DatabaseOptions& options);

}  // namespace firn::db
