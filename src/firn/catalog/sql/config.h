#pragma once

#include <cstdint>
#include <string>

#include "firn/base/result.h"
#include "firn/config/schema.h"
#include "firn/db/database.h"
#include "firn/store/s3_access.h"

namespace firn::catalog::sql {

/// One entry of `catalogs:` with `type: sql`.
struct SqlCatalogConfig {
  std::string type = "sql";
  std::string name;  ///< `catalog_name` in the database; empty in the file: the key under `catalogs:`
  db::DatabaseOptions database;  ///< from `uri`; a SQLite path is absolute
  std::string warehouse;         ///< folder or location under which tables are made; tables of a folder get
                                 ///< `file:///...` locations
  int64_t busy_timeout_ms = 10'000;
  int64_t statement_timeout_ms = 30'000;
  store::S3Access s3;  ///< for locations that are s3://
};

/// The keys. After reading, the caller sets `name` to the key under `catalogs:` where it is empty.
const config::Schema<SqlCatalogConfig>& SqlCatalogSchema();

/// `database` with the timeouts of the configuration.
db::DatabaseOptions DatabaseOf(const SqlCatalogConfig& config);

}  // namespace firn::catalog::sql
