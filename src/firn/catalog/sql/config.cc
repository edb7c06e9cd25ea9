#include "firn/catalog/sql/config.h"

#include <filesystem>

#include <fmt/format.h>

namespace firn::catalog::sql {

namespace {

constexpr std::string_view kForms = "Write sqlite:path/to/catalog.db.";

bool StripPrefix(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

/// The path of `uri:`, absolute, relative ones against the folder of the file.
config::TypePtr<std::string> DatabaseUri() {
  return config::Custom<std::string>(
      "uri",
      [](const config::Node& node, config::Problems& problems, std::string* out) {
        if (!node.is_scalar()) {
          problems.Add(node, "expected a uri such as sqlite:lake/catalog.db");
          return false;
        }
        auto path = ParseSqliteUri(node.text());
        if (!path.ok()) {
          problems.Add(node, path.error().ToString());
          return false;
        }
        *out = config::ResolvePath(node, *path);
        return true;
      },
      "`sqlite:path`, `sqlite:///path`, `jdbc:sqlite:path`");
}

}  // namespace

Result<std::string> ParseSqliteUri(std::string_view uri) {
  std::string_view path = uri;
  StripPrefix(path, "jdbc:");
  if (!StripPrefix(path, "sqlite:") && !StripPrefix(path, "sqlite+pysqlite:")) {
    return Error(ErrorKind::kUnsupported,
                 fmt::format("catalog uri '{}' is not one of a SQLite database", uri))
        .WithRemedy(std::string(kForms));
  }
  if (path.starts_with("//") && !StripPrefix(path, "///")) {
    return Error(ErrorKind::kInvalidArgument, fmt::format("catalog uri '{}' names a host", uri))
        .WithRemedy(std::string(kForms));
  }
  if (path.empty() || path.starts_with(":memory:")) {
    return Error(ErrorKind::kUnsupported,
                 fmt::format("catalog uri '{}' is a database in memory, which nobody else could see", uri))
        .WithRemedy(std::string(kForms));
  }
  if (path.find('?') != std::string_view::npos || path.starts_with("file:")) {
    return Error(ErrorKind::kUnsupported, fmt::format("catalog uri '{}' has parameters", uri))
        .WithRemedy(std::string(kForms));
  }
  return std::string(path);
}

const config::Schema<SqlCatalogConfig>& SqlCatalogSchema() {
  static const auto schema =
      config::Schema<SqlCatalogConfig>()
          .Field("type", &SqlCatalogConfig::type, config::Text(),
                 "`sql`: tables are listed in a SQL database.")
          .Field("name", &SqlCatalogConfig::name, config::Text({.allow_empty = true}),
                 "`catalog_name` in the database, for one that other programs share under another name.",
                 "the key under catalogs:")
          .Required("uri", &SqlCatalogConfig::database_path, DatabaseUri(),
                    "The database, in the layout of PyIceberg's SqlCatalog and Java's JdbcCatalog.")
          .Required("warehouse", &SqlCatalogConfig::warehouse, config::Path(),
                    "Folder, or `s3://bucket/prefix`, under which new tables get their files.")
          .Field("busy_timeout", &SqlCatalogConfig::busy_timeout_ms,
                 config::Duration({.min = 0, .max = 600'000}),
                 "How long to wait for another process's lock on the database.")
          .Field("s3", &SqlCatalogConfig::s3, config::Object(store::S3AccessSchema()),
                 "How the warehouse is reached when it is s3://bucket/prefix.");
  return schema;
}

}  // namespace firn::catalog::sql
