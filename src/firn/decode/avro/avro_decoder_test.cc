#include "firn/decode/avro/avro_decoder.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>

#include "firn/decode/avro/avro_test_support.h"
#include "firn/decode/schema_registry/schema_cache.h"
#include "firn/runtime/ids.h"

namespace firn::decode::testing {
namespace {

using avro::BinaryWriter;
using iceberg::Type;
using iceberg::TypeId;

BoundSchema BoundTo(std::vector<iceberg::NestedField> fields) {
  BoundSchema bound;
  bound.schema = MakeSchema(std::move(fields));
  bound.target_table = "lake.t";
  return bound;
}

/// The only row's only cell as text, or the reason of the dead letter.
std::string CellOf(const std::string& avro_type, const std::string& column_type, const Encode& encode,
                   const ColumnMapping& mapping = {}) {
  BoundSchema bound = BoundTo({Field(1, "a", Primitive(column_type))});
  bound.mappings[1] = mapping;
  const auto result =
      DecodeAvro(bound, Fixed(RecordOf(R"({"name":"a","type":)" + avro_type + "}")), {Datum(encode)});
  if (!result.dead_letters.empty()) return result.dead_letters[0].reason;
  const auto rows = Rows(result);
  if (rows.size() != 1) return "no row";
  const auto cell = nlohmann::json::parse(rows[0])["a"];
  return cell.is_string() ? cell.get<std::string>() : cell.dump();
}

Encode Long(int64_t value) {
  return [value](BinaryWriter& out) { out.WriteLong(value); };
}
Encode Bytes(std::string value) {
  return [value = std::move(value)](BinaryWriter& out) { out.WriteBytes(value); };
}

// --- promotions

TEST(AvroDecoder, NumbersGoIntoColumnsThatHoldThem) {
  EXPECT_EQ(CellOf(R"("int")", "int", Long(-7)), "-7");
  EXPECT_EQ(CellOf(R"("int")", "long", Long(-7)), "-7");
  EXPECT_EQ(CellOf(R"("int")", "double", Long(3)), "3.0");
  EXPECT_EQ(CellOf(R"("long")", "float", Long(3)), "3.0");
  EXPECT_EQ(CellOf(R"("long")", "int", Long(1 << 20)), "1048576");
  EXPECT_EQ(CellOf(R"("long")", "int", Long(int64_t{1} << 31)), "out_of_range");
  EXPECT_EQ(CellOf(R"("float")", "double", [](BinaryWriter& out) { out.WriteFloat(0.5F); }), "0.5");
  EXPECT_EQ(CellOf(R"("double")", "float", [](BinaryWriter& out) { out.WriteDouble(0.5); }), "0.5");
  EXPECT_EQ(CellOf(R"("double")", "float", [](BinaryWriter& out) { out.WriteDouble(1e300); }),
            "out_of_range");
  EXPECT_EQ(CellOf(R"("long")", "decimal(5,2)", Long(12)), "12.00");
  EXPECT_EQ(CellOf(R"("long")", "decimal(5,2)", Long(1234)), "out_of_range");
  EXPECT_EQ(CellOf(R"("double")", "long", [](BinaryWriter& out) { out.WriteDouble(1); }), "type_mismatch");
  EXPECT_EQ(CellOf(R"("int")", "string", Long(1)), "type_mismatch");
  EXPECT_EQ(CellOf(R"("int")", "int", Long(int64_t{1} << 40)), "malformed_avro");
}

TEST(AvroDecoder, TextAndBytesArePromotedToEachOther) {
  EXPECT_EQ(CellOf(R"("string")", "string", Bytes("gr\xC3\xBC\xC3\x9F")), "gr\xC3\xBC\xC3\x9F");
  EXPECT_EQ(CellOf(R"("bytes")", "string", Bytes("abc")), "abc");
  EXPECT_EQ(CellOf(R"("bytes")", "string", Bytes("\xFF")), "invalid_utf8");
  EXPECT_EQ(CellOf(R"("string")", "date", Bytes("2024-02-29")), "2024-02-29");
  EXPECT_EQ(CellOf(R"("string")", "date", Bytes("2023-02-29")), "bad_date");
  EXPECT_EQ(CellOf(R"("string")", "decimal(5,2)", Bytes("12.5")), "12.50");
  EXPECT_EQ(CellOf(R"({"type":"enum","name":"E","symbols":["X","Y"]})", "string", Long(1)), "Y");
  EXPECT_EQ(CellOf(R"({"type":"enum","name":"E","symbols":["X","Y"]})", "string", Long(2)), "malformed_avro");
}

TEST(AvroDecoder, TextStandsForBytesWhereAnEncodingIsDeclared) {
  const ColumnMapping hex{.bytes_encoding = BytesEncoding::kHex};
  const ColumnMapping base64{.bytes_encoding = BytesEncoding::kBase64};
  EXPECT_EQ(CellOf(R"("string")", "binary", Bytes("616263")), "616263");
  EXPECT_EQ(CellOf(R"("string")", "binary", Bytes("616263"), hex), "abc");
  EXPECT_EQ(CellOf(R"("string")", "binary", Bytes("61626"), hex), "bad_hex");
  EXPECT_EQ(CellOf(R"("string")", "binary", Bytes("YWJj"), base64), "abc");
  EXPECT_EQ(CellOf(R"("string")", "fixed[3]", Bytes("616263"), hex), "abc");
  EXPECT_EQ(CellOf(R"("string")", "fixed[3]", Bytes("6162"), hex), "out_of_range");
  EXPECT_EQ(CellOf(R"("string")", "fixed[3]", Bytes("abc")), "type_mismatch");
  EXPECT_EQ(CellOf(R"("bytes")", "binary", Bytes("6162"), hex), "6162") << "bytes are bytes";
}

// --- logical types

TEST(AvroDecoder, DecimalsAreExact) {
  const std::string decimal = R"({"type":"bytes","logicalType":"decimal","precision":6,"scale":2})";
  EXPECT_EQ(CellOf(decimal, "decimal(6,2)", Bytes("\xFB\x2E")), "-12.34");
  EXPECT_EQ(CellOf(decimal, "decimal(8,4)", Bytes("\xFB\x2E")), "-12.3400");
  EXPECT_EQ(CellOf(decimal, "decimal(6,1)", Bytes("\xFB\x2E")), "inexact");
  EXPECT_EQ(CellOf(decimal, "decimal(3,2)", Bytes("\xFB\x2E")), "out_of_range");
  EXPECT_EQ(CellOf(decimal, "decimal(38,2)", Bytes(std::string(20, '\xFF') + "\xFB\x2E")), "-12.34");
  EXPECT_EQ(CellOf(decimal, "decimal(38,2)", Bytes("\x01" + std::string(16, '\0'))), "out_of_range");
  EXPECT_EQ(CellOf(decimal, "decimal(6,2)", Bytes("")), "bad_decimal");
  EXPECT_EQ(CellOf(R"({"type":"fixed","name":"F","size":3,"logicalType":"decimal","precision":6,"scale":0})",
                   "decimal(6,0)", [](BinaryWriter& out) { out.WriteFixed(std::string("\x00\x00\x2A", 3)); }),
            "42");
}

TEST(AvroDecoder, TimesKeepTheirMeaning) {
  const auto logical = [](const std::string& base, const std::string& name) {
    return R"({"type":")" + base + R"(","logicalType":")" + name + "\"}";
  };
  EXPECT_EQ(CellOf(logical("int", "date"), "date", Long(-1)), "1969-12-31");
  EXPECT_EQ(CellOf(logical("int", "time-millis"), "time", Long(86'399'999)), "23:59:59.999000");
  EXPECT_EQ(CellOf(logical("int", "time-millis"), "time", Long(86'400'000)), "out_of_range");
  EXPECT_EQ(CellOf(logical("long", "time-micros"), "time", Long(1)), "00:00:00.000001");
  EXPECT_EQ(CellOf(logical("long", "timestamp-millis"), "timestamptz", Long(1)),
            "1970-01-01 00:00:00.001000Z");
  EXPECT_EQ(CellOf(logical("long", "timestamp-millis"), "timestamptz", Long(INT64_MAX)), "out_of_range");
  EXPECT_EQ(CellOf(logical("long", "local-timestamp-micros"), "timestamp", Long(-1)),
            "1969-12-31 23:59:59.999999");
  EXPECT_EQ(CellOf(logical("long", "timestamp-nanos"), "timestamptz_ns", Long(1)),
            "1970-01-01 00:00:00.000000001Z");
  EXPECT_EQ(CellOf(logical("long", "timestamp-nanos"), "timestamptz", Long(1)), "inexact");
  EXPECT_EQ(CellOf(logical("long", "timestamp-nanos"), "timestamptz", Long(1000)),
            "1970-01-01 00:00:00.000001Z");
  // An instant is no local time, nor the other way round.
  EXPECT_EQ(CellOf(logical("long", "timestamp-millis"), "timestamp", Long(1)), "type_mismatch");
  EXPECT_EQ(CellOf(logical("long", "local-timestamp-millis"), "timestamptz", Long(1)), "type_mismatch");
  // The number itself.
  EXPECT_EQ(CellOf(logical("long", "timestamp-millis"), "long", Long(5)), "5");
}

TEST(AvroDecoder, PlainNumbersAreTimesWhereAUnitIsDeclared) {
  EXPECT_EQ(CellOf(R"("long")", "timestamp", Long(1)), "type_mismatch");
  EXPECT_EQ(CellOf(R"("long")", "timestamp", Long(1), {.epoch_unit = TimeUnit::kSeconds}),
            "1970-01-01 00:00:01.000000");
  EXPECT_EQ(CellOf(R"("long")", "date", Long(86'400'000), {.epoch_unit = TimeUnit::kMillis}), "1970-01-02");
  EXPECT_EQ(CellOf(R"("long")", "date", Long(86'400'001), {.epoch_unit = TimeUnit::kMillis}), "inexact");
}

// --- shapes

TEST(AvroDecoder, NestedShapesBecomeNestedColumns) {
  const auto bound = BoundTo({Field(1, "list", Type::List(2, false, Primitive("int"))),
                              Field(3, "map", Type::Map(4, Primitive("string"), 5, false, Primitive("long"))),
                              Field(6, "legs",
                                    Type::List(7, false,
                                               Type::Struct({Field(8, "to", Primitive("string")),
                                                             Field(9, "miles", Primitive("int"))})))});
  const std::string schema = RecordOf(
      R"({"name":"list","type":["null",{"type":"array","items":["null","int"]}]},)"
      R"({"name":"map","type":{"type":"map","values":"long"}},)"
      R"({"name":"legs","type":{"type":"array","items":["null",{"type":"record","name":"Leg","fields":[)"
      R"({"name":"miles","type":["int","null"]},{"name":"to","type":"string"}]}]}})");
  const std::string first = Datum([](BinaryWriter& out) {
    out.WriteLong(1);
    out.WriteLong(-2);  // a block with its size
    out.WriteLong(3);
    out.WriteLong(1);
    out.WriteLong(5);
    out.WriteLong(0);
    out.WriteLong(0);
    out.BeginItems(1);
    out.WriteBytes("k");
    out.WriteLong(9);
    out.EndItems();
    out.BeginItems(3);
    out.WriteLong(1);
    out.WriteLong(0);
    out.WriteLong(100);
    out.WriteBytes("SFO");
    out.WriteLong(0);
    out.WriteLong(1);
    out.WriteLong(1);
    out.WriteBytes("LAX");
    out.EndItems();
  });
  const std::string second = Datum([](BinaryWriter& out) {
    out.WriteLong(0);
    out.EndItems();
    out.EndItems();
  });
  const auto result = DecodeAvro(bound, Fixed(schema), {second, first, second});
  ASSERT_TRUE(result.dead_letters.empty()) << result.dead_letters[0].message;
  EXPECT_EQ(
      Rows(result),
      (std::vector<std::string>{
          R"({"legs":[],"list":null,"map":{}})",
          R"({"legs":[{"miles":100,"to":"SFO"},null,{"miles":null,"to":"LAX"}],"list":[5,null],"map":{"k":9}})",
          R"({"legs":[],"list":null,"map":{}})"}));
}

TEST(AvroDecoder, GeneralUnionsFillAStruct) {
  const auto bound = BoundTo({Field(
      1, "u", Type::Struct({Field(2, "long", Primitive("long")), Field(3, "string", Primitive("string"))}))});
  const auto schemas = Fixed(RecordOf(R"({"name":"u","type":["null","long","string"]})"));
  const auto result = DecodeAvro(bound, schemas,
                                 {Datum(Long(0)), Datum([](BinaryWriter& out) {
                                    out.WriteLong(1);
                                    out.WriteLong(5);
                                  }),
                                  Datum([](BinaryWriter& out) {
                                    out.WriteLong(2);
                                    out.WriteBytes("x");
                                  })});
  EXPECT_EQ(Rows(result), (std::vector<std::string>{R"({"u":null})", R"({"u":{"long":5,"string":null}})",
                                                    R"({"u":{"long":null,"string":"x"}})"}));
}

TEST(AvroDecoder, AUnionIntoAPlainColumnTakesTheBranchesThatFit) {
  const auto bound = BoundTo({Field(1, "u", Primitive("long"))});
  const auto schemas = Fixed(RecordOf(R"({"name":"u","type":["int","long","string"]})"));
  const auto value = [](int64_t branch) {
    return Datum([branch](BinaryWriter& out) {
      out.WriteLong(branch);
      out.WriteLong(2);
    });
  };
  const auto result = DecodeAvro(bound, schemas, {value(0), value(1), value(2)});
  EXPECT_EQ(Rows(result), (std::vector<std::string>{R"({"u":2})", R"({"u":2})"}));
  ASSERT_EQ(result.dead_letters.size(), 1U);
  EXPECT_EQ(result.dead_letters[0].reason, "type_mismatch");
  EXPECT_EQ(result.dead_letters[0].offset, 102);
}

TEST(AvroDecoder, MappingsLeadIntoRecords) {
  auto bound = BoundTo({Field(1, "x", Primitive("int")), Field(2, "y", Primitive("int"), true)});
  bound.mappings[1] = {"in.a", TimeUnit::kNone};
  bound.mappings[2] = {"b", TimeUnit::kNone};
  const auto schemas = Fixed(RecordOf(
      R"({"name":"b","type":"int"},{"name":"in","type":["null",{"type":"record","name":"In","fields":[)"
      R"({"name":"a","type":"int"},{"name":"z","type":"int"}]}]})"));
  const auto result = DecodeAvro(bound, schemas,
                                 {Datum([](BinaryWriter& out) {
                                    for (const int value : {1, 1, 2, 3}) out.WriteLong(value);
                                  }),
                                  Datum([](BinaryWriter& out) {
                                    out.WriteLong(7);
                                    out.WriteLong(0);
                                  })});
  EXPECT_EQ(Rows(result), (std::vector<std::string>{R"({"x":2,"y":1})", R"({"x":null,"y":7})"}));
  EXPECT_EQ(result.counters.unknown_fields_ignored, 1);
}

TEST(AvroDecoder, RequiredColumnsWantAValue) {
  const auto bound = BoundTo({Field(1, "a", Primitive("int"), true)});
  const auto nothing = DecodeAvro(bound, Fixed(RecordOf(R"({"name":"b","type":"int"})")), {Datum(Long(1))});
  ASSERT_EQ(nothing.dead_letters.size(), 1U);
  EXPECT_EQ(nothing.dead_letters[0].reason, "missing_required");
  const auto null =
      DecodeAvro(bound, Fixed(RecordOf(R"({"name":"a","type":["null","int"]})")), {Datum(Long(0))});
  ASSERT_EQ(null.dead_letters.size(), 1U);
  EXPECT_EQ(null.dead_letters[0].reason, "null_required");
}

// --- fields without a column

TEST(AvroDecoder, UnknownFieldsFollowThePolicy) {
  const auto schemas = Fixed(
      RecordOf(R"({"name":"a","type":"int"},{"name":"more","type":{"type":"record","name":"M","fields":[)"
               R"({"name":"d","type":{"type":"int","logicalType":"date"}},{"name":"s","type":"string"}]}})"));
  const std::string value = Datum([](BinaryWriter& out) {
    out.WriteLong(1);
    out.WriteLong(0);
    out.WriteBytes("q\"");
  });
  auto bound = BoundTo({Field(1, "a", Primitive("int")), Field(2, "_rescued", Primitive("string"))});
  const auto ignored = DecodeAvro(bound, schemas, {value});
  EXPECT_EQ(ignored.counters.unknown_fields_ignored, 1);
  bound.unknown_fields = UnknownFields::kRescue;
  EXPECT_EQ(nlohmann::json::parse(Rows(DecodeAvro(bound, schemas, {value}))[0])["_rescued"],
            R"({"more":{"d":"1970-01-01","s":"q\""}})");
  bound.unknown_fields = UnknownFields::kDeadLetter;
  EXPECT_EQ(DecodeAvro(bound, schemas, {value}).dead_letters.at(0).reason, "unknown_field");
}

TEST(AvroDecoder, AnAliasLeadsToTheColumnOfTheFormerName) {
  const auto bound = BoundTo({Field(1, "delay", Primitive("int"))});
  const auto result =
      DecodeAvro(bound, Fixed(RecordOf(R"({"name":"delay_minutes","aliases":["delay"],"type":"int"})")),
                 {Datum(Long(4))});
  EXPECT_EQ(Rows(result), std::vector<std::string>{R"({"delay":4})"});
}

// --- a growing schema

TEST(AvroDecoder, ANewerSchemaCutsTheBatchAndAsksForAllThatTheRestNeeds) {
  auto bound = BoundTo(
      {Field(1, "a", Primitive("int")), Field(2, "s", Type::Struct({Field(3, "x", Primitive("int"))}))});
  bound.evolution = Evolution::kAddAndWiden;
  const std::string s1 =
      R"({"name":"s","type":{"type":"record","name":"S","fields":[{"name":"x","type":"int"}]}})";
  const std::string s2 =
      R"({"name":"s","type":{"type":"record","name":"S","fields":[{"name":"x","type":"int"},)"
      R"({"name":"y","type":["null","double"],"doc":"why"}]}})";
  const auto schemas = Numbered(
      {RecordOf(R"({"name":"a","type":"int"},)" + s1), RecordOf(R"({"name":"a","type":"long"},)" + s1),
       RecordOf(R"({"name":"a","type":"int"},{"name":"b","doc":"new","type":"string"},)" + s2)});
  const std::string old = "0" + Datum([](BinaryWriter& out) {
                            out.WriteLong(1);
                            out.WriteLong(2);
                          });
  const auto result = DecodeAvro(bound, schemas, {old, "1\x02\x02", old, "2\x02"});
  EXPECT_EQ(result.consumed, 1U);
  EXPECT_EQ(Rows(result).size(), 1U);
  ASSERT_TRUE(result.delta.has_value());
  ASSERT_EQ(result.delta->widened.size(), 1U);
  EXPECT_EQ(result.delta->widened[0].field_id, 1);
  ASSERT_EQ(result.delta->added.size(), 2U);
  EXPECT_EQ(result.delta->added[0].name, "b");
  EXPECT_EQ(result.delta->added[0].doc, "new");
  EXPECT_EQ(result.delta->added[0].type->ToString(), "string");
  EXPECT_EQ(result.delta->added[1].parent_id, 2);
  EXPECT_EQ(result.delta->added[1].name, "y");
  EXPECT_EQ(result.delta->added[1].type->ToString(), "double");
}

TEST(AvroDecoder, WhatTheTableRefusedIsAnUnknownFieldOrTakenAsFarAsItFits) {
  auto bound = BoundTo({Field(1, "a", Primitive("int"))});
  bound.evolution = Evolution::kAddAndWiden;
  bound.refused = {{0, "b", "no"}, {1, "", "no"}};
  const auto schemas = Fixed(RecordOf(R"({"name":"a","type":"long"},{"name":"b","type":"int"})"));
  const auto pair = [](int64_t a) {
    return Datum([a](BinaryWriter& out) {
      out.WriteLong(a);
      out.WriteLong(0);
    });
  };
  const auto result = DecodeAvro(bound, schemas, {pair(1), pair(int64_t{1} << 40)});
  EXPECT_FALSE(result.delta.has_value());
  EXPECT_EQ(Rows(result), std::vector<std::string>{R"({"a":1})"});
  EXPECT_EQ(result.dead_letters.at(0).reason, "out_of_range");
}

TEST(AvroDecoder, ARecordThatHoldsItselfIsNeverAColumn) {
  auto bound = BoundTo({Field(1, "a", Primitive("int"))});
  bound.evolution = Evolution::kAddAndWiden;
  const std::string schema = RecordOf(R"({"name":"a","type":"int"},{"name":"next","type":["null","Row"]})");
  const std::string value = Datum([](BinaryWriter& out) {
    for (const int part : {1, 1, 2, 0}) out.WriteLong(part);
  });
  const auto result = DecodeAvro(bound, Fixed(schema), {value});
  EXPECT_FALSE(result.delta.has_value());
  EXPECT_EQ(Rows(result), std::vector<std::string>{R"({"a":1})"});
  const auto inferred = InferAvroSchema(Sample({value}), Fixed(schema));
  ASSERT_FALSE(inferred.ok());
  EXPECT_EQ(inferred.error().kind(), ErrorKind::kUnsupported);
  EXPECT_NE(inferred.error().ToString().find("holds itself"), std::string::npos);
}

// --- bad records

TEST(AvroDecoder, DamageIsADeadLetterAndLeavesTheRowsBesideIt) {
  const auto bound =
      BoundTo({Field(1, "a", Primitive("string")), Field(2, "b", Type::List(3, false, Primitive("int")))});
  const auto schemas =
      Fixed(RecordOf(R"({"name":"a","type":"string"},{"name":"b","type":{"type":"array","items":"int"}})"));
  const std::string good = Datum([](BinaryWriter& out) {
    out.WriteBytes("x");
    out.BeginItems(1);
    out.WriteLong(4);
    out.EndItems();
  });
  const auto result =
      DecodeAvro(bound, schemas,
                 {good, good.substr(0, 3), good + "!", std::string("\x02x\xFF\xFF\xFF\xFF\x0F", 7),
                  std::string("\x7F", 1), std::nullopt, good});
  EXPECT_EQ(Rows(result), (std::vector<std::string>{R"({"a":"x","b":[4]})", R"({"a":"x","b":[4]})"}));
  ASSERT_EQ(result.dead_letters.size(), 4U);
  for (const auto& letter : result.dead_letters) EXPECT_EQ(letter.reason, "malformed_avro") << letter.message;
  EXPECT_EQ(result.counters.tombstones_skipped, 1);
  EXPECT_EQ(*result.dead_letters[0].value, good.substr(0, 3));
}

TEST(AvroDecoder, NullsWithoutBytesAreBounded) {
  const auto bound = BoundTo({Field(1, "a", Type::List(2, false, Primitive("int")))});
  const auto schemas = Fixed(RecordOf(R"({"name":"a","type":{"type":"array","items":"null"}})"));
  const auto result = DecodeAvro(bound, schemas, {Datum(Long(1'000'000))});
  EXPECT_EQ(result.dead_letters.at(0).reason, "malformed_avro");
}

TEST(AvroDecoder, AKeyTwiceInAMapIsABadRecord) {
  const auto bound = BoundTo({Field(1, "m", Type::Map(2, Primitive("string"), 3, false, Primitive("int")))});
  const auto schemas = Fixed(RecordOf(R"({"name":"m","type":{"type":"map","values":"int"}})"));
  const auto result = DecodeAvro(bound, schemas, {Datum([](BinaryWriter& out) {
                                   out.BeginItems(2);
                                   for (int i = 0; i < 2; ++i) {
                                     out.WriteBytes("k");
                                     out.WriteLong(i);
                                   }
                                   out.EndItems();
                                 })});
  EXPECT_EQ(result.dead_letters.at(0).reason, "bad_map_key");
}

// --- frames

TEST(AvroDecoder, ARegistryThatIsAwayIsNoBadRecord) {
  const auto bound = BoundTo({Field(1, "a", Primitive("int"))});
  const auto schemas = Numbered({RecordOf(R"({"name":"a","type":"int"})")});
  auto decoder = MakeAvroDecoder(bound, schemas);
  ASSERT_TRUE(decoder.ok());
  const auto raw = MakeRaw({"0\x02", "1\x04"});
  const auto not_now = (*decoder)->Decode(raw, 0);
  ASSERT_FALSE(not_now.ok());
  EXPECT_EQ(not_now.error().retry(), RetryHint::kYes);
  schemas->texts_.push_back(RecordOf(R"({"name":"a","type":"int"})"));
  const auto now = (*decoder)->Decode(raw, 0);
  ASSERT_TRUE(now.ok());
  EXPECT_EQ(Rows(*now), (std::vector<std::string>{R"({"a":1})", R"({"a":2})"}));
}

TEST(AvroDecoder, FramesAndSchemasThatAreOfNoUseMakeDeadLetters) {
  const auto bound = BoundTo({Field(1, "a", Primitive("int"))});
  const auto schemas = Numbered({RecordOf(R"({"name":"a","type":"int"})"), R"("long")", "not a schema"});
  const auto result = DecodeAvro(bound, schemas, {"0\x02", "x", "", "1\x02", "2\x02"});
  EXPECT_EQ(Rows(result).size(), 1U);
  std::vector<std::string> reasons;
  for (const auto& letter : result.dead_letters) reasons.push_back(letter.reason);
  EXPECT_EQ(reasons, (std::vector<std::string>{"unframed_avro", "unframed_avro", "unusable_schema",
                                               "unusable_schema"}));
}

TEST(AvroDecoder, ReadsSingleObjectEncodingOfAnotherWriter) {
  auto schemas = MakeSingleObjectSchemas({RecordOf(""), Golden("flight.avsc")});
  ASSERT_TRUE(schemas.ok()) << schemas.error().ToString();
  const std::shared_ptr<WriterSchemas> shared = std::move(*schemas);
  const auto bound = BoundTo({Field(1, "date", Primitive("timestamp")), Field(2, "delay", Primitive("int"))});
  const std::string value = Golden("flight.single_object");
  std::string other = value;
  other[2] ^= 1;
  const auto result =
      DecodeAvro(bound, shared, {value, other, value.substr(0, 9), "\xC3\x02" + value.substr(2)});
  EXPECT_EQ(Rows(result), std::vector<std::string>{R"({"date":"2001-01-01 00:00:00.000000","delay":-5})"});
  ASSERT_EQ(result.dead_letters.size(), 3U);
  EXPECT_EQ(result.dead_letters[0].reason, "unknown_schema_id");
  EXPECT_EQ(result.dead_letters[1].reason, "unframed_avro");
}

// --- columns of a new table

std::string Columns(const Result<InferredSchema>& inferred) {
  if (!inferred.ok()) return inferred.error().ToString();
  std::string text;
  for (const auto& field : inferred->schema->fields())
    text +=
        field.name + " " + field.type->ToString() + (field.doc.empty() ? "" : " '" + field.doc + "'") + "; ";
  return text;
}

TEST(InferAvroSchema, JoinsTheSchemasOfTheSample) {
  const auto schemas =
      Numbered({RecordOf(R"({"name":"a","type":"int","doc":"one"},{"name":"n","type":"null"})"),
                RecordOf(R"({"name":"b","type":["null","string"]},{"name":"a","type":"long"})"),
                RecordOf(R"({"name":"a","type":"string"},{"name":"_file","type":"int"})")});
  const auto inferred = InferAvroSchema(Sample({"2", "1", "0", "x"}), schemas);
  EXPECT_EQ(Columns(inferred), "a long 'one'; b string; ");
  EXPECT_EQ(inferred->records, 3);
  EXPECT_EQ(inferred->bad_records, 1);
  EXPECT_EQ(inferred->notes.size(), 2U);
  for (const auto& field : inferred->schema->fields()) EXPECT_FALSE(field.required);
}

TEST(InferAvroSchema, SaysWhatStandsInTheWay) {
  EXPECT_NE(
      Columns(InferAvroSchema(Sample({"0"}),
                              Numbered({RecordOf(R"({"name":"a","type":"int"},{"name":"A","type":"int"})")})))
          .find("differ only in case"),
      std::string::npos);
  EXPECT_NE(Columns(InferAvroSchema(Sample({"?"}), Numbered({}))).find("no number"), std::string::npos);
  EXPECT_EQ(InferAvroSchema(Sample({"5"}), Numbered({})).error().retry(), RetryHint::kYes);
  EXPECT_EQ(Columns(InferAvroSchema({}, Fixed(RecordOf(R"({"name":"a","type":"int"})")))), "a int; ");
}

/// Away for so many questions.
class AwayFetcher final : public SchemaFetcher {
 public:
  explicit AwayFetcher(int questions) : left_(questions) {}
  Result<RegisteredSchema> ById(int32_t /*id*/) override {
    if (left_-- > 0) return Error(ErrorKind::kUnavailable, "connection refused");
    RegisteredSchema schema;
    schema.text = RecordOf(R"({"name":"a","type":"long"})");
    schema.type = "AVRO";
    return schema;
  }
  Result<RegisteredSchema> Latest(const std::string& /*subject*/) override {
    return Error(ErrorKind::kNotFound, "none");
  }

 private:
  std::atomic<int> left_;
};

TEST(AvroDecoder, NothingIsLostThroughManyBackOffsOfARegistryThatIsAway) {
  constexpr int kQuestions = 50;  // the pauses reach their limit after four
  const SchemaCacheOptions options{.patience_ms = 1, .retry = {.initial_backoff_ms = 1, .max_backoff_ms = 8}};
  auto cache = std::make_shared<SchemaCache>(std::make_shared<AwayFetcher>(kQuestions),
                                             runtime::SystemClock(), runtime::SystemIds(), options);
  const BoundSchema bound = BoundTo({Field(1, "a", Primitive("long"))});
  auto decoder = MakeAvroDecoder(bound, MakeRegistrySchemas(cache, "")).value();
  std::vector<std::optional<std::string>> values;
  for (int i = 0; i < 100; ++i) values.push_back(std::string("\0\0\0\0\7", 5) + Datum(Long(i)));
  const record::RawBatch raw = MakeRaw(values);
  int refusals = 0;
  auto decoded = decoder->Decode(raw, 0);
  for (; !decoded.ok(); decoded = decoder->Decode(raw, 0)) {
    ASSERT_EQ(decoded.error().retry(), RetryHint::kYes) << decoded.error().ToString();
    ++refusals;
  }
  EXPECT_GE(refusals, kQuestions / 2);
  EXPECT_EQ(decoded->consumed, 100U);
  EXPECT_EQ(decoded->batch.records.size(), 100U);
  EXPECT_TRUE(decoded->dead_letters.empty());
}

}  // namespace
}  // namespace firn::decode::testing
