#include <arrow/memory_pool.h>
#include <arrow/record_batch.h>
#include <gmock/gmock.h>

#include <optional>
#include <string>
#include <vector>

#include "firn/decode/json/decode_test_support.h"
#include "firn/decode/json/json_decoder.h"

namespace firn::decode {
namespace {

using iceberg::Type;
using testing::DecodeAll;
using ::testing::ElementsAre;
using testing::Field;
using ::testing::HasSubstr;
using testing::MakeRaw;
using testing::MakeSchema;
using testing::Primitive;
using testing::Rows;

BoundSchema Simple(Evolution evolution = Evolution::kNone) {
  BoundSchema bound;
  bound.schema = MakeSchema({Field(1, "id", Primitive("int"))});
  bound.evolution = evolution;
  bound.target_table = "lake.t";
  return bound;
}

std::string OnlyReason(const BoundSchema& bound, const std::string& json) {
  const auto result = DecodeAll(bound, {json});
  return result.dead_letters.empty() ? "good" : result.dead_letters[0].reason;
}

std::string MakeError(const BoundSchema& bound) {
  const auto decoder = MakeJsonDecoder(bound);
  return decoder.ok() ? "ok" : decoder.error().ToString();
}

TEST(JsonSchemaTest, DeadLettersCarryWhatIsNeededToReplayThem) {
  auto raw = MakeRaw({R"({"id":1})", R"({"id":"x"})", "oops", std::nullopt});
  const auto name = raw.arena.Append("trace");
  const auto value = raw.arena.Append("42");
  raw.headers = {{0, {name, 5}, {value, 2}}, {1, {name, 5}, {value, 2}}, {1, {name, 5}, {}}};
  auto bound = Simple();
  bound.dead_letter_tombstones = true;
  auto decoder = MakeJsonDecoder(bound);
  ASSERT_TRUE(decoder.ok());
  const auto result = (*decoder)->Decode(raw, 0);
  ASSERT_TRUE(result.ok());
  ASSERT_EQ(result->dead_letters.size(), 3u);
  const auto& letter = result->dead_letters[0];
  EXPECT_EQ(letter.partition, (record::SourcePartition{"t", 3}));
  EXPECT_EQ(letter.offset, 101);
  EXPECT_EQ(letter.timestamp_ms, 1'700'000'000'001);
  EXPECT_EQ(letter.target_table, "lake.t");
  EXPECT_EQ(letter.key, "1\"}]");
  EXPECT_EQ(letter.value, R"({"id":"x"})");
  ASSERT_EQ(letter.headers.size(), 2u);
  EXPECT_EQ(letter.headers[0].first, "trace");
  EXPECT_EQ(letter.headers[0].second, "42");
  EXPECT_EQ(letter.headers[1].second, std::nullopt);
  EXPECT_EQ(letter.stage, "decode");
  EXPECT_EQ(letter.reason, "type_mismatch");
  EXPECT_EQ(result->dead_letters[1].value, "oops");
  EXPECT_EQ(result->dead_letters[2].reason, "tombstone");
  EXPECT_EQ(result->dead_letters[2].value, std::nullopt);
  EXPECT_EQ(result->batch.input_bytes, 8);
}

TEST(JsonSchemaTest, TombstonesAreSkippedAndCounted) {
  const auto result = DecodeAll(Simple(), {std::nullopt, R"({"id":1})", std::nullopt});
  EXPECT_EQ(result.counters.tombstones_skipped, 2);
  EXPECT_TRUE(result.dead_letters.empty());
  EXPECT_EQ(result.consumed, 3u);
}

TEST(JsonSchemaTest, WhatIsNoObject) {
  EXPECT_EQ(OnlyReason(Simple(), ""), "empty_value");
  EXPECT_EQ(OnlyReason(Simple(), " \n"), "empty_value");
  EXPECT_EQ(OnlyReason(Simple(), "null"), "not_an_object");
  EXPECT_EQ(OnlyReason(Simple(), "[]"), "not_an_object");
  EXPECT_EQ(OnlyReason(Simple(), "12"), "not_an_object");
  EXPECT_EQ(OnlyReason(Simple(), "\"{}\""), "not_an_object");
  EXPECT_EQ(OnlyReason(Simple(), "[1,]"), "malformed_json");
  EXPECT_EQ(OnlyReason(Simple(), "1 2"), "malformed_json");
}

TEST(JsonSchemaTest, DamageBehindAValueThatDoesNotFitIsStillDamage) {
  EXPECT_EQ(OnlyReason(Simple(), R"({"id":"x","b":1})"), "type_mismatch");
  EXPECT_EQ(OnlyReason(Simple(), R"({"id":"x","b":tru})"), "malformed_json");
  EXPECT_EQ(OnlyReason(Simple(), R"({"id":"x","b":1)"), "malformed_json");
}

TEST(JsonSchemaTest, ColumnsMayComeFromOtherAndFromNestedFields) {
  BoundSchema bound;
  bound.schema = MakeSchema({Field(1, "when", Primitive("timestamptz"), true),
                             Field(2, "city", Primitive("string")), Field(3, "zip", Primitive("long")),
                             Field(4, "dotted", Primitive("int")), Field(5, "plain.dot", Primitive("int"))});
  bound.mappings[1] = {.from = "ts", .epoch_unit = TimeUnit::kMillis};
  bound.mappings[2] = {.from = "address.city"};
  bound.mappings[3] = {.from = "address.post.zip"};
  bound.mappings[4] = {.from = "x\\.y"};
  const auto result = DecodeAll(
      bound,
      {R"({"ts":1000,"address":{"city":"Bern","post":{"zip":3000,"box":1},"street":"x"},"x.y":4,"plain.dot":5})",
       R"({"ts":2000,"address":null})", R"({"ts":3000,"address":{"post":null}})",
       R"({"ts":4000,"address":{}})"});
  EXPECT_THAT(
      Rows(result),
      ElementsAre(
          R"({"city":"Bern","dotted":4,"plain.dot":5,"when":"1970-01-01 00:00:01.000000Z","zip":3000})",
          R"({"city":null,"dotted":null,"plain.dot":null,"when":"1970-01-01 00:00:02.000000Z","zip":null})",
          R"({"city":null,"dotted":null,"plain.dot":null,"when":"1970-01-01 00:00:03.000000Z","zip":null})",
          R"({"city":null,"dotted":null,"plain.dot":null,"when":"1970-01-01 00:00:04.000000Z","zip":null})"));
  EXPECT_EQ(result.counters.unknown_fields_ignored, 2);
  const auto bad = DecodeAll(
      bound, {R"({"ts":1,"address":{"post":{"zip":"x"}}})", R"({"ts":1,"address":7})", R"({"address":{}})"});
  ASSERT_EQ(bad.dead_letters.size(), 3u);
  EXPECT_THAT(bad.dead_letters[0].message, HasSubstr("field 'address.post.zip'"));
  EXPECT_THAT(bad.dead_letters[1].message, HasSubstr("field 'address': expected an object"));
  EXPECT_EQ(bad.dead_letters[2].reason, "missing_required");
}

TEST(JsonSchemaTest, AnEncodingHoldsForEverythingInAColumn) {
  const auto bytes = Primitive("binary");
  BoundSchema bound;
  bound.schema = MakeSchema(
      {Field(1, "s", Type::Struct({Field(5, "b", bytes), Field(6, "t", Primitive("string"))})),
       Field(2, "l", Type::List(7, false, bytes)),
       Field(3, "m", Type::Map(8, bytes, 9, false, Primitive("fixed[2]"))), Field(4, "plain", bytes)});
  for (const int32_t id : {1, 2, 3}) bound.mappings[id].bytes_encoding = BytesEncoding::kHex;
  const auto result =
      DecodeAll(bound, {R"({"s":{"b":"61","t":"61"},"l":["62",null,""],"m":{"6b":"7631"},"plain":"YQ=="})",
                        R"({"m":{"k":"7631"}})"});
  EXPECT_THAT(Rows(result),
              ElementsAre(R"({"l":["b",null,""],"m":{"k":"v1"},"plain":"a","s":{"b":"a","t":"61"}})"));
  ASSERT_EQ(result.dead_letters.size(), 1u);
  EXPECT_EQ(result.dead_letters[0].reason, "bad_map_key");
  EXPECT_THAT(result.dead_letters[0].message, HasSubstr("hexadecimal"));
}

TEST(JsonSchemaTest, MappingsThatContradictEachOtherAreRefused) {
  BoundSchema bound;
  bound.schema = MakeSchema(
      {Field(1, "a", Primitive("int")), Field(2, "b", Primitive("int")), Field(3, "c", Primitive("date"))});
  bound.mappings[2] = {.from = "a"};
  EXPECT_THAT(MakeError(bound), HasSubstr("column 'b'"));
  bound.mappings[2] = {.from = "a.x"};
  EXPECT_THAT(MakeError(bound), HasSubstr("goes to column 'a' as a whole"));
  bound.mappings[2] = {.from = "x..y"};
  EXPECT_THAT(MakeError(bound), HasSubstr("no path"));
  bound.mappings[2] = {.from = "b", .epoch_unit = TimeUnit::kSeconds};
  EXPECT_THAT(MakeError(bound), HasSubstr("a unit is for dates and times, not for int"));
  bound.mappings[2] = {.from = "b", .bytes_encoding = BytesEncoding::kHex};
  EXPECT_THAT(MakeError(bound), HasSubstr("column 'b': an encoding is for binary and fixed, not for int"));
  bound.mappings.clear();
  EXPECT_EQ(MakeError(bound), "ok");
  bound.unknown_fields = UnknownFields::kRescue;
  EXPECT_THAT(MakeError(bound), HasSubstr("_rescued"));
  bound.schema = MakeSchema({Field(1, "v", Type::Primitive(iceberg::TypeId::kVariant))});
  bound.unknown_fields = UnknownFields::kIgnore;
  EXPECT_THAT(MakeError(bound), HasSubstr("variant"));
}

TEST(JsonSchemaTest, UnknownFieldsAreIgnoredAndCounted) {
  const auto result = DecodeAll(
      Simple(), {R"({"id":1,"x":1,"y":{"z":[1,2]}})", R"({"x":null,"id":2})", R"({"id":"bad","x":1})"});
  EXPECT_EQ(Rows(result).size(), 2u);
  EXPECT_EQ(result.counters.unknown_fields_ignored, 3);
}

TEST(JsonSchemaTest, UnknownFieldsAreRescuedAsTheyStand) {
  BoundSchema bound;
  bound.schema = MakeSchema(
      {Field(1, "p", Type::Struct({Field(2, "x", Primitive("int"))})),
       Field(3, "_rescued", Primitive("string")),
       Field(4, "l", Type::List(5, false, Type::Struct({Field(6, "y", Primitive("int"))}))),
       Field(7, "m",
             Type::Map(8, Primitive("string"), 9, false, Type::Struct({Field(10, "z", Primitive("int"))})))});
  bound.unknown_fields = UnknownFields::kRescue;
  const auto result = DecodeAll(
      bound,
      {R"({"a":1.50,"p":{"x":1,"b\n":"\u0041","":5},"l":[{"y":1},{"q":[ 1 ]}],"m":{"k":{"z":1,"w":null}},"_rescued":"me"})",
       R"({"p":{"x":2}})"});
  const auto rows = Rows(result);
  ASSERT_EQ(rows.size(), 2u);
  const auto column = result.batch.rows->GetColumnByName("_rescued");
  EXPECT_THAT(rows[0], HasSubstr("\"x\":1"));
  const auto rescued = nlohmann::json::parse(nlohmann::json::parse(rows[0])["_rescued"].get<std::string>());
  EXPECT_EQ(rescued, nlohmann::json::parse(
                         R"({"a":1.5,"p.b\n":"A","p.":5,"l[1].q":[1],"m.k.w":null,"_rescued":"me"})"));
  EXPECT_EQ(nlohmann::json::parse(rows[1])["_rescued"], nullptr);
  EXPECT_EQ(result.counters.unknown_fields_ignored, 0);
}

TEST(JsonSchemaTest, UnknownFieldsMayBeBadRecords) {
  auto bound = Simple();
  bound.unknown_fields = UnknownFields::kDeadLetter;
  const auto result =
      DecodeAll(bound, {R"({"id":1})", R"({"id":1,"x":{"a":[1]}})", R"({"id":2})", R"({"x":tru})"});
  ASSERT_EQ(result.dead_letters.size(), 2u);
  EXPECT_EQ(result.dead_letters[0].reason, "unknown_field");
  EXPECT_THAT(result.dead_letters[0].message, HasSubstr("field 'x'"));
  EXPECT_EQ(result.dead_letters[1].reason, "malformed_json");
  EXPECT_EQ(Rows(result).size(), 2u);
}

TEST(JsonSchemaTest, ARefusedAllocationIsAnErrorAndTheDecoderGoesOnAfterwards) {
  arrow::CappedMemoryPool pool(arrow::default_memory_pool(), 300'000);
  auto bound = Simple();
  bound.schema = MakeSchema({Field(1, "id", Primitive("int")), Field(2, "s", Primitive("string")),
                             Field(3, "l", Type::List(4, false, Primitive("string")))});
  bound.pool = &pool;
  auto decoder = MakeJsonDecoder(bound);
  ASSERT_TRUE(decoder.ok());
  const std::string good = R"({"id":1,"s":null,"l":["a",null]})";
  const auto large = MakeRaw({good, R"({"id":2,"s":")" + std::string(400'000, 'x') + "\"}"});
  for (int round = 0; round < 3; ++round) {
    const auto refused = (*decoder)->Decode(large, 0);
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().kind(), ErrorKind::kResourceExhausted);
    const auto fine = (*decoder)->Decode(MakeRaw({good}), 0);
    ASSERT_TRUE(fine.ok());
    EXPECT_THAT(Rows(*fine), ElementsAre(R"({"id":1,"l":["a",null],"s":null})"));
  }
  EXPECT_EQ(pool.bytes_allocated(), 0);
}

// --- evolution

std::vector<std::string> Added(const DecodeResult& result) {
  std::vector<std::string> added;
  if (!result.delta) return added;
  for (const auto& field : result.delta->added)
    added.push_back(std::to_string(field.parent_id) + " " + field.name + " " + field.type->ToString());
  for (const auto& field : result.delta->widened)
    added.push_back(std::to_string(field.field_id) + " -> " + field.type->ToString());
  return added;
}

TEST(JsonEvolutionTest, TheFirstRecordThatNeedsAChangeCutsTheBatch) {
  const auto result = DecodeAll(Simple(Evolution::kAdd), {R"({"id":1})", R"({"id":"bad","x":1})",
                                                          R"({"id":2,"new":null,"void":{},"none":[]})",
                                                          R"({"id":3,"new":1})", R"({"id":4})"});
  EXPECT_EQ(result.consumed, 3u);
  EXPECT_EQ(Rows(result).size(), 2u);
  EXPECT_EQ(result.dead_letters.size(), 1u);
  EXPECT_THAT(Added(result), ElementsAre("0 new long"));
  EXPECT_EQ(result.counters.unknown_fields_ignored, 3);
}

TEST(JsonEvolutionTest, ACutAtTheFirstRecordGivesNoRows) {
  const auto result = DecodeAll(Simple(Evolution::kAdd), {R"({"id":3,"new":1})"});
  EXPECT_EQ(result.consumed, 0u);
  EXPECT_EQ(result.batch.rows, nullptr);
  EXPECT_TRUE(result.delta.has_value());
}

TEST(JsonEvolutionTest, OneDeltaForTheWholeRestOfTheBatch) {
  const auto result = DecodeAll(Simple(Evolution::kAddAndWiden),
                                {R"({"id":1,"a":1})", R"({"id":2,"b":"x","c":[1,2.5]})", std::nullopt,
                                 "broken{", R"({"id":"bad","never":1})", R"({"id":3000000000})",
                                 R"({"a":1.5,"d":{"e":true,"f":null,"g":[{"h":1},{"i":"x"}]}})"});
  EXPECT_EQ(result.consumed, 0u);
  EXPECT_THAT(Added(result), ElementsAre("0 a double", "0 b string", "0 c list<double>",
                                         HasSubstr("0 d struct<"), "1 -> long"));
  const auto& d = *result.delta->added[3].type;
  ASSERT_EQ(d.fields().size(), 2u);
  EXPECT_EQ(d.fields()[1].type->element().type->fields().size(), 2u);
}

TEST(JsonEvolutionTest, NestedFieldsAreAddedToTheirStruct) {
  BoundSchema bound;
  bound.schema = MakeSchema(
      {Field(1, "p", Type::Struct({Field(2, "x", Primitive("int"))})),
       Field(3, "l", Type::List(4, false, Type::Struct({Field(5, "y", Primitive("int"))}))),
       Field(6, "m",
             Type::Map(7, Primitive("string"), 8, false, Type::Struct({Field(9, "z", Primitive("int"))})))});
  bound.evolution = Evolution::kAdd;
  const auto result =
      DecodeAll(bound, {R"({"p":{"x":1,"a":1},"l":[{"b":1},{"b":2.5}],"m":{"k":{"c":"t"}}})"});
  EXPECT_THAT(Added(result), ElementsAre("1 a long", "4 b double", "8 c string"));
}

TEST(JsonEvolutionTest, WideningOnlyWhereTheFormatAllows) {
  BoundSchema bound;
  bound.schema = MakeSchema({Field(1, "i", Primitive("int")), Field(2, "f", Primitive("float")),
                             Field(3, "c", Primitive("decimal(5,2)")), Field(4, "l", Primitive("long")),
                             Field(5, "m", Type::Map(6, Primitive("int"), 7, false, Primitive("int")))});
  bound.evolution = Evolution::kAddAndWiden;
  EXPECT_THAT(Added(DecodeAll(bound, {R"({"i":2147483648})"})), ElementsAre("1 -> long"));
  EXPECT_THAT(Added(DecodeAll(bound, {R"({"f":1e39})"})), ElementsAre("2 -> double"));
  EXPECT_THAT(Added(DecodeAll(bound, {R"({"c":1234.5})", R"({"c":123456.78})", R"({"c":1000})"})),
              ElementsAre("3 -> decimal(8, 2)"));
  EXPECT_THAT(Added(DecodeAll(bound, {R"({"m":{"1":3000000000}})"})), ElementsAre("7 -> long"));
  EXPECT_EQ(OnlyReason(bound, R"({"m":{"3000000000":1}})"), "bad_map_key");
  EXPECT_EQ(OnlyReason(bound, R"({"i":1.5})"), "inexact");
  EXPECT_EQ(OnlyReason(bound, R"({"i":9223372036854775808})"), "out_of_range");
  EXPECT_EQ(OnlyReason(bound, R"({"l":9223372036854775808})"), "out_of_range");
  EXPECT_EQ(OnlyReason(bound, R"({"f":1e309})"), "out_of_range");
  EXPECT_EQ(OnlyReason(bound, R"({"c":1.234})"), "inexact");
  bound.evolution = Evolution::kAdd;
  EXPECT_EQ(OnlyReason(bound, R"({"i":2147483648})"), "out_of_range");
}

TEST(JsonEvolutionTest, NamesThatCannotBecomeColumnsFollowThePolicyForUnknownFields) {
  auto bound = Simple(Evolution::kAdd);
  bound.schema = MakeSchema({Field(1, "id", Primitive("int")), Field(2, "when", Primitive("string"))});
  bound.mappings[2] = {.from = "ts"};
  bound.refused = {{
      0,
      "tried",
      "no",
  }};
  const std::string json = R"({"id":1,"ID":2,"when":"x","_file":"y","":1,"_rescued":1,"_kafka":1,"tried":5})";
  const auto ignored = DecodeAll(bound, {json});
  EXPECT_FALSE(ignored.delta.has_value());
  EXPECT_EQ(ignored.counters.unknown_fields_ignored, 7);
  bound.unknown_fields = UnknownFields::kDeadLetter;
  const auto refused = DecodeAll(bound, {R"({"Id":1})", R"({"_file":"x"})"});
  ASSERT_EQ(refused.dead_letters.size(), 2u);
  EXPECT_THAT(refused.dead_letters[0].message, HasSubstr("differs only in case from 'id'"));
  EXPECT_THAT(refused.dead_letters[1].message, HasSubstr("Iceberg reserves the name"));
  // Two new names that differ only in case: the first becomes a column.
  EXPECT_THAT(Added(DecodeAll(bound, {R"({"x":1,"X":2})"})), ElementsAre("0 x long"));
}

TEST(JsonEvolutionTest, ValuesWithoutACommonTypeAreBadRecords) {
  const auto bound = Simple(Evolution::kAddAndWiden);
  EXPECT_EQ(OnlyReason(bound, R"({"x":[1,"a"]})"), "type_conflict");
  EXPECT_EQ(OnlyReason(bound, R"({"x":[{"a":1},{"a":true}]})"), "type_conflict");
  EXPECT_EQ(OnlyReason(bound, R"({"x":18446744073709551616})"), "type_conflict");
  EXPECT_EQ(OnlyReason(bound, R"({"x":)" + std::string(70, '[') + "1" + std::string(70, ']') + "}"),
            "type_conflict");
  const auto result = DecodeAll(bound, {R"({"x":1})", R"({"x":"text"})"});
  EXPECT_THAT(Added(result), ElementsAre("0 x long"));
}

TEST(JsonEvolutionTest, NoMoreThanMaxColumns) {
  auto bound = Simple(Evolution::kAdd);
  bound.max_columns = 3;
  const auto result =
      DecodeAll(bound, {R"({"id":1,"a":{"b":1,"c":2}})", R"({"id":2,"d":1})", R"({"id":3,"e":1,"f":1})"});
  ASSERT_EQ(result.dead_letters.size(), 1u);
  EXPECT_EQ(result.dead_letters[0].reason, "too_many_columns");
  EXPECT_EQ(result.consumed, 1u);
  EXPECT_THAT(Added(result), ElementsAre("0 d long"));
}

TEST(JsonEvolutionTest, ManyNewFieldsInManyRecordsAreOneDelta) {
  std::vector<std::optional<std::string>> values;
  for (int i = 0; i < 2000; ++i)
    values.push_back("{\"f" + std::to_string(i % 500) + "\":1,\"F" + std::to_string((i + 1) % 500) + "\":2}");
  const auto result = DecodeAll(Simple(Evolution::kAdd), values);
  // One spelling of each of the 500 names.
  ASSERT_TRUE(result.delta.has_value());
  EXPECT_EQ(result.delta->added.size(), 500u);
}

TEST(JsonEvolutionTest, CutAndResumeGiveWhatTheWiderSchemaGivesAtOnce) {
  const std::vector<std::optional<std::string>> values = {R"({"id":1})", R"({"id":2,"a":"x"})",
                                                          "bad",         R"({"id":4000000000,"a":"y"})",
                                                          R"({"id":5})", R"({"id":6,"a":7})"};
  auto narrow = Simple(Evolution::kAddAndWiden);
  BoundSchema wide = narrow;
  wide.schema = MakeSchema({Field(1, "id", Primitive("long")), Field(2, "a", Primitive("string"))});
  const auto raw = MakeRaw(values);
  auto first = MakeJsonDecoder(narrow);
  auto second = MakeJsonDecoder(wide);
  ASSERT_TRUE(first.ok() && second.ok());
  const auto head = (*first)->Decode(raw, 0);
  ASSERT_TRUE(head.ok());
  EXPECT_EQ(head->consumed, 1u);
  const auto tail = (*second)->Decode(raw, head->consumed);
  const auto whole = (*second)->Decode(raw, 0);
  ASSERT_TRUE(tail.ok() && whole.ok());
  EXPECT_FALSE(tail->delta.has_value());
  EXPECT_EQ(head->consumed + tail->consumed, values.size());
  const auto rows = Rows(*whole);
  const auto tail_rows = Rows(*tail);
  ASSERT_EQ(rows.size(), 4u);
  EXPECT_EQ(std::vector<std::string>(rows.begin() + 1, rows.end()), tail_rows);
  EXPECT_EQ(tail->dead_letters.size(), 2u);
}

}  // namespace
}  // namespace firn::decode
