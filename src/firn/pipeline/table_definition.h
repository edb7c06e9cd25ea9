#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "firn/base/result.h"
#include "firn/iceberg/model/update.h"
#include "firn/pipeline/config.h"

namespace firn::pipeline {

/// `catalog.namespace.table` (any number of namespace levels, at least one); no part may be empty.
Result<TableName> ParseTableName(std::string_view text);

/// Schema of declared columns with fresh ids as Java assigns them; reserved and doubled names are errors.
Result<iceberg::SchemaPtr> SchemaOfColumns(const std::vector<ColumnConfig>& columns, int format_version);

/// Properties that every table made by Firn gets unless the user says otherwise, so that a stream does not
/// bury it.
iceberg::Properties DefaultTableProperties();

/// What the catalog is asked to create: schema (declared or inferred; with `_rescued` where unknown fields
/// are rescued), partitioning, order, properties over the defaults. Errors name the entry of `partition_by`
/// or `sort_by`. Location and uuid stay empty.
Result<iceberg::NewTable> TableDefinition(const TableConfig& config, const iceberg::SchemaPtr& schema);

/// The same as a CREATE TABLE statement in Spark's dialect, for people.
std::string CreateTableStatement(std::string_view table, const iceberg::NewTable& definition);

}  // namespace firn::pipeline
