#include "firn/pipeline/table_setup.h"

#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "firn/commit/protocol/progress.h"
#include "firn/iceberg/model/property.h"
#include "firn/pipeline/table_definition.h"
#include "firn/route/declared_columns.h"

namespace firn::pipeline {

namespace {

using iceberg::NestedField;

Status EnsureNamespace(iceberg::Catalog& catalog, const iceberg::Namespace& ns) {
  iceberg::Namespace prefix;
  for (const std::string& level : ns) {
    prefix.push_back(level);
    FIRN_ASSIGN(bool exists, catalog.NamespaceExists(prefix));
    if (exists) continue;
    Status created = catalog.CreateNamespace(prefix, {});
    if (!created.ok() && created.error().kind() != ErrorKind::kAlreadyExists) return created;
  }
  return Ok();
}

Result<iceberg::LoadedTable> Create(iceberg::Catalog& catalog, const TableConfig& config,
                                    runtime::IdSource& ids, const InferColumns& infer) {
  iceberg::SchemaPtr schema;
  if (config.columns.empty()) {
    FIRN_ASSIGN(schema, infer());
  } else {
    FIRN_ASSIGN(schema, SchemaOfColumns(config.columns, config.format_version));
  }
  FIRN_ASSIGN(auto definition, TableDefinition(config, schema));
  definition.uuid = ids.Uuid();
  definition.properties[commit::kCreatedByFirn] = "true";
  FIRN_TRY(EnsureNamespace(catalog, config.name.ns));
  return catalog.CreateTable(Identifier(config.name), definition);
}

Status CheckWritable(const TableConfig& config, const iceberg::TableMetadata& table) {
  if (table.format_version < 2) {
    return Error(ErrorKind::kUnsupported,
                 fmt::format("table {} has format version 1, which Firn reads but does not write",
                             config.name.ToString()))
        .WithRemedy("Upgrade it: ALTER TABLE ... SET TBLPROPERTIES ('format-version'='2').");
  }
  return CheckDeclaredColumns(config, table);
}

}  // namespace

iceberg::TableIdentifier Identifier(const TableName& name) { return {name.ns, name.name}; }

decode::Evolution EffectiveEvolution(const TableConfig& config) {
  if (config.schema_evolution) return *config.schema_evolution;
  return config.columns.empty() ? decode::Evolution::kAdd : decode::Evolution::kNone;
}

Result<OpenedTable> OpenOrCreateTable(iceberg::Catalog& catalog, const TableConfig& config,
                                      runtime::IdSource& ids, const InferColumns& infer) {
  const std::string context = "table " + config.name.ToString();
  auto loaded = catalog.LoadTable(Identifier(config.name));
  bool created = false;
  if (!loaded.ok() && loaded.error().kind() == ErrorKind::kNotFound) {
    if (!config.create) {
      return Error(ErrorKind::kNotFound, "the table does not exist")
          .WithRemedy("Create it, or set create: true.")
          .WithContext(context);
    }
    loaded = Create(catalog, config, ids, infer);
    created = loaded.ok();
    if (!loaded.ok() && loaded.error().kind() == ErrorKind::kAlreadyExists) {
      loaded = catalog.LoadTable(Identifier(config.name));  // somebody else made it at the same time
    }
  }
  if (!loaded.ok()) return std::move(loaded).error().WithContext(context);
  FIRN_TRY(CheckWritable(config, *loaded->metadata));
  return OpenedTable{std::move(loaded).value(), created};
}

namespace {

Status CheckKafkaColumn(const TableConfig& config, const iceberg::TableMetadata& table) {
  const bool there = table.schema()->as_struct()->FindField(decode::kKafkaColumn) != nullptr;
  if (!config.kafka_columns || there || EffectiveEvolution(config) != decode::Evolution::kNone) return Ok();
  return Error(
             ErrorKind::kInvalidArgument,
             fmt::format("kafka_columns: the table has no column '{}', and schema_evolution: none adds none",
                         decode::kKafkaColumn))
      .WithRemedy("Set schema_evolution: add for one run, or kafka_columns: false.")
      .WithContext("table " + config.name.ToString());
}

}  // namespace

Status CheckDeclaredColumns(const TableConfig& config, const iceberg::TableMetadata& table) {
  FIRN_TRY(CheckKafkaColumn(config, table));
  if (config.columns.empty()) return Ok();
  FIRN_ASSIGN(auto declared, SchemaOfColumns(config.columns, table.format_version));
  const std::vector<std::string> problems =
      route::FindContradictions(*declared, *table.schema(), table.format_version);
  if (problems.empty()) return Ok();
  return Error(ErrorKind::kInvalidArgument, fmt::format("{}", fmt::join(problems, "; ")))
      .WithRemedy("Change `columns` to what the table has, or alter the table.")
      .WithContext("table " + config.name.ToString());
}

Result<decode::BoundSchema> BindSchema(const PipelineConfig& config, const TableConfig& own,
                                       const iceberg::TableMetadata& table, arrow::MemoryPool* pool) {
  decode::BoundSchema bound;
  bound.schema = table.schema();
  bound.unknown_fields = own.unknown_fields;
  bound.evolution = EffectiveEvolution(own);
  bound.max_columns = own.max_columns;
  bound.kafka_columns = own.kafka_columns;
  if (const auto mapping = iceberg::FindProperty(table.properties, iceberg::property::kNameMapping))
    bound.name_mapping = *mapping;
  bound.target_table = own.name.ToString();
  bound.dead_letter_tombstones = config.tombstones == TombstonePolicy::kDeadLetter;
  bound.max_record_bytes = config.max_record_bytes;
  bound.pool = pool;
  for (const ColumnConfig& column : own.columns) {
    const NestedField* field = bound.schema->as_struct()->FindField(column.name);
    if (field == nullptr) {
      return Error(ErrorKind::kInvalidArgument, fmt::format("declared column {} is no longer in table {}",
                                                            column.name, bound.target_table))
          .WithRemedy("Change `columns` to what the table has, or alter the table.");
    }
    bound.mappings[field->id] = {column.from, column.unit, column.encoding};
  }
  return bound;
}

}  // namespace firn::pipeline
