#pragma once

#include <parquet/schema.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "firn/base/result.h"
#include "firn/iceberg/model/schema.h"

namespace firn::write {

/// The Parquet schema of a table's data files (spec, "Parquet" under "Appendix A"): field ids on every field,
/// three-level lists, key_value maps, decimals in the smallest integer that holds them, uuid with its
/// annotation, times in microseconds that are not adjusted to UTC. `unknown` columns are not stored: leave
/// them out with StoredSchema first.
Result<std::shared_ptr<parquet::schema::GroupNode>> MakeParquetSchema(const iceberg::Schema& schema);

/// The schema without its top-level `unknown` columns, which data files do not hold; kUnsupported where they
/// are nested.
Result<iceberg::SchemaPtr> StoredSchema(const iceberg::SchemaPtr& schema);

/// Dotted Parquet path of each leaf column by field id.
std::map<int32_t, std::string> LeafPaths(const parquet::schema::GroupNode& root);

}  // namespace firn::write
