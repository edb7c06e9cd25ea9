#pragma once

#include <string>
#include <string_view>

#include "firn/base/result.h"
#include "firn/config/schema.h"
#include "firn/store/s3_access.h"

namespace firn::catalog::sql {

/// One entry of `catalogs:` with `type: sql`.
struct SqlCatalogConfig {
  std::string type = "sql";
  std::string name;  ///< `catalog_name` in the database; empty in the file: the key under `catalogs:`
  std::string database_path;  ///< from `uri`, absolute
  std::string warehouse;      ///< folder or location under which tables are made; tables of a folder get
                              ///< `file:///...` locations
  int64_t busy_timeout_ms = 10'000;
  store::S3Access s3;  ///< for locations that are s3://
};

/// The keys. After reading, the caller sets `name` to the key under `catalogs:` where it is empty.
const config::Schema<SqlCatalogConfig>& SqlCatalogSchema();

/// The database file of `sqlite:path`, `sqlite:///path` (as SQLAlchemy writes it: a fourth slash makes it
/// absolute) or `jdbc:sqlite:path`. kUnsupported for other databases and for databases in memory.
Result<std::string> ParseSqliteUri(std::string_view uri);

}  // namespace firn::catalog::sql
