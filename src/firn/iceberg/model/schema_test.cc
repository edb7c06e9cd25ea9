#include "firn/iceberg/model/schema.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace firn::iceberg {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;

SchemaPtr Read(const char* text) { return SchemaFromJson(json::parse(text)).value(); }

constexpr char kNested[] = R"({"type":"struct","schema-id":3,"identifier-field-ids":[1],"fields":[
  {"id":1,"name":"id","required":true,"type":"long","doc":"key"},
  {"id":2,"name":"a","required":false,"type":{"type":"struct","fields":[
     {"id":3,"name":"b","required":false,"type":{"type":"list","element-id":4,"element-required":true,"element":"string"}},
     {"id":5,"name":"m","required":false,"type":{"type":"map","key-id":6,"key":"string","value-id":7,"value-required":false,"value":"int"}}]}},
  {"id":8,"name":"odd.name","required":false,"type":"string"}]})";

TEST(SchemaLookup, FindsFieldsAtAnyDepth) {
  const SchemaPtr schema = Read(kNested);
  EXPECT_EQ(schema->FindByName("a.b.element")->id, 4);
  EXPECT_EQ(schema->FindByName("a.m.value")->id, 7);
  EXPECT_EQ(schema->FindByName("odd.name")->id, 8);
  EXPECT_EQ(schema->FindByName("A"), nullptr);
  EXPECT_EQ(schema->FindById(6)->name, "key");
  EXPECT_EQ(schema->FindById(99), nullptr);
  EXPECT_EQ(schema->FullName(7), "a.m.value");
  EXPECT_EQ(schema->FullName(99), "");
  EXPECT_THAT(schema->AncestorIds(4), ElementsAre(3, 2));
  EXPECT_EQ(schema->highest_field_id(), 8);
}

TEST(SchemaJson, SurvivesTheWayBack) {
  const SchemaPtr schema = Read(kNested);
  EXPECT_TRUE(SchemaFromJson(ToJson(*schema)).value()->SameFields(*schema));
  EXPECT_EQ(ToJson(*schema), json::parse(kNested));
}

TEST(SchemaJson, ErrorsNameTheField) {
  const auto message = [](const char* text) { return SchemaFromJson(json::parse(text)).error().ToString(); };
  EXPECT_THAT(message(R"({"type":"struct","fields":[{"id":1,"name":"a","required":true,"type":"bigint"}]})"),
              HasSubstr("fields[0]: field 'a': type 'bigint'"));
  EXPECT_THAT(message(R"({"type":"struct","fields":[{"id":"1","name":"a","required":true,"type":"int"}]})"),
              HasSubstr("'id' must be an integer of 32 bits, found string"));
  EXPECT_THAT(message(R"({"type":"struct","fields":{}})"), HasSubstr("'fields' must be a list"));
  EXPECT_THAT(message(R"([])"), HasSubstr("must be an object"));
}

TEST(SchemaJson, RefusesEndlessNesting) {
  std::string text = R"("int")";
  for (int i = 0; i < 200; ++i)
    text = R"({"type":"list","element-id":1,"element-required":true,"element":)" + text + "}";
  EXPECT_THAT(TypeFromJson(json::parse(text)).error().ToString(), HasSubstr("nested deeper"));
}

TEST(AssignFreshIds, NumbersOneLevelBeforeTheNext) {
  int32_t next_id = 1;
  const SchemaPtr fresh = AssignFreshIds(*Read(kNested), next_id);
  EXPECT_EQ(next_id, 9);
  EXPECT_EQ(fresh->FindByName("id")->id, 1);
  EXPECT_EQ(fresh->FindByName("a")->id, 2);
  EXPECT_EQ(fresh->FindByName("odd.name")->id, 3);
  EXPECT_EQ(fresh->FindByName("a.b")->id, 4);
  EXPECT_EQ(fresh->FindByName("a.m")->id, 5);
  EXPECT_EQ(fresh->FindByName("a.b.element")->id, 6);
  EXPECT_EQ(fresh->FindByName("a.m.key")->id, 7);
  EXPECT_EQ(fresh->FindByName("a.m.value")->id, 8);
  EXPECT_THAT(fresh->identifier_field_ids(), ElementsAre(1));
}

std::string Problems(const char* text, int version = 2) {
  const Status status = ValidateSchema(*Read(text), version);
  return status.ok() ? "" : status.error().message();
}

TEST(ValidateSchema, TakesAGoodOne) { EXPECT_EQ(Problems(kNested), ""); }

TEST(ValidateSchema, ReportsEverythingAtOnce) {
  const std::string problems = Problems(R"({"type":"struct","identifier-field-ids":[3],"fields":[
    {"id":1,"name":"a","required":true,"type":"int"}, {"id":1,"name":"b","required":true,"type":"timestamp_ns"},
    {"id":3,"name":"A","required":false,"type":"double"}, {"id":4,"name":"_file","required":false,"type":"string"}]})");
  EXPECT_THAT(problems, HasSubstr("id 1 of column 'b' is used twice"));
  EXPECT_THAT(problems, HasSubstr("'b' of type timestamp_ns needs format version 3"));
  EXPECT_THAT(problems, HasSubstr("'a' and 'A' differ only in case"));
  EXPECT_THAT(problems, HasSubstr("'_file' is reserved"));
  EXPECT_THAT(problems, HasSubstr("identifier field 'A' is not required"));
  EXPECT_THAT(problems, HasSubstr("identifier field 'A' is of type double"));
}

TEST(ValidateSchema, AFullNameIsThereOnce) {
  EXPECT_THAT(Problems(R"({"type":"struct","fields":[{"id":1,"name":"a.b","required":false,"type":"int"},
    {"id":2,"name":"a","required":false,"type":{"type":"struct","fields":[{"id":3,"name":"b","required":false,"type":"int"}]}}]})"),
              HasSubstr("'a.b' is the name of two columns"));
}

TEST(ValidateSchema, IdentifierFieldsInsideListsAreRefused) {
  EXPECT_THAT(
      Problems(R"({"type":"struct","identifier-field-ids":[2],"fields":[{"id":1,"name":"l","required":true,
    "type":{"type":"list","element-id":2,"element-required":true,"element":"int"}}]})"),
      HasSubstr("inside a list or map"));
}

}  // namespace
}  // namespace firn::iceberg
