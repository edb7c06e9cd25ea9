#include "firn/pipeline/table_definition.h"

#include <utility>

#include <gtest/gtest.h>

#include "firn/pipeline/column_type.h"

namespace firn::pipeline {
namespace {

std::string TypeText(std::string_view text) {
  int32_t next_id = 1;
  const Result<iceberg::TypePtr> type = ParseColumnType(text, next_id);
  return type.ok() ? (*type)->ToString() : "error: " + type.error().ToString();
}

TEST(ColumnType, NestedTypesAreReadWithIdsInOrder) {
  int32_t next_id = 10;
  const Result<iceberg::TypePtr> type =
      ParseColumnType("map<string, struct<a: int, `odd name`: list<decimal(9, 2)>, c long>>", next_id);
  ASSERT_TRUE(type.ok()) << type.error().ToString();
  const iceberg::Type& value = *(*type)->value().type;
  EXPECT_EQ((*type)->key().id, 10);
  EXPECT_EQ((*type)->value().id, 11);
  EXPECT_EQ(value.fields()[1].name, "odd name");
  EXPECT_EQ(value.fields()[1].type->element().type->precision(), 9);
  EXPECT_EQ(value.fields()[2].type->id(), iceberg::TypeId::kLong);
  EXPECT_EQ(next_id, 16);
}

TEST(ColumnType, NestedFieldsMayBeRequired) {
  int32_t next_id = 1;
  const Result<iceberg::TypePtr> type = ParseColumnType(
      "struct<a: int required, b: list<string required>, c: map<string, long required> required, d: int>",
      next_id);
  ASSERT_TRUE(type.ok()) << type.error().ToString();
  const auto& fields = (*type)->fields();
  EXPECT_TRUE(fields[0].required);
  EXPECT_FALSE(fields[1].required);
  EXPECT_TRUE(fields[1].type->element().required);
  EXPECT_TRUE(fields[2].required);
  EXPECT_TRUE(fields[2].type->value().required);
  EXPECT_FALSE(fields[3].required);
  EXPECT_NE(TypeText("struct<a: int needed>").find("'>' is missing"), std::string::npos);
}

TEST(ColumnType, WrongTextNamesThePlaceAndWhatIsAllowed) {
  EXPECT_TRUE(TypeText("integer").starts_with(
      "error: type 'integer', character 8: 'integer' is no type. Types are boolean, int,"))
      << TypeText("integer");
  EXPECT_NE(TypeText("list<int").find("'>' is missing"), std::string::npos);
  EXPECT_NE(TypeText("struct<a: int,>").find("a field name is missing"), std::string::npos);
  EXPECT_NE(TypeText("int int").find("text after the type"), std::string::npos);
  EXPECT_NE(TypeText("").find("a type is missing"), std::string::npos);
}

TEST(ColumnType, DeepNestingIsRefusedNotARunawayRecursion) {
  std::string text;
  for (int i = 0; i < 100'000; ++i) text += "list<";
  EXPECT_NE(TypeText(text).find("nested too deeply"), std::string::npos);
}

ColumnConfig Column(std::string name, std::string type) {
  ColumnConfig column;
  column.name = std::move(name);
  column.type = std::move(type);
  return column;
}

std::vector<ColumnConfig> FlightColumns() {
  std::vector<ColumnConfig> columns = {Column("flight_date", "timestamp"), Column("delay", "int"),
                                       Column("id", "long")};
  columns[2].required = true;
  columns[2].doc = "it's the key";
  return columns;
}

TEST(TableDefinition, StatementShowsWhatWillBeMade) {
  TableConfig config;
  config.columns = FlightColumns();
  config.partition_by = {"months(flight_date)", "bucket(16, id)"};
  config.sort_by = {"delay desc"};
  config.properties = {{"write.parquet.compression-codec", "zstd"}};
  const auto schema = SchemaOfColumns(config.columns, 2);
  ASSERT_TRUE(schema.ok()) << schema.error().ToString();
  const auto definition = TableDefinition(config, *schema);
  ASSERT_TRUE(definition.ok()) << definition.error().ToString();
  EXPECT_EQ(CreateTableStatement("lake.travel.flights", *definition),
            "CREATE TABLE lake.travel.flights (\n"
            "  flight_date timestamp_ntz,\n"
            "  delay int,\n"
            "  id bigint NOT NULL COMMENT 'it''s the key'\n"
            ")\n"
            "USING iceberg\n"
            "PARTITIONED BY (month(flight_date), bucket(16, id))\n"
            "TBLPROPERTIES (\n"
            "  'format-version' = '2',\n"
            "  'history.expire.max-snapshot-age-ms' = '432000000',\n"
            "  'history.expire.min-snapshots-to-keep' = '1',\n"
            "  'write.metadata.delete-after-commit.enabled' = 'true',\n"
            "  'write.parquet.compression-codec' = 'zstd'\n"
            ");\n"
            "ALTER TABLE lake.travel.flights WRITE ORDERED BY delay DESC NULLS LAST;");
}

TEST(TableDefinition, RescuedFieldsGetTheirColumnOnce) {
  TableConfig config;
  config.unknown_fields = decode::UnknownFields::kRescue;
  const auto schema = SchemaOfColumns(FlightColumns(), 2);
  ASSERT_TRUE(schema.ok());
  const auto definition = TableDefinition(config, *schema);
  ASSERT_TRUE(definition.ok());
  const auto& fields = definition->schema->fields();
  ASSERT_EQ(fields.size(), (*schema)->fields().size() + 1);
  EXPECT_EQ(fields.back().name, "_rescued");
  EXPECT_FALSE(fields.back().required);
  EXPECT_EQ(fields.back().id, (*schema)->highest_field_id() + 1);
  const auto again = TableDefinition(config, definition->schema);
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(again->schema->fields().size(), fields.size());
}

TEST(TableDefinition, KafkaColumnsGetIdsBehindTheOthers) {
  TableConfig config;
  config.kafka_columns = true;
  const auto schema = SchemaOfColumns(FlightColumns(), 2);
  ASSERT_TRUE(schema.ok());
  const auto definition = TableDefinition(config, *schema);
  ASSERT_TRUE(definition.ok());
  EXPECT_TRUE(iceberg::ValidateSchema(*definition->schema, 2).ok());
  const auto& kafka = definition->schema->fields().back();
  EXPECT_EQ(kafka.name, "_kafka");
  EXPECT_EQ(kafka.id, (*schema)->highest_field_id() + 1);
  EXPECT_EQ(kafka.type->FindField("offset")->type->ToString(), "long");
}

TEST(TableDefinition, FieldsOfNoColumnAreNamed) {
  TableConfig config;
  config.partition_by = {"month(flight_dat)"};
  const auto schema = SchemaOfColumns(FlightColumns(), 2);
  ASSERT_TRUE(schema.ok());
  const auto definition = TableDefinition(config, *schema);
  ASSERT_FALSE(definition.ok());
  EXPECT_NE(definition.error().ToString().find("partition_by 'month(flight_dat)'"), std::string::npos);
}

TEST(TableName, HasCatalogNamespaceAndName) {
  const auto name = ParseTableName("lake.a.b.flights");
  ASSERT_TRUE(name.ok());
  EXPECT_EQ(name->catalog, "lake");
  EXPECT_EQ(name->ns, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(name->ToString(), "lake.a.b.flights");
  for (const std::string_view wrong : {"flights", "travel.flights", "lake..flights", ".a.b", "lake.a."}) {
    EXPECT_FALSE(ParseTableName(wrong).ok()) << wrong;
  }
}

}  // namespace
}  // namespace firn::pipeline
