#include "firn/decode/json/infer_schema.h"

#include <gmock/gmock.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "firn/decode/json/decode_test_support.h"

namespace firn::decode {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::MakeRaw;

std::vector<record::RawBatch> Sample(const std::vector<std::optional<std::string>>& values) {
  std::vector<record::RawBatch> sample;
  sample.push_back(MakeRaw(values));
  return sample;
}

InferredSchema Infer(const std::vector<std::optional<std::string>>& values) {
  auto inferred = InferJsonSchema(Sample(values));
  EXPECT_TRUE(inferred.ok()) << inferred.error().ToString();
  return inferred.ok() ? std::move(*inferred) : InferredSchema{};
}

std::string Error(const std::vector<std::optional<std::string>>& values) {
  const auto inferred = InferJsonSchema(Sample(values));
  return inferred.ok() ? "ok" : inferred.error().ToString();
}

std::vector<std::string> Columns(const InferredSchema& inferred) {
  std::vector<std::string> columns;
  for (const auto& field : inferred.schema->fields()) {
    columns.push_back(std::to_string(field.id) + " " + field.name + " " + field.type->ToString() +
                      (field.required ? " required" : ""));
  }
  return columns;
}

TEST(InferSchemaTest, TypesFollowTheRulesOfTheProductPage) {
  const auto inferred = Infer({R"({"i":1,"d":1.5,"mix":1,"s":"2024-01-01","b":true,"gone":null})",
                               R"({"mix":2.5,"i":-9223372036854775808,"e":1e3})", std::nullopt, "broken"});
  EXPECT_THAT(Columns(inferred), ElementsAre("1 i long", "2 d double", "3 mix double", "4 s string",
                                             "5 b boolean", "6 e double"));
  EXPECT_EQ(inferred.records, 2);
  EXPECT_EQ(inferred.bad_records, 1);
  EXPECT_THAT(inferred.notes, ElementsAre(HasSubstr("field 'gone': left out")));
}

TEST(InferSchemaTest, NestedTypesAreMergedOverRecords) {
  const auto inferred =
      Infer({R"({"p":{"x":1},"l":[],"m":[{"a":1},{"b":"t"}]})",
             R"({"p":{"x":1.5,"y":null},"l":[[1]],"m":[]})", R"({"p":null,"l":[null,[2.5,null]]})"});
  const auto& schema = *inferred.schema;
  EXPECT_EQ(schema.FindByName("p.x")->type->id(), iceberg::TypeId::kDouble);
  EXPECT_EQ(schema.FindByName("p.y"), nullptr);
  EXPECT_EQ(schema.FindByName("l.element.element")->type->id(), iceberg::TypeId::kDouble);
  EXPECT_EQ(schema.FindByName("m.element.a")->type->id(), iceberg::TypeId::kLong);
  EXPECT_EQ(schema.FindByName("m.element.b")->type->id(), iceberg::TypeId::kString);
  EXPECT_EQ(schema.highest_field_id(), 9);
  EXPECT_TRUE(iceberg::ValidateSchema(schema, 2).ok());
}

TEST(InferSchemaTest, TheTypeOfMostRecordsWinsAndTheOthersAreCounted) {
  const auto inferred = Infer({R"({"x":1})", R"({"x":"a"})", R"({"x":"b"})", R"({"x":null})"});
  EXPECT_THAT(Columns(inferred), ElementsAre("1 x string"));
  EXPECT_THAT(inferred.notes, ElementsAre(HasSubstr("string in 2 records, but integer in 1")));
}

TEST(InferSchemaTest, NanAndInfinitiesAreNumbersAmongNumbers) {
  const auto inferred = Infer({R"({"x":"NaN","l":[1,"Infinity"],"alone":"NaN","text":"NaN","y":1})",
                               R"({"x":1,"l":[],"alone":"-Infinity","text":"a","y":"NaN"})"});
  EXPECT_THAT(Columns(inferred),
              ElementsAre("1 x double", "2 l list<double>", "3 alone string", "4 text string", "5 y double"));
  EXPECT_THAT(inferred.notes, ::testing::IsEmpty());
}

TEST(InferSchemaTest, WhatCannotBeAColumnIsLeftOutWithANote) {
  const auto inferred = Infer({R"({"ok":1,"_file":"x","odd":[1,"a"],"big":99999999999999999999})"});
  EXPECT_THAT(Columns(inferred), ElementsAre("1 ok long"));
  EXPECT_THAT(inferred.notes, ElementsAre(HasSubstr("'_file': left out: Iceberg reserves"),
                                          HasSubstr("'odd': left out"), HasSubstr("'big': left out")));
}

TEST(InferSchemaTest, NothingToLearnAndNamesThatDifferOnlyInCaseAreErrors) {
  EXPECT_THAT(Error({}), HasSubstr("Declare the columns"));
  EXPECT_THAT(Error({"{}", "[1]", R"({"a":null})"}), HasSubstr("2 records were JSON objects, 1 were not"));
  EXPECT_THAT(Error({R"({"Name":1})", R"({"name":2})"}),
              HasSubstr("'Name' and 'name', which differ only in case"));
}

TEST(InferSchemaTest, AnObjectWithEndlessKeysIsNoStruct) {
  std::string json = R"({"ok":1,"free":{)";
  for (int i = 0; i < 3000; ++i) json += (i == 0 ? "\"" : ",\"") + std::to_string(i) + "\":1";
  const auto inferred = Infer({json + "}}"});
  EXPECT_THAT(Columns(inferred), ElementsAre("1 ok long"));
  EXPECT_THAT(inferred.notes, ElementsAre(HasSubstr("declare it as a map")));
}

TEST(InferSchemaTest, WhatWasInferredDecodesTheSample) {
  const std::vector<std::optional<std::string>> values = {R"({"i":1,"p":{"x":1,"l":[{"a":"b"}]}})",
                                                          R"({"i":2,"d":1.5,"p":{"x":2.5}})"};
  BoundSchema bound;
  bound.schema = Infer(values).schema;
  const auto result = testing::DecodeAll(bound, values);
  EXPECT_THAT(testing::Rows(result), ElementsAre(R"({"d":null,"i":1,"p":{"l":[{"a":"b"}],"x":1.0}})",
                                                 R"({"d":1.5,"i":2,"p":{"l":null,"x":2.5}})"));
}

}  // namespace
}  // namespace firn::decode
