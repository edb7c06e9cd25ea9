#pragma once

#include "firn/config/node.h"
#include "firn/config/problems.h"
#include "firn/config/schema.h"
#include "firn/pipeline/config.h"

namespace firn::pipeline {

/// `catalog.namespace.table`.
config::TypePtr<TableName> TableNameText();

/// The keys of one entry of `tables:`.
const config::Schema<TableConfig>& TableSchema();

/// What no single key shows: columns that Iceberg reserves or that collide, types that do not parse or do not
/// fit the format version, partition and sort fields without a column, keys that `create: false` makes idle.
/// `node` is the entry that was read.
void CheckTable(const TableConfig& config, const config::Node& node, config::Problems& problems);

}  // namespace firn::pipeline
