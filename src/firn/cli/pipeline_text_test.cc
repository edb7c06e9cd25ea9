#include "firn/cli/pipeline_text.h"

#include <gtest/gtest.h>

#include "firn/config/load.h"
#include "firn/pipeline/column_type.h"

namespace firn::cli {
namespace {

PipelineDraft Draft() {
  PipelineDraft draft;
  draft.id = "flights";
  draft.kafka = "localhost:9092";
  draft.topic = "flights";
  draft.format = "json";
  draft.catalog_uri = "sqlite:lake/catalog.db";
  draft.warehouse = "lake/warehouse";
  draft.table = "lake.raw.flights";
  return draft;
}

iceberg::NestedField Column(int32_t id, const std::string& name, const std::string& type) {
  iceberg::NestedField field;
  field.id = id;
  field.name = name;
  int32_t next_id = 100;
  field.type = pipeline::ParseColumnType(type, next_id).value();
  return field;
}

config::Node Load(const std::string& text) {
  config::Problems problems;
  std::optional<config::Node> node =
      config::LoadText(text, "drafted.yaml", config::SystemEnvironment(), problems);
  EXPECT_TRUE(node) << text;
  return node.value_or(config::Node{});
}

TEST(PipelineText, QuotesWhatYamlWouldReadOtherwise) {
  EXPECT_EQ(YamlText("flights"), "flights");
  EXPECT_EQ(YamlText("localhost:9092"), "\"localhost:9092\"");
  EXPECT_EQ(YamlText("yes"), "\"yes\"");
  EXPECT_EQ(YamlText("010"), "\"010\"");
  EXPECT_EQ(YamlText("a \"b\" #c"), "\"a \\\"b\\\" #c\"");
  EXPECT_EQ(YamlText("pa$word"), "\"pa$$word\"");
}

TEST(PipelineText, ColumnsCarryTheirHintsAndTheFileTellsWhatToLookAt) {
  decode::InferredSchema found;
  found.records = 1000;
  found.bad_records = 2;
  found.notes = {"field 'x': left out: no record of the sample has a value for it"};
  found.schema = std::make_shared<const iceberg::Schema>(
      0, std::vector{Column(1, "date", "string"), Column(2, "odd: name", "list<struct<a: int>>")});
  const std::string text =
      PipelineText(Draft(), found, {{"date", "every value of the sample is a timestamp", "timestamp", ""}});
  EXPECT_NE(text.find("from 1,000 records of the topic flights on localhost:9092"), std::string::npos)
      << text;
  EXPECT_NE(text.find("2 records of the sample could not be read"), std::string::npos);
  EXPECT_NE(text.find("#   field 'x': left out"), std::string::npos);
  EXPECT_NE(text.find("# every value of the sample is a timestamp: 'type: timestamp' would keep it as one\n"
                      "          - {name: date, type: string}\n"
                      "          - {name: \"odd: name\", type: \"list<struct<a: int>>\"}\n"),
            std::string::npos);
  EXPECT_NE(text.find("# partition_by: [day(date)]   # by this time, once its type is one"),
            std::string::npos);
  Load(text);
}

TEST(PipelineText, PropertiesAndRegistryAreWrittenWhereTheyBelong) {
  PipelineDraft draft = Draft();
  draft.properties = {"sasl.password=a=${FIRN_TEST_SECRET:-b}"};
  draft.schema_registry = "http://localhost:8081";
  const std::string text = PipelineText(draft);
  EXPECT_NE(text.find("properties:\n          sasl.password: \"a=${FIRN_TEST_SECRET:-b}\"\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("schema_registry: {url: \"http://localhost:8081\"}"), std::string::npos);
  Load(text);
}

}  // namespace
}  // namespace firn::cli
