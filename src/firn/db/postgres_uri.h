#pragma once

#include <string>
#include <string_view>

#include "firn/base/result.h"
#include "firn/db/database.h"

namespace firn::db {

/// What follows `postgresql:` (or `postgres:`): `//user:password@host:port,host:port/name?sslmode=require`,
/// or as JDBC has it `name` or `//host/name?user=..&currentSchema=..`. Parameters are libpq's, and JDBC's
/// `ssl`, `currentSchema`, `ApplicationName` and `connectTimeout`.
Result<PostgresOptions> ParsePostgresUri(std::string_view after_scheme);

/// Without password and parameters.
std::string PostgresPlace(const PostgresOptions& options);

}  // namespace firn::db
