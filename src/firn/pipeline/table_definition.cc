#include "firn/pipeline/table_definition.h"

#include <cctype>
#include <utility>

#include <fmt/format.h>

#include "firn/decode/kafka_columns.h"
#include "firn/pipeline/column_type.h"

namespace firn::pipeline {

namespace {

using iceberg::NestedField;
using iceberg::Type;

std::string SqlType(const Type& type) {
  switch (type.id()) {
    case iceberg::TypeId::kLong:
      return "bigint";
    case iceberg::TypeId::kTimestamp:
      return "timestamp_ntz";
    case iceberg::TypeId::kTimestampTz:
      return "timestamp";
    case iceberg::TypeId::kFixed:
      return "binary";
    case iceberg::TypeId::kUuid:
      return "string";
    case iceberg::TypeId::kList:
      return fmt::format("array<{}>", SqlType(*type.element().type));
    case iceberg::TypeId::kMap:
      return fmt::format("map<{}, {}>", SqlType(*type.key().type), SqlType(*type.value().type));
    case iceberg::TypeId::kStruct: {
      std::string text;
      for (const NestedField& field : type.fields()) {
        text +=
            fmt::format("{}{}: {}", text.empty() ? "" : ", ", QuotedName(field.name), SqlType(*field.type));
      }
      return fmt::format("struct<{}>", text);
    }
    default:
      return type.ToString();
  }
}

std::string SqlTransform(const iceberg::Transform& transform, const std::string& column) {
  switch (transform.kind()) {
    case iceberg::TransformKind::kIdentity:
      return column;
    case iceberg::TransformKind::kBucket:
    case iceberg::TransformKind::kTruncate:
      return fmt::format("{}({}, {})",
                         transform.kind() == iceberg::TransformKind::kBucket ? "bucket" : "truncate",
                         transform.parameter(), column);
    default:
      return fmt::format("{}({})", transform.ToString(), column);
  }
}

std::string Literal(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("''") : std::string(1, c);
  return quoted + "'";
}

std::string ColumnLines(const iceberg::Schema& schema) {
  std::string text;
  for (const NestedField& field : schema.fields()) {
    text += fmt::format("{}  {} {}{}{}", text.empty() ? "" : ",\n", QuotedName(field.name),
                        SqlType(*field.type), field.required ? " NOT NULL" : "",
                        field.doc.empty() ? "" : " COMMENT " + Literal(field.doc));
  }
  return text;
}

std::string PartitionLine(const iceberg::NewTable& definition) {
  std::string text;
  for (const iceberg::PartitionField& field : definition.spec.fields) {
    const std::string column = QuotedName(definition.schema->FullName(field.source_id));
    text += fmt::format("{}{}", text.empty() ? "" : ", ", SqlTransform(field.transform, column));
  }
  return text.empty() ? text : fmt::format("\nPARTITIONED BY ({})", text);
}

std::string PropertyLines(const iceberg::NewTable& definition) {
  std::string text = fmt::format("\n  'format-version' = '{}'", definition.format_version);
  for (const auto& [key, value] : definition.properties)
    text += fmt::format(",\n  {} = {}", Literal(key), Literal(value));
  return text;
}

std::string OrderLine(std::string_view table, const iceberg::NewTable& definition) {
  std::string text;
  for (const iceberg::SortField& field : definition.order.fields) {
    const std::string column = QuotedName(definition.schema->FullName(field.source_id));
    text += fmt::format("{}{}{}{}", text.empty() ? "" : ", ", SqlTransform(field.transform, column),
                        field.direction == iceberg::SortDirection::kAsc ? " ASC" : " DESC",
                        field.null_order == iceberg::NullOrder::kFirst ? " NULLS FIRST" : " NULLS LAST");
  }
  return text.empty() ? text : fmt::format("\nALTER TABLE {} WRITE ORDERED BY {};", table, text);
}

Result<iceberg::PartitionSpec> SpecOf(const std::vector<std::string>& texts, const iceberg::Schema& schema) {
  iceberg::PartitionSpec spec;
  for (const std::string& text : texts) {
    FIRN_ASSIGN_CTX(iceberg::PartitionField field, iceberg::ParsePartitionField(text, schema),
                    fmt::format("partition_by '{}'", text));
    field.field_id = iceberg::kFirstPartitionFieldId + static_cast<int32_t>(spec.fields.size());
    spec.fields.push_back(std::move(field));
  }
  FIRN_TRY_CTX(iceberg::ValidatePartitionSpec(spec, schema), "partition_by");
  return spec;
}

Result<iceberg::SortOrder> OrderOf(const std::vector<std::string>& texts, const iceberg::Schema& schema) {
  iceberg::SortOrder order;
  for (const std::string& text : texts) {
    FIRN_ASSIGN_CTX(iceberg::SortField field, iceberg::ParseSortField(text, schema),
                    fmt::format("sort_by '{}'", text));
    order.fields.push_back(field);
  }
  if (!order.fields.empty()) order.order_id = 1;
  FIRN_TRY_CTX(iceberg::ValidateSortOrder(order, schema), "sort_by");
  return order;
}

}  // namespace

Result<iceberg::SchemaPtr> SchemaOfColumns(const std::vector<ColumnConfig>& columns, int format_version) {
  std::vector<NestedField> fields;
  int32_t next_id = 1;
  for (const ColumnConfig& column : columns) {
    NestedField field;
    field.id = next_id++;
    field.name = column.name;
    field.required = column.required;
    field.doc = column.doc;
    FIRN_ASSIGN_CTX(field.type, ParseColumnType(column.type, next_id),
                    fmt::format("column '{}'", column.name));
    fields.push_back(std::move(field));
  }
  const iceberg::Schema as_written(0, std::move(fields));
  int32_t fresh_id = 1;
  iceberg::SchemaPtr schema = iceberg::AssignFreshIds(as_written, fresh_id);
  FIRN_TRY(iceberg::ValidateSchema(*schema, format_version));
  return schema;
}

iceberg::Properties DefaultTableProperties() {
  return {{"write.metadata.delete-after-commit.enabled", "true"},
          {"history.expire.max-snapshot-age-ms", "432000000"},
          {"history.expire.min-snapshots-to-keep", "1"}};
}

namespace {

iceberg::SchemaPtr WithColumn(const iceberg::SchemaPtr& schema, std::string_view name, iceberg::TypePtr type,
                              std::string doc) {
  std::vector<NestedField> fields = schema->fields();
  NestedField added;
  added.name = name;
  added.type = std::move(type);
  added.doc = std::move(doc);
  int32_t next_id = schema->highest_field_id() + 1;
  fields.push_back(iceberg::AssignFreshIds(iceberg::Schema(0, {std::move(added)}), next_id)->fields()[0]);
  return std::make_shared<const iceberg::Schema>(schema->schema_id(), std::move(fields),
                                                 schema->identifier_field_ids());
}

/// The columns that Firn fills itself, unless they are declared already.
iceberg::SchemaPtr WithOwnColumns(const TableConfig& config, iceberg::SchemaPtr schema) {
  const bool rescue = config.unknown_fields == decode::UnknownFields::kRescue;
  if (rescue && schema->FindByName(decode::kRescuedColumn) == nullptr) {
    schema = WithColumn(schema, decode::kRescuedColumn, Type::Primitive(iceberg::TypeId::kString),
                        "Fields of the record that no column takes, as JSON");
  }
  if (config.kafka_columns && schema->FindByName(decode::kKafkaColumn) == nullptr) {
    schema = WithColumn(schema, decode::kKafkaColumn, decode::KafkaColumnType(),
                        "Where the record stood in Kafka");
  }
  return schema;
}

}  // namespace

Result<iceberg::NewTable> TableDefinition(const TableConfig& config, const iceberg::SchemaPtr& schema) {
  iceberg::NewTable table;
  table.schema = WithOwnColumns(config, schema);
  table.format_version = config.format_version;
  FIRN_ASSIGN(table.spec, SpecOf(config.partition_by, *schema));
  FIRN_ASSIGN(table.order, OrderOf(config.sort_by, *schema));
  table.properties = DefaultTableProperties();
  for (const auto& [key, value] : config.properties) table.properties[key] = value;
  return table;
}

std::string CreateTableStatement(std::string_view table, const iceberg::NewTable& definition) {
  return fmt::format("CREATE TABLE {} (\n{}\n)\nUSING iceberg{}\nTBLPROPERTIES ({}\n);{}", table,
                     ColumnLines(*definition.schema), PartitionLine(definition), PropertyLines(definition),
                     OrderLine(table, definition));
}

}  // namespace firn::pipeline
