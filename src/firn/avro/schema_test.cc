#include "firn/avro/schema.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace firn::avro {
namespace {

TEST(AvroSchema, ReadsRecordsWithIcebergIds) {
  auto schema = Schema::Parse(R"({"type":"record","name":"r2","namespace":"org.x","fields":[
      {"name":"a","type":"long","field-id":7},
      {"name":"b","type":["null",{"type":"array","items":"int","element-id":9}],"default":null,"field-id":8},
      {"name":"d","type":{"type":"fixed","name":"dec","size":4,"logicalType":"decimal","precision":9,"scale":2}},
      {"name":"t","type":{"type":"long","logicalType":"timestamp-micros","adjust-to-utc":true}},
      {"name":"again","type":"dec"}]})");
  ASSERT_TRUE(schema.ok()) << schema.error().ToString();
  const Node& root = (*schema)->root();
  EXPECT_EQ(root.name, "org.x.r2");
  EXPECT_EQ(root.FindField("a")->field_id, 7);
  const Field* b = root.FindField("b");
  EXPECT_TRUE(b->default_value->is_null());
  ASSERT_NE(b->type->NullableInner(), nullptr);
  EXPECT_EQ(b->type->NullableInner()->element_id, 9);
  const Node* decimal = root.FindField("d")->type;
  EXPECT_EQ(decimal->size_bytes, 4);
  EXPECT_EQ(decimal->scale, 2);
  EXPECT_EQ(root.FindField("again")->type, decimal);
  EXPECT_EQ(root.FindField("t")->type->adjust_to_utc, true);
  EXPECT_EQ(root.min_bytes, 1 + 1 + 4 + 1 + 4);
}

TEST(AvroSchema, RecursiveRecordPointsBackToItself) {
  auto schema = Schema::Parse(
      R"({"type":"record","name":"n","fields":[{"name":"v","type":"int"},{"name":"next","type":["null","n"]}]})");
  ASSERT_TRUE(schema.ok());
  EXPECT_EQ((*schema)->root().fields[1].type->branches[1], &(*schema)->root());
}

TEST(AvroSchema, PrimitiveAsTextOrName) {
  EXPECT_EQ((*Schema::Parse("\"string\""))->root().kind, Kind::kString);
  EXPECT_EQ((*Schema::Parse("bytes"))->root().kind, Kind::kBytes);
}

TEST(AvroSchema, RefusesWhatTheSpecificationDoes) {
  for (
      const char* json : {
          "",
          "{",
          "7",
          "[]",
          R"("nosuch")",
          R"({"name":"x"})",
          R"(["null","null"])",
          R"(["null",["int"]])",
          R"({"type":"record","name":"r"})",
          R"({"type":"record","fields":[]})",
          R"({"type":"record","name":"int","fields":[]})",
          R"({"type":"record","name":"r","fields":[{"name":"a"}]})",
          R"({"type":"record","name":"r","fields":[{"name":"a","type":"int"},{"name":"a","type":"int"}]})",
          R"({"type":"record","name":"r","fields":[{"name":"a","type":{"type":"fixed","name":"r","size":1}}]})",
          R"({"type":"fixed","name":"f","size":-1})",
          R"({"type":"fixed","name":"f","size":99999999999})",
          R"({"type":"enum","name":"e"})",
          R"({"type":"array"})",
          R"({"type":"map"})",
      }) {
    auto schema = Schema::Parse(json);
    ASSERT_FALSE(schema.ok()) << json;
    EXPECT_EQ(schema.error().kind(), ErrorKind::kCorrupt) << json;
  }
}

TEST(AvroSchema, DeepNestingIsAnErrorNotACrash) {
  std::string json;
  for (int i = 0; i < 100'000; ++i) json += R"({"type":"array","items":)";
  EXPECT_EQ(Schema::Parse(json).error().kind(), ErrorKind::kCorrupt);
  json = R"({"type":"record","name":"r","fields":[{"name":"a","type":"int","default":)" +
         std::string(100'000, '[') + std::string(100'000, ']') + "}]}";
  EXPECT_EQ(Schema::Parse(json).error().kind(), ErrorKind::kCorrupt);
}

TEST(AvroSchema, KeepsDocAndAliasesOfFields) {
  auto schema = Schema::Parse(
      R"({"type":"record","name":"r","fields":[{"name":"a","type":"int","doc":"why","aliases":["b","c"]}]})");
  ASSERT_TRUE(schema.ok());
  const Field& field = (*schema)->root().fields[0];
  EXPECT_EQ(field.doc, "why");
  EXPECT_EQ(field.aliases, (std::vector<std::string>{"b", "c"}));
}

TEST(AvroSchema, TakesNamedTypesFromTheSchemasItRefersTo) {
  const std::vector<std::string> referenced = {
      R"({"type":"enum","name":"Kind","namespace":"x","symbols":["A"]})",
      R"({"type":"record","name":"Leg","namespace":"x","fields":[{"name":"kind","type":"Kind"}]})"};
  auto schema = Schema::Parse(
      R"({"type":"record","name":"Trip","namespace":"y","fields":[{"name":"leg","type":"x.Leg"}]})",
      referenced);
  ASSERT_TRUE(schema.ok()) << schema.error().ToString();
  EXPECT_EQ((*schema)->root().name, "y.Trip");
  EXPECT_EQ((*schema)->root().fields[0].type->fields[0].type->symbols.size(), 1U);
  EXPECT_FALSE(Schema::Parse(R"("x.Leg")", {referenced[0]}).ok());
}

TEST(AvroSchema, NamesAreMadeLegalAsJavaDoes) {
  EXPECT_EQ(LegalName("ts_day"), "ts_day");
  EXPECT_EQ(LegalName("9x"), "_9x");
  EXPECT_EQ(LegalName("a.b"), "a_x2Eb");
  EXPECT_EQ(LegalName("a b"), "a_x20b");
  EXPECT_EQ(LegalName("\xc3\xa9t\xc3\xa9"), "_xE9t_xE9");
  EXPECT_EQ(LegalName("\xf0\x9f\x98\x8e"), "_xD83D_xDE0E");
  EXPECT_TRUE(IsValidName("_9x"));
  EXPECT_FALSE(IsValidName("9x"));
  EXPECT_FALSE(IsValidName(""));
}

}  // namespace
}  // namespace firn::avro
