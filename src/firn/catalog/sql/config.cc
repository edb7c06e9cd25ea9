#include "firn/catalog/sql/config.h"

#include <utility>

namespace firn::catalog::sql {

namespace {

/// The database of `uri:`; a relative path of a SQLite file is one from the folder of the pipeline file.
config::TypePtr<db::DatabaseOptions> DatabaseUri() {
  return config::Custom<db::DatabaseOptions>(
      "uri",
      [](const config::Node& node, config::Problems& problems, db::DatabaseOptions* out) {
        if (!node.is_scalar()) {
          problems.Add(node, "expected a uri such as sqlite:lake/catalog.db or postgresql://user@host/lake");
          return false;
        }
        auto database = db::ParseDatabaseUri(node.text());
        if (!database.ok()) {
          problems.Add(node, database.error().ToString());
          return false;
        }
        *out = *std::move(database);
        if (auto* sqlite = std::get_if<db::SqliteOptions>(out))
          sqlite->path = config::ResolvePath(node, sqlite->path);
        return true;
      },
      "`sqlite:path`, `sqlite:///path`, `jdbc:sqlite:path`, `postgresql://user:password@host:port/database`, "
      "`postgres://...`, `jdbc:postgresql://...`");
}

}  // namespace

const config::Schema<SqlCatalogConfig>& SqlCatalogSchema() {
  static const auto schema =
      config::Schema<SqlCatalogConfig>()
          .Field("type", &SqlCatalogConfig::type, config::Text(),
                 "`sql`: tables are listed in a SQL database.")
          .Field("name", &SqlCatalogConfig::name, config::Text({.allow_empty = true}),
                 "`catalog_name` in the database, for one that other programs share under another name.",
                 "the key under catalogs:")
          .Required("uri", &SqlCatalogConfig::database, DatabaseUri(),
                    "The database, in the layout of PyIceberg's SqlCatalog and Java's JdbcCatalog. SQLite or "
                    "PostgreSQL; for the latter libpq's connection parameters follow a `?` (`sslmode`, "
                    "`sslrootcert`, `connect_timeout` ...), and a password that is not in the uri comes from "
                    "`$PGPASSWORD` or `~/.pgpass`.")
          .Required("warehouse", &SqlCatalogConfig::warehouse, config::Path(),
                    "Folder, or `s3://bucket/prefix`, under which new tables get their files.")
          .Field("busy_timeout", &SqlCatalogConfig::busy_timeout_ms,
                 config::Duration({.min = 0, .max = 600'000}),
                 "How long to wait for another process's lock on the database.")
          .Field("statement_timeout", &SqlCatalogConfig::statement_timeout_ms,
                 config::Duration({.min = 1000, .max = 600'000}),
                 "PostgreSQL: how long a statement may take before the server ends it.")
          .Field("s3", &SqlCatalogConfig::s3, config::Object(store::S3AccessSchema()),
                 "How the warehouse is reached when it is s3://bucket/prefix.");
  return schema;
}

db::DatabaseOptions DatabaseOf(const SqlCatalogConfig& config) {
  db::DatabaseOptions options = config.database;
  if (auto* sqlite = std::get_if<db::SqliteOptions>(&options)) {
    sqlite->busy_timeout_ms = config.busy_timeout_ms;
  } else if (auto* postgres = std::get_if<db::PostgresOptions>(&options)) {
    postgres->lock_timeout_ms = config.busy_timeout_ms;
    postgres->statement_timeout_ms = config.statement_timeout_ms;
  }
  return options;
}

}  // namespace firn::catalog::sql
