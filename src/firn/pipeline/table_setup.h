#pragma once

#include <functional>
#include <memory>
#include <string>

#include "firn/base/result.h"
#include "firn/decode/decoder.h"
#include "firn/iceberg/catalog.h"
#include "firn/pipeline/config.h"
#include "firn/runtime/ids.h"

namespace arrow {
class MemoryPool;
}

namespace firn::pipeline {

struct OpenedTable {
  iceberg::LoadedTable table;
  bool created = false;
};

/// Gives the schema of a table that is to be made and has no declared columns.
using InferColumns = std::function<Result<iceberg::SchemaPtr>()>;

/// Loads the table, or makes it (and its namespace) when it is not there and `create` allows. A table that is
/// there must have the declared columns, in types that the declaration means; all contradictions are told at
/// once.
Result<OpenedTable> OpenOrCreateTable(iceberg::Catalog& catalog, const TableConfig& config,
                                      runtime::IdSource& ids, const InferColumns& infer);

/// Every declared column against the table: kInvalidArgument naming each that is missing or of another type.
Status CheckDeclaredColumns(const TableConfig& config, const iceberg::TableMetadata& table);

/// How records map onto the table's current schema.
Result<decode::BoundSchema> BindSchema(const PipelineConfig& config, const TableConfig& own,
                                       const iceberg::TableMetadata& table, arrow::MemoryPool* pool);

/// The evolution that applies: as configured, or by the product's default.
decode::Evolution EffectiveEvolution(const TableConfig& config);

iceberg::TableIdentifier Identifier(const TableName& name);

}  // namespace firn::pipeline
