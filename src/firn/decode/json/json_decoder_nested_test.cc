#include <arrow/array.h>
#include <arrow/record_batch.h>
#include <arrow/scalar.h>
#include <gmock/gmock.h>

#include <optional>
#include <string>
#include <vector>

#include "firn/decode/json/decode_test_support.h"
#include "firn/decode/json/json_decoder.h"
#include "firn/iceberg/model/literal.h"

namespace firn::decode {
namespace {

using iceberg::NestedField;
using iceberg::Type;
using testing::DecodeAll;
using ::testing::ElementsAre;
using testing::Field;
using ::testing::HasSubstr;
using testing::MakeRaw;
using testing::MakeSchema;
using testing::Primitive;
using testing::Rows;

NestedField Orders(bool required = false) {
  const auto item =
      Type::Struct({Field(11, "sku", Primitive("string"), required), Field(12, "count", Primitive("int"))});
  return Field(2, "items", Type::List(10, required, item));
}

BoundSchema OrderSchema(bool required = false) {
  BoundSchema bound;
  bound.schema = MakeSchema(
      {Field(1, "id", Primitive("long"), true), Orders(required),
       Field(3, "tags", Type::Map(20, Primitive("string"), 21, false, Primitive("double"))),
       Field(4, "place",
             Type::Struct({Field(30, "x", Primitive("float")), Field(31, "name", Primitive("string"))}))});
  return bound;
}

std::vector<std::string> Reasons(const DecodeResult& result) {
  std::vector<std::string> reasons;
  for (const auto& letter : result.dead_letters) reasons.push_back(letter.reason);
  return reasons;
}

TEST(NestedJsonTest, StructsListsAndMaps) {
  const auto result = DecodeAll(
      OrderSchema(),
      {R"({"id":1,"items":[{"sku":"a","count":2},{"count":3,"sku":"b"}],"tags":{"x":1.5,"y":null},"place":{"x":2,"name":"n"}})",
       R"({"id":2})", R"({"id":3,"items":[],"tags":{},"place":{}})",
       R"({"id":4,"items":[null,{"sku":"c"}],"tags":null,"place":null})"});
  EXPECT_THAT(
      Rows(result),
      ElementsAre(
          R"({"id":1,"items":[{"count":2,"sku":"a"},{"count":3,"sku":"b"}],"place":{"name":"n","x":2.0},"tags":{"x":1.5,"y":null}})",
          R"({"id":2,"items":null,"place":null,"tags":null})",
          R"({"id":3,"items":[],"place":{"name":null,"x":null},"tags":{}})",
          R"({"id":4,"items":[null,{"count":null,"sku":"c"}],"place":null,"tags":null})"));
}

TEST(NestedJsonTest, ABadRecordLeavesNothingBehindAtAnyDepth) {
  const std::string good =
      R"({"id":1,"items":[{"sku":"a","count":2}],"tags":{"x":1.5},"place":{"x":2,"name":"n"}})";
  const std::vector<std::string> bad = {
      R"({"id":2,"items":[{"sku":"b","count":"many"}],"tags":{"z":1},"place":{"x":9}})",
      R"({"id":2,"tags":{"z":1,"w":true},"items":[{"sku":"b"}]})",
      R"({"id":2,"place":{"name":"lost","x":"no"},"items":[{"sku":"b"},{"sku":"c","count":1.5}]})",
      R"({"items":[{"sku":"b","count":1}],"tags":{"z":1},"place":{"x":9,"name":"lost"}})",
      R"({"id":2,"items":[{"sku":"b","count":1}],"tags":{"z":1},"place":{"x":9,"name":"lost"})",
      R"({"id":2,"items":[{"sku":"b","count":1},7]})",
  };
  std::vector<std::optional<std::string>> values;
  for (const auto& record : bad) {
    values.emplace_back(good);
    values.emplace_back(record);
  }
  values.emplace_back(good);
  const auto result = DecodeAll(OrderSchema(), values);
  EXPECT_THAT(Reasons(result), ElementsAre("type_mismatch", "type_mismatch", "type_mismatch",
                                           "missing_required", "malformed_json", "type_mismatch"));
  const auto alone = Rows(DecodeAll(OrderSchema(), {good}));
  const auto rows = Rows(result);
  ASSERT_EQ(rows.size(), bad.size() + 1);
  for (const auto& row : rows) EXPECT_EQ(row, alone[0]);
}

TEST(NestedJsonTest, FailuresNameTheirPlace) {
  const auto message = [](const BoundSchema& bound, const std::string& json) {
    const auto result = DecodeAll(bound, {json});
    return result.dead_letters.empty()
               ? "good"
               : result.dead_letters[0].reason + ": " + result.dead_letters[0].message;
  };
  EXPECT_EQ(message(OrderSchema(), R"({"id":1,"items":[{"count":1},{"count":"many"}]})"),
            "type_mismatch: field 'items[1].count': found \"many\", expected a whole number for a column of "
            "type int");
  EXPECT_THAT(message(OrderSchema(), R"({"id":1,"tags":{"x":1,"why":true}})"),
              HasSubstr("field 'tags.why': found true"));
  EXPECT_THAT(message(OrderSchema(), R"({"id":null})"), HasSubstr("null_required: field 'id'"));
  EXPECT_THAT(message(OrderSchema(), R"({})"), HasSubstr("missing_required: field 'id'"));
  EXPECT_THAT(message(OrderSchema(true), R"({"id":1,"items":[{"sku":"a"},{"count":1}]})"),
              HasSubstr("missing_required: field 'items[1].sku'"));
  EXPECT_THAT(message(OrderSchema(true), R"({"id":1,"items":[null]})"),
              HasSubstr("null_required: field 'items[0]'"));
  EXPECT_THAT(message(OrderSchema(), R"({"id":1,"place":[1,2]})"), HasSubstr("field 'place': found [1,2]"));
}

TEST(NestedJsonTest, ARequiredFieldInsideAnAbsentStructIsNotMissed) {
  BoundSchema bound;
  bound.schema = MakeSchema({Field(1, "p", Type::Struct({Field(2, "x", Primitive("int"), true)}))});
  EXPECT_THAT(Rows(DecodeAll(bound, {"{}", R"({"p":{"x":1}})", R"({"p":null})"})),
              ElementsAre(R"({"p":null})", R"({"p":{"x":1}})", R"({"p":null})"));
  EXPECT_THAT(Reasons(DecodeAll(bound, {R"({"p":{}})"})), ElementsAre("missing_required"));
}

TEST(NestedJsonTest, TheLaterOfTwoEqualKeysWins) {
  const auto result = DecodeAll(
      OrderSchema(),
      {R"({"id":1,"id":2,"items":[{"sku":"a"},{"sku":"b"}],"items":[{"sku":"c","sku":"d"}],"tags":{"x":1,"y":2,"x":3},"place":{"x":1},"place":{"name":"n"}})",
       R"({"id":3,"tags":{"x":1},"tags":null,"items":null,"items":[]})"});
  EXPECT_THAT(
      Rows(result),
      ElementsAre(
          R"({"id":2,"items":[{"count":null,"sku":"d"}],"place":{"name":"n","x":null},"tags":{"x":3.0,"y":2.0}})",
          R"({"id":3,"items":[],"place":null,"tags":null})"));
}

TEST(NestedJsonTest, ManyMapEntriesWithRepeatedKeys) {
  std::string json = R"({"id":1,"tags":{)";
  for (int i = 0; i < 50; ++i)
    json += (i == 0 ? "\"k" : ",\"k") + std::to_string(i % 20) + "\":" + std::to_string(i);
  const auto rows = Rows(DecodeAll(OrderSchema(), {json + "}}"}));
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_THAT(rows[0], HasSubstr(R"("k0":40.0)"));
  EXPECT_THAT(rows[0], HasSubstr(R"("k19":39.0)"));
  EXPECT_THAT(rows[0], HasSubstr(R"("k10":30.0)"));
}

TEST(NestedJsonTest, MapKeysOfOtherTypesComeFromTheirText) {
  BoundSchema bound;
  bound.schema = MakeSchema({Field(1, "m", Type::Map(2, Primitive("int"), 3, true, Primitive("string"))),
                             Field(4, "d", Type::Map(5, Primitive("date"), 6, false, Primitive("boolean")))});
  EXPECT_THAT(Rows(DecodeAll(bound, {R"({"m":{"1":"a","-2":"b"},"d":{"2024-01-01":true}})"})),
              ElementsAre(R"({"d":{"2024-01-01":true},"m":{"-2":"b","1":"a"}})"));
  EXPECT_THAT(Reasons(DecodeAll(bound, {R"({"m":{"one":"a"}})", R"({"m":{"1":null}})", R"({"d":{"x":true}})",
                                        R"({"m":{"":"a"}})"})),
              ElementsAre("bad_map_key", "null_required", "bad_map_key", "bad_map_key"));
}

TEST(NestedJsonTest, KeysMayBeEscapedAndNamesMayNeedIt) {
  BoundSchema bound;
  bound.schema =
      MakeSchema({Field(1, "plain", Primitive("int")), Field(2, "with \"quotes\"", Primitive("int")),
                  Field(3, "back\\b", Primitive("int"))});
  const auto result = DecodeAll(bound, {R"({"pl\u0061in":1,"with \"quotes\"":2,"back\\b":3})",
                                        R"({"back\b":4,"plain":5})", R"({"plain":6,"back\\b":7})"});
  EXPECT_THAT(Rows(result), ElementsAre(R"({"back\\b":3,"plain":1,"with \"quotes\"":2})",
                                        R"({"back\\b":null,"plain":5,"with \"quotes\"":null})",
                                        R"({"back\\b":7,"plain":6,"with \"quotes\"":null})"));
  EXPECT_EQ(result.counters.unknown_fields_ignored, 1);
}

TEST(NestedJsonTest, FieldsMayComeInAnyOrderAndBeLeftOut) {
  BoundSchema bound;
  bound.schema = MakeSchema({Field(1, "a", Primitive("int")), Field(2, "b", Primitive("string")),
                             Field(3, "c", Primitive("boolean"))});
  const auto result =
      DecodeAll(bound, {R"({"a":1,"b":"x","c":true})", R"({"c":false,"a":2})", R"({})", R"({"b":"y"})",
                        R"({"c":true,"b":"z","a":3})", R"({"a":4,"b":"w","c":false})"});
  EXPECT_THAT(Rows(result), ElementsAre(R"({"a":1,"b":"x","c":true})", R"({"a":2,"b":null,"c":false})",
                                        R"({"a":null,"b":null,"c":null})", R"({"a":null,"b":"y","c":null})",
                                        R"({"a":3,"b":"z","c":true})", R"({"a":4,"b":"w","c":false})"));
}

TEST(NestedJsonTest, AWriteDefaultFillsWhatIsAbsentButNotWhatIsNull) {
  auto with_default = Field(1, "c", Primitive("int"), false);
  with_default.write_default = std::make_shared<const iceberg::Literal>(Primitive("int"), int32_t{7});
  auto text = Field(2, "s", Primitive("string"), true);
  text.write_default = std::make_shared<const iceberg::Literal>(Primitive("string"), std::string("none"));
  BoundSchema bound;
  bound.schema = MakeSchema({with_default, text});
  EXPECT_THAT(Rows(DecodeAll(bound, {"{}", R"({"c":null,"s":"x"})", R"({"c":1})", "{}"})),
              ElementsAre(R"({"c":7,"s":"none"})", R"({"c":null,"s":"x"})", R"({"c":1,"s":"none"})",
                          R"({"c":7,"s":"none"})"));
}

TEST(NestedJsonTest, OneDecoderServesManyBatches) {
  auto decoder = MakeJsonDecoder(OrderSchema());
  ASSERT_TRUE(decoder.ok());
  for (int round = 0; round < 3; ++round) {
    const auto raw = MakeRaw({R"({"id":1,"items":[{"sku":"a"}]})", "bad", R"({"id":2,"tags":{"k":1}})"});
    const auto all = (*decoder)->Decode(raw, 0);
    ASSERT_TRUE(all.ok());
    EXPECT_EQ(Rows(*all).size(), 2u);
    const auto rest = (*decoder)->Decode(raw, 2);
    ASSERT_TRUE(rest.ok());
    EXPECT_THAT(Rows(*rest), ElementsAre(R"({"id":2,"items":null,"place":null,"tags":{"k":1.0}})"));
    EXPECT_EQ(rest->consumed, 1u);
    const auto none = (*decoder)->Decode(raw, 3);
    ASSERT_TRUE(none.ok());
    EXPECT_EQ(none->batch.rows, nullptr);
  }
}

}  // namespace
}  // namespace firn::decode
