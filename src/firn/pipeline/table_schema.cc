#include "firn/pipeline/table_schema.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "firn/pipeline/column_type.h"
#include "firn/pipeline/table_definition.h"

namespace firn::pipeline {

namespace {

using config::Node;
using config::Problems;

const config::Schema<ColumnConfig>& ColumnSchema() {
  static const auto schema =
      config::Schema<ColumnConfig>()
          .Required("name", &ColumnConfig::name, config::Text(), "Name of the column in the table.")
          .Required("type", &ColumnConfig::type, config::Text({.allowed = "an Iceberg type"}),
                    "`int`, `decimal(9,2)`, `timestamp`, `list<string>`, `map<string, long>`, `struct<a: "
                    "int, b: string>` ...")
          .Field("from", &ColumnConfig::from, config::Text(), "Field of the record, dotted for a nested one.",
                 "the name")
          .Field("required", &ColumnConfig::required, config::Boolean(),
                 "A record without a value is a bad record.")
          .Field("doc", &ColumnConfig::doc, config::Text({.allow_empty = true}), "Comment kept in the table.")
          .Field("unit", &ColumnConfig::unit,
                 config::Choice<decode::TimeUnit>({{"seconds", decode::TimeUnit::kSeconds},
                                                   {"millis", decode::TimeUnit::kMillis},
                                                   {"micros", decode::TimeUnit::kMicros},
                                                   {"nanos", decode::TimeUnit::kNanos}}),
                 "Unit of epoch numbers in a date, time or timestamp column; without it numbers are bad "
                 "records.")
          .Field("encoding", &ColumnConfig::encoding,
                 config::Choice<decode::BytesEncoding>(
                     {{"base64", decode::BytesEncoding::kBase64}, {"hex", decode::BytesEncoding::kHex}}),
                 "How text stands for bytes in a column that is, or has in it, `binary` or `fixed`.",
                 "base64; text of Avro and Parquet is its own bytes");
  return schema;
}

std::string Lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

/// Entry `index` of the list under `key`, else the nearest node above it that was written.
Node ItemOf(const Node& node, std::string_view key, size_t index) {
  const std::optional<Node> list = node.Find(key);
  if (!list) return node;
  const std::vector<Node> items = list->Items();
  return index < items.size() ? items[index] : *list;
}

Node ChildOr(const Node& node, std::string_view key) { return node.Find(key).value_or(node); }

bool IsTimeLike(const iceberg::Type& type) {
  switch (type.id()) {
    case iceberg::TypeId::kDate:
    case iceberg::TypeId::kTime:
    case iceberg::TypeId::kTimestamp:
    case iceberg::TypeId::kTimestampTz:
    case iceberg::TypeId::kTimestampNs:
    case iceberg::TypeId::kTimestampTzNs:
      return true;
    default:
      return false;
  }
}

void CheckColumnType(const ColumnConfig& column, int format_version, const Node& node, Problems& problems) {
  int32_t next_id = 1;
  const Result<iceberg::TypePtr> type = ParseColumnType(column.type, next_id);
  if (!type.ok()) {
    problems.Add(ChildOr(node, "type"), type.error().ToString());
    return;
  }
  if ((*type)->min_format_version() > format_version) {
    problems.Add(ChildOr(node, "type"),
                 fmt::format("{} needs format_version: {}", column.type, (*type)->min_format_version()));
  }
  if (column.unit != decode::TimeUnit::kNone && !IsTimeLike(**type)) {
    problems.Add(
        ChildOr(node, "unit"),
        fmt::format("a unit is for dates, times and timestamps, and this column is {}", column.type));
  }
  if (column.encoding != decode::BytesEncoding::kDefault && !decode::HoldsBytes(**type)) {
    problems.Add(ChildOr(node, "encoding"),
                 fmt::format("an encoding is for text that stands for binary or fixed, and this column is {}",
                             column.type));
  }
}

void CheckColumnName(const ColumnConfig& column, std::map<std::string, std::string>& seen, const Node& node,
                     Problems& problems) {
  if (iceberg::IsReservedColumnName(column.name)) {
    problems.Add(
        ChildOr(node, "name"),
        fmt::format(
            "Iceberg reserves the name {}; call the column otherwise and take the field with from: {}",
            column.name, column.from.empty() ? column.name : column.from));
  }
  const auto [earlier, fresh] = seen.emplace(Lower(column.name), column.name);
  if (fresh) return;
  problems.Add(ChildOr(node, "name"),
               earlier->second == column.name
                   ? fmt::format("the column {} is declared twice", column.name)
                   : fmt::format("{} and {} differ only in case, which engines cannot tell apart",
                                 earlier->second, column.name));
}

void CheckPartitioning(const TableConfig& config, const iceberg::Schema& schema, const Node& node,
                       Problems& problems) {
  for (size_t i = 0; i < config.partition_by.size(); ++i) {
    const auto field = iceberg::ParsePartitionField(config.partition_by[i], schema);
    if (!field.ok()) problems.Add(ItemOf(node, "partition_by", i), field.error().ToString());
  }
  for (size_t i = 0; i < config.sort_by.size(); ++i) {
    const auto field = iceberg::ParseSortField(config.sort_by[i], schema);
    if (!field.ok()) problems.Add(ItemOf(node, "sort_by", i), field.error().ToString());
  }
}

/// What only the whole definition shows: doubled partition fields, refused properties.
void CheckDefinition(const TableConfig& config, const iceberg::SchemaPtr& schema, const Node& node,
                     Problems& problems) {
  Result<iceberg::NewTable> definition = TableDefinition(config, schema);
  if (!definition.ok()) {
    problems.Add(ChildOr(node, "partition_by"), definition.error().ToString());
    return;
  }
  definition->uuid = "00000000-0000-4000-8000-000000000000";
  definition->location = "file:///check";
  const auto metadata = iceberg::NewTableMetadata(*definition, 0);
  if (!metadata.ok()) problems.Add(ChildOr(node, "properties"), metadata.error().ToString());
}

void CheckIdleKeys(const TableConfig& config, const Node& node, Problems& problems) {
  if (config.create) return;
  for (const std::string_view key : {"partition_by", "sort_by", "format_version", "properties"}) {
    if (const std::optional<Node> idle = node.Find(key)) {
      problems.Add(*idle,
                   "only says how a table is made, and create: false makes none; take one of the two out");
    }
  }
}

const config::Schema<MatchConfig>& MatchSchema() {
  static const auto schema =
      config::Schema<MatchConfig>()
          .Field("topic", &MatchConfig::topic, config::Text(), "Regular expression for the whole topic.",
                 "any")
          .Field("field", &MatchConfig::field, config::MapOf(config::Text(), "<path>"),
                 "Regular expression for the whole value of a field, read before the record is decoded; "
                 "several must all match.");
  return schema;
}

}  // namespace

config::TypePtr<TableName> TableNameText() {
  return config::Parsed<TableName>(
      "table name", [](std::string_view text) { return ParseTableName(text); },
      [](const TableName& name) { return name.name.empty() ? std::string() : name.ToString(); });
}

const config::Schema<TableConfig>& TableSchema() {
  using decode::Evolution;
  using decode::UnknownFields;
  static const auto schema =
      config::Schema<TableConfig>()
          .Required("name", &TableConfig::name, TableNameText(),
                    "`catalog.namespace.table`; with `{topic}`, `{topic:N}` (group N of `match.topic`) or "
                    "`{field.path}` in namespace or table the rule makes many tables.")
          .Field("match", &TableConfig::match, config::Object(MatchSchema()),
                 "Which records the rule takes; the first rule that matches decides.", "all")
          .Field("max_tables", &TableConfig::max_tables, config::Integer<int32_t>({.min = 1, .max = 100'000}),
                 "A name with placeholders that would make more tables sends the record to dead letters.")
          .Field("columns", &TableConfig::columns, config::ListOf(config::Object(ColumnSchema())),
                 "Columns of a table to create, and for its life how records map onto them.",
                 "the table's own; of a new table inferred from a sample of records")
          .Field("partition_by", &TableConfig::partition_by, config::ListOf(config::Text()),
                 "`day(ts)`, `bucket(16, id)`, `truncate(4, code)`, `year`, `month`, `hour`, or a plain "
                 "column; `days(ts)` and its kin are "
                 "understood too.")
          .Field("sort_by", &TableConfig::sort_by, config::ListOf(config::Text()),
                 "Order of the rows in each file: `origin`, `origin desc`, `bucket(8, id) asc nulls last`.")
          .Field("format_version", &TableConfig::format_version,
                 config::Integer<int32_t>({.min = 2, .max = 3}),
                 "Iceberg format version of a table to create.")
          .Field("properties", &TableConfig::properties, config::MapOf(config::Text({.allow_empty = true})),
                 "Table properties of a table to create, under Iceberg's own names.")
          .Field("create", &TableConfig::create, config::Boolean(),
                 "Make the table when it is not there; false: it must be.")
          .Field("branch", &TableConfig::branch, config::Text(), "Branch that commits go to.")
          .Field(
              "schema_evolution", &TableConfig::schema_evolution,
              config::Choice<Evolution>({{"none", Evolution::kNone},
                                         {"add", Evolution::kAdd},
                                         {"add_and_widen", Evolution::kAddAndWiden}}),
              "What fields of the records may do to the table: nothing, add columns, or widen types as well.",
              "none with declared columns, add_and_widen with a schema registry, else add")
          .Field("unknown_fields", &TableConfig::unknown_fields,
                 config::Choice<UnknownFields>({{"ignore", UnknownFields::kIgnore},
                                                {"rescue", UnknownFields::kRescue},
                                                {"dead_letter", UnknownFields::kDeadLetter}}),
                 "Fields without a column that evolution does not take: counted and left out, kept as JSON "
                 "in one column `_rescued`, or the "
                 "record is a dead letter.")
          .Field("max_columns", &TableConfig::max_columns,
                 config::Integer<int32_t>({.min = 1, .max = 100'000}),
                 "Evolution adds no columns (nested ones count) beyond this.")
          .Field(
              "kafka_columns", &TableConfig::kafka_columns, config::Boolean(),
              "Each row gets the struct `_kafka` {topic, partition, offset, timestamp, key, headers} of its "
              "record. Only with a Kafka source.");
  return schema;
}

void CheckTable(const TableConfig& config, const Node& node, Problems& problems) {
  CheckIdleKeys(config, node, problems);
  if (config.columns.empty()) return;
  const size_t before = problems.size();
  std::map<std::string, std::string> seen;
  for (size_t i = 0; i < config.columns.size(); ++i) {
    const Node column = ItemOf(node, "columns", i);
    CheckColumnName(config.columns[i], seen, column, problems);
    CheckColumnType(config.columns[i], config.format_version, column, problems);
  }
  if (problems.size() != before) return;  // what follows would only repeat it
  const Result<iceberg::SchemaPtr> schema = SchemaOfColumns(config.columns, config.format_version);
  if (!schema.ok()) {
    problems.Add(ChildOr(node, "columns"), schema.error().ToString());
    return;
  }
  CheckPartitioning(config, **schema, node, problems);
  if (problems.size() == before) CheckDefinition(config, *schema, node, problems);
}

}  // namespace firn::pipeline
