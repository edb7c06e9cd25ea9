#include "firn/iceberg/model/partition_spec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "firn/iceberg/model/sort_order.h"

namespace firn::iceberg {
namespace {

using nlohmann::json;
using testing::HasSubstr;

const Schema& TestSchema() {
  static const SchemaPtr kSchema = SchemaFromJson(json::parse(R"({"type":"struct","fields":[
    {"id":1,"name":"id","required":true,"type":"long"}, {"id":2,"name":"ts","required":false,"type":"timestamptz"},
    {"id":3,"name":"origin","required":false,"type":"string"}, {"id":4,"name":"weight","required":false,"type":"double"},
    {"id":5,"name":"place","required":false,"type":{"type":"struct","fields":[{"id":6,"name":"city","required":false,"type":"string"}]}},
    {"id":7,"name":"tags","required":false,"type":{"type":"list","element-id":8,"element-required":false,"element":"string"}},
    {"id":9,"name":"date","required":false,"type":"date"}]})"))
                                       .value();
  return *kSchema;
}

std::string Parsed(std::string_view text) {
  const Result<PartitionField> field = ParsePartitionField(text, TestSchema());
  if (!field.ok()) return field.error().ToString();
  return field->name + " " + field->transform.ToString() + " " + std::to_string(field->source_id);
}

TEST(ParsePartitionField, TakesTheUsualFormsAndNamesAsJavaDoes) {
  EXPECT_EQ(Parsed("origin"), "origin identity 3");
  EXPECT_EQ(Parsed("day(ts)"), "ts_day day 2");
  EXPECT_EQ(Parsed("days(ts)"), "ts_day day 2");
  EXPECT_EQ(Parsed(" Hours( ts ) "), "ts_hour hour 2");
  EXPECT_EQ(Parsed("month(date)"), "date_month month 9");
  EXPECT_EQ(Parsed("bucket(16, id)"), "id_bucket bucket[16] 1");
  EXPECT_EQ(Parsed("bucket(id, 16)"), "id_bucket bucket[16] 1");
  EXPECT_EQ(Parsed("truncate(origin, 4)"), "origin_trunc truncate[4] 3");
  EXPECT_EQ(Parsed("void(id)"), "id_null void 1");
  EXPECT_EQ(Parsed("place.city"), "place.city identity 6");
}

TEST(ParsePartitionField, ErrorsSayWhatToWrite) {
  EXPECT_THAT(Parsed("orgin"), HasSubstr("there is no column 'orgin'. Did you mean 'origin'?"));
  EXPECT_THAT(Parsed("day(origin)"), HasSubstr("day does not take column 'origin' of type string"));
  EXPECT_THAT(Parsed("bucket(0, id)"), HasSubstr("with a positive N"));
  EXPECT_THAT(Parsed("bucket(id)"), HasSubstr("bucket(N, column)"));
  EXPECT_THAT(Parsed("week(ts)"), HasSubstr("there is no transform 'week'"));
  EXPECT_THAT(Parsed("day(ts"), HasSubstr("closing parenthesis"));
  EXPECT_THAT(Parsed("tags.element"), HasSubstr("inside a list or map"));
  EXPECT_THAT(Parsed("bucket(4, weight)"), HasSubstr("does not take column 'weight' of type double"));
  EXPECT_THAT(Parsed(""), HasSubstr("a column or a transform of one is expected"));
}

PartitionSpec Spec(std::initializer_list<std::string_view> texts) {
  PartitionSpec spec;
  for (const std::string_view text : texts) {
    spec.fields.push_back(ParsePartitionField(text, TestSchema()).value());
    spec.fields.back().field_id = static_cast<int32_t>(kFirstPartitionFieldId + spec.fields.size() - 1);
  }
  return spec;
}

TEST(PartitionPath, KeepsSegmentsShortEnoughForFileSystemsAndApart) {
  PartitionSpec spec{0, {{1, 1000, "text", Transform::Identity()}}};
  const auto path = [&spec](const std::string& value) {
    return PartitionPath(spec, {{Literal(Type::Primitive(TypeId::kString), value)}});
  };
  EXPECT_EQ(path(std::string(150, 'x')), "text=" + std::string(150, 'x'));
  const std::string a = path(std::string(5000, 'x'));
  const std::string b = path(std::string(4999, 'x') + 'y');
  EXPECT_LE(a.size(), 255U);
  EXPECT_TRUE(a.starts_with("text=xxxx"));
  EXPECT_NE(a, b);
}

TEST(PartitionPath, EncodesNamesAndValues) {
  const PartitionSpec spec = Spec({"day(ts)", "origin", "bucket(16, id)"});
  const PartitionValues values{{Literal(Type::Primitive(TypeId::kDate), 19782),
                                Literal(Type::Primitive(TypeId::kString), "São Paulo/x=1"),
                                Literal::Null(Type::Primitive(TypeId::kInt))}};
  EXPECT_EQ(PartitionPath(spec, values), "ts_day=2024-02-29/origin=S%C3%A3o+Paulo%2Fx%3D1/id_bucket=null");
  EXPECT_EQ(PartitionPath(PartitionSpec{}, PartitionValues{}), "");
}

TEST(PartitionType, HasResultTypesUnderFieldIds) {
  const TypePtr type = Spec({"day(ts)", "origin", "bucket(16, id)"}).PartitionType(TestSchema()).value();
  EXPECT_EQ(
      type->ToString(),
      "struct<1000: ts_day: optional date, 1001: origin: optional string, 1002: id_bucket: optional int>");
}

TEST(PartitionType, OfADroppedColumnIsKnownWhereTheTransformDecidesIt) {
  PartitionSpec spec = Spec({"bucket(16, id)", "origin"});
  spec.fields[0].source_id = 90;
  spec.fields[1].source_id = 91;
  EXPECT_EQ(spec.PartitionType(TestSchema()).value()->ToString(),
            "struct<1000: id_bucket: optional int, 1001: origin: optional unknown>");
}

TEST(ValidatePartitionSpec, ReportsProblems) {
  EXPECT_TRUE(ValidatePartitionSpec(Spec({"day(ts)", "bucket(4, id)", "id"}), TestSchema()).ok());
  EXPECT_THAT(ValidatePartitionSpec(Spec({"day(ts)", "hour(ts)"}), TestSchema()).error().message(),
              HasSubstr("redundant"));
  EXPECT_THAT(ValidatePartitionSpec(Spec({"origin", "origin"}), TestSchema()).error().message(),
              HasSubstr("used twice"));
  PartitionSpec hiding = Spec({"bucket(4, id)"});
  hiding.fields[0].name = "weight";
  EXPECT_THAT(ValidatePartitionSpec(hiding, TestSchema()).error().message(),
              HasSubstr("name of another column"));
  hiding.fields[0].source_id = 77;
  EXPECT_THAT(ValidatePartitionSpec(hiding, TestSchema()).error().message(), HasSubstr("source id 77"));
}

TEST(PartitionSpecJson, SurvivesTheWayBack) {
  PartitionSpec spec = Spec({"day(ts)", "truncate(10, origin)"});
  spec.spec_id = 4;
  EXPECT_EQ(PartitionSpecFromJson(ToJson(spec)).value(), spec);
}

TEST(PartitionSpecJson, UnknownTransformsKeepTheirText) {
  const json text = json::parse(
      R"({"spec-id":0,"fields":[{"source-id":1,"field-id":1000,"name":"z","transform":"zorder[3]"}]})");
  const PartitionSpec spec = PartitionSpecFromJson(text).value();
  EXPECT_EQ(spec.fields[0].transform.kind(), TransformKind::kUnknown);
  EXPECT_EQ(ToJson(spec), text);
  EXPECT_FALSE(ValidatePartitionSpec(spec, TestSchema()).ok());
}

TEST(PartitionSpecJson, SeveralSourcesAreRefusedNotMisread) {
  const json text =
      json::parse(R"([{"source-ids":[1,2],"field-id":1000,"name":"z","transform":"bucket[3]"}])");
  EXPECT_EQ(PartitionFieldsFromJson(text).error().kind(), ErrorKind::kUnsupported);
  const json single =
      json::parse(R"([{"source-ids":[1],"field-id":1000,"name":"z","transform":"bucket[3]"}])");
  EXPECT_EQ(PartitionFieldsFromJson(single).value()[0].source_id, 1);
}

TEST(IsUnpartitioned, VoidFieldsDoNotCount) {
  EXPECT_TRUE(PartitionSpec{}.is_unpartitioned());
  EXPECT_TRUE(Spec({"void(id)"}).is_unpartitioned());
  EXPECT_FALSE(Spec({"id"}).is_unpartitioned());
}

std::string ParsedSort(std::string_view text) {
  const Result<SortField> field = ParseSortField(text, TestSchema());
  if (!field.ok()) return field.error().ToString();
  return ToJson(SortOrder{1, {*field}})["fields"][0].dump();
}

TEST(ParseSortField, DefaultsPutNullsLow) {
  EXPECT_EQ(ParsedSort("origin"),
            R"({"direction":"asc","null-order":"nulls-first","source-id":3,"transform":"identity"})");
  EXPECT_EQ(ParsedSort("origin DESC"),
            R"({"direction":"desc","null-order":"nulls-last","source-id":3,"transform":"identity"})");
  EXPECT_EQ(ParsedSort("bucket(8, id) asc nulls last"),
            R"({"direction":"asc","null-order":"nulls-last","source-id":1,"transform":"bucket[8]"})");
  EXPECT_EQ(ParsedSort("id desc  Nulls First"),
            R"({"direction":"desc","null-order":"nulls-first","source-id":1,"transform":"identity"})");
  EXPECT_THAT(ParsedSort("orgin desc"), HasSubstr("Did you mean 'origin'?"));
}

TEST(ValidateSortOrder, ChecksIdsAndSources) {
  EXPECT_TRUE(ValidateSortOrder({0, {}}, TestSchema()).ok());
  EXPECT_FALSE(ValidateSortOrder({1, {}}, TestSchema()).ok());
  EXPECT_FALSE(ValidateSortOrder({0, {SortField{1}}}, TestSchema()).ok());
  EXPECT_FALSE(ValidateSortOrder({1, {SortField{99}}}, TestSchema()).ok());
}

}  // namespace
}  // namespace firn::iceberg
