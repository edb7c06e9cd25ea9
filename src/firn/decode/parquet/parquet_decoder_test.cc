#include "firn/decode/parquet/parquet_decoder.h"

#include <arrow/api.h>
#include <gtest/gtest.h>

#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>

#include "firn/decode/parquet/parquet_test_support.h"
#include "firn/iceberg/scan/parquet_fixture.h"

namespace firn::decode {
namespace {

using iceberg::Type;
using iceberg::testing::Longs;
using iceberg::testing::ParquetBytes;
using iceberg::testing::Texts;
using testing::Bound;
using testing::Field;
using testing::Primitive;
using testing::Rows;
using Strings = std::vector<std::string>;

std::string Golden(const std::string& name) {
  const std::ifstream in(std::string(FIRN_SOURCE_DIR) + "/test/golden/parquet/" + name + ".parquet",
                         std::ios::binary);
  EXPECT_TRUE(in.good()) << name;
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

BoundSchema One(const std::string& name, const std::string& type) {
  return Bound({Field(1, name, Primitive(type))});
}

DecodeResult Decode(const std::string& bytes, const BoundSchema& bound,
                    ParquetMatch match = ParquetMatch::kName) {
  const auto batches = testing::ReadParquet(bytes);
  if (batches.empty()) return {};
  return testing::DecodeWith(MakeParquetDecoder(match, bound), batches[0]);
}

/// First and third cell of a column of golden file `primitives` (the second is null), or the reasons.
std::string Cells(const std::string& name, const std::string& type) {
  const auto result = Decode(Golden("primitives"), One(name, type));
  std::string text;
  for (const std::string& row : Rows(result)) {
    const auto cell = nlohmann::json::parse(row)[name];
    if (!cell.is_null()) text += cell.dump() + " ";
  }
  for (const auto& letter : result.dead_letters) text += letter.reason + " ";
  return text;
}

std::string FileWith(const std::string& name, std::shared_ptr<arrow::Array> cells) {
  const auto schema = arrow::schema({arrow::field(name, cells->type())});
  return ParquetBytes(arrow::RecordBatch::Make(schema, cells->length(), {cells}));
}

TEST(ParquetDecoderTest, EveryTypeIsTakenAsItIsMeant) {
  EXPECT_EQ(Cells("flag", "boolean"), "true false ");
  EXPECT_EQ(Cells("tiny", "int"), "1 -8 ");
  EXPECT_EQ(Cells("unsigned", "long"), "4294967295 0 ");
  EXPECT_EQ(Cells("huge", "decimal(20,0)"), "\"18446744073709551615\" \"7\" ");
  EXPECT_EQ(Cells("amount", "decimal(9,2)"), "\"12.50\" \"-0.01\" ");
  EXPECT_EQ(Cells("day", "date"), "\"2024-03-31\" \"1969-12-31\" ");
  EXPECT_EQ(Cells("clock", "time"), "\"23:59:59.005000\" \"00:00:00.000000\" ");
  EXPECT_EQ(Cells("local", "timestamp"), "\"2024-03-31 12:00:00.123456\" \"2024-03-31 12:00:00.123456\" ");
  EXPECT_EQ(Cells("text", "string"), "\"ä\" \"\" ");
  EXPECT_EQ(Cells("word", "string"), "\"x\" \"y\" ");
}

TEST(ParquetDecoderTest, BytesAreTakenAsTheyAre) {
  const auto bytes = Decode(Golden("primitives"), One("bytes", "binary"));
  EXPECT_EQ(static_cast<const arrow::BinaryArray&>(*bytes.batch.rows->column(0)).GetView(0),
            std::string_view("\x00\xFF", 2));
  const auto uuids = Decode(Golden("primitives"), One("uuid", "uuid"));
  const auto& column = static_cast<const arrow::FixedSizeBinaryArray&>(*uuids.batch.rows->column(0));
  EXPECT_EQ(column.GetView(0)[15], '\x0F');
  EXPECT_TRUE(column.IsNull(1));
}

TEST(ParquetDecoderTest, TextStandsForBytesWhereAnEncodingIsDeclared) {
  BoundSchema bound = One("t", "binary");
  const auto file = FileWith("t", Texts({"6162", "6g"}));
  EXPECT_EQ(Rows(Decode(file, bound)), (Strings{R"({"t":"6162"})", R"({"t":"6g"})"}));
  bound.mappings[1].bytes_encoding = BytesEncoding::kHex;
  const auto result = Decode(file, bound);
  EXPECT_EQ(Rows(result), (Strings{R"({"t":"ab"})"}));
  ASSERT_EQ(result.dead_letters.size(), 1U);
  EXPECT_EQ(result.dead_letters[0].reason, "bad_hex");
  bound.schema = testing::MakeSchema({Field(1, "t", Primitive("fixed[2]"))});
  EXPECT_EQ(Rows(Decode(file, bound)), (Strings{R"({"t":"ab"})"}));
}

TEST(ParquetDecoderTest, WhatDoesNotFitIsABadRowOfItsOwn) {
  EXPECT_EQ(Cells("unsigned", "int"), "0 out_of_range ");
  EXPECT_EQ(Cells("text", "long"), "type_mismatch type_mismatch ");
  EXPECT_EQ(Cells("amount", "int"), "inexact inexact ");
  EXPECT_EQ(Cells("local", "timestamptz"), "bad_timestamp bad_timestamp ");
  EXPECT_EQ(Cells("instant", "timestamp"), "bad_timestamp bad_timestamp ");
  EXPECT_EQ(Cells("bytes", "string"), "\"\" invalid_utf8 ");
}

TEST(ParquetDecoderTest, ADeadLetterHoldsTheRow) {
  const auto result = Decode(FileWith("n", Longs({1, 3'000'000'000, 2})), One("n", "int"));
  ASSERT_EQ(result.dead_letters.size(), 1U);
  EXPECT_EQ(result.dead_letters[0].value, R"({"n":3000000000})");
  EXPECT_EQ(result.dead_letters[0].offset, 1);
  EXPECT_NE(result.dead_letters[0].message.find("field 'n'"), std::string::npos);
  EXPECT_EQ(result.batch.records, (std::vector<uint32_t>{0, 2}));
  EXPECT_EQ(Rows(result), (Strings{R"({"n":1})", R"({"n":2})"}));
}

TEST(ParquetDecoderTest, RowsBesideABadOneAreKeptInColumnsThatAreHandedOn) {
  const auto schema = arrow::schema({arrow::field("n", arrow::int64()), arrow::field("t", arrow::utf8())});
  const auto rows = arrow::RecordBatch::Make(schema, 3, {Longs({1, 2, 3}), Texts({"a", "\xFF", "c"})});
  const auto result = Decode(ParquetBytes(rows),
                             Bound({Field(1, "n", Primitive("long")), Field(2, "t", Primitive("string"))}));
  EXPECT_EQ(Rows(result), (Strings{R"({"n":1,"t":"a"})", R"({"n":3,"t":"c"})"}));
}

TEST(ParquetDecoderTest, Int96TimestampsFitBothKindsOfColumn) {
  for (const char* type : {"timestamp", "timestamptz"}) {
    const auto result = Decode(Golden("int96"), One("at", type));
    ASSERT_EQ(Rows(result).size(), 2U) << type;
    EXPECT_NE(Rows(result)[0].find("2024-03-31 12:00:00.123456"), std::string::npos);
  }
}

TEST(ParquetDecoderTest, DecimalsMayBeStoredAsIntegers) {
  EXPECT_EQ(Rows(Decode(Golden("small_decimals"), One("amount", "decimal(5,2)"))),
            (Strings{R"({"amount":"12.50"})", R"({"amount":null})", R"({"amount":"-0.01"})"}));
}

iceberg::TypePtr PointType(int32_t first_id) {
  return Type::Struct({Field(first_id, "x", Primitive("long")),
                       Field(first_id + 1, "tags", Type::List(first_id + 2, false, Primitive("string")))});
}

TEST(ParquetDecoderTest, NestedColumnsAreConvertedInside) {
  const BoundSchema bound =
      Bound({Field(1, "point", PointType(10)), Field(2, "points", Type::List(20, false, PointType(21))),
             Field(3, "map", Type::Map(30, Primitive("string"), 31, false, Primitive("long")))});
  EXPECT_EQ(
      Rows(Decode(Golden("nested"), bound)),
      (Strings{
          R"({"map":{"k":1,"l":null},"point":{"tags":["a",null],"x":1},"points":[{"tags":["b"],"x":2}]})",
          R"({"map":{},"point":null,"points":[]})",
          R"({"map":null,"point":{"tags":[],"x":null},"points":null})"}));
}

TEST(ParquetDecoderTest, TwoLevelListsAreListsToo) {
  const BoundSchema bound = Bound({Field(2, "points", Type::List(20, false, PointType(21)))});
  EXPECT_EQ(Rows(Decode(Golden("two_level_lists"), bound)).at(0), R"({"points":[{"tags":["b"],"x":2}]})");
}

TEST(ParquetDecoderTest, ABadCellDeepInsideNamesItsPath) {
  const auto narrow = Type::Struct({Field(11, "x", Primitive("string"))});
  const auto result = Decode(Golden("nested"), Bound({Field(2, "points", Type::List(20, false, narrow))}));
  ASSERT_EQ(result.dead_letters.size(), 1U);
  EXPECT_NE(result.dead_letters[0].message.find("field 'points[0].x'"), std::string::npos)
      << result.dead_letters[0].message;
}

TEST(ParquetDecoderTest, FieldIdsAreUsedWhereAskedFor) {
  const BoundSchema bound = One("new_name", "long");
  EXPECT_EQ(Rows(Decode(Golden("field_ids"), bound, ParquetMatch::kId)),
            (Strings{R"({"new_name":5})", R"({"new_name":6})"}));
  EXPECT_EQ(Rows(Decode(Golden("field_ids"), bound)),
            (Strings{R"({"new_name":null})", R"({"new_name":null})"}));
}

TEST(ParquetDecoderTest, FilesWithoutIdsAreReadByTheNamesThatTheTableMaps) {
  const auto point = Type::Struct({Field(3, "east", Primitive("int"))});
  BoundSchema bound = Bound({Field(1, "renamed", Primitive("long")), Field(2, "spot", point),
                             Field(4, "other", Primitive("string"))});
  bound.name_mapping = R"([{"field-id":1,"names":["renamed","old"]},)"
                       R"({"field-id":2,"names":["point"],"fields":[{"field-id":3,"names":["x"]}]}])";
  const auto xs =
      std::make_shared<arrow::Int32Array>(1, arrow::Buffer::FromString(std::string("\x07\0\0\0", 4)));
  const auto points = arrow::StructArray::Make({xs}, {arrow::field("x", arrow::int32())}).ValueOrDie();
  const auto schema =
      arrow::schema({arrow::field("old", arrow::int64()), arrow::field("point", points->type()),
                     arrow::field("other", arrow::utf8())});
  const std::string file =
      ParquetBytes(arrow::RecordBatch::Make(schema, 1, {Longs({5}), points, Texts({"o"})}));
  const Strings expected = {R"({"other":"o","renamed":5,"spot":{"east":7}})"};
  EXPECT_EQ(Rows(Decode(file, bound)), expected);
  EXPECT_EQ(Rows(Decode(file, bound, ParquetMatch::kId)), expected);
}

TEST(ParquetDecoderTest, AFileWithIdsDoesNotAskTheMapping) {
  BoundSchema bound = One("new_name", "long");
  bound.name_mapping = R"([{"field-id":1,"names":["new_name","old_name","name","a"]}])";
  EXPECT_EQ(Rows(Decode(Golden("field_ids"), bound)),
            (Strings{R"({"new_name":null})", R"({"new_name":null})"}));
}

TEST(ParquetDecoderTest, AMappingThatCannotBeReadIsAnError) {
  BoundSchema bound = One("a", "long");
  bound.name_mapping = "{";
  auto decoder = MakeParquetDecoder(ParquetMatch::kName, bound);
  ASSERT_TRUE(decoder.ok());
  const auto batches = testing::ReadParquet(FileWith("a", Longs({1})));
  const auto decoded = (*decoder)->Decode(batches.at(0), 0);
  ASSERT_FALSE(decoded.ok());
  EXPECT_NE(decoded.error().ToString().find("schema.name-mapping.default"), std::string::npos);
}

TEST(ParquetDecoderTest, AColumnIsReadFromWhereItsMappingPoints) {
  BoundSchema bound = One("x", "int");
  bound.mappings[1].from = "point.x";
  EXPECT_EQ(Rows(Decode(Golden("nested"), bound)), (Strings{R"({"x":1})", R"({"x":null})", R"({"x":null})"}));
}

TEST(ParquetDecoderTest, UnknownColumnsFollowThePolicy) {
  BoundSchema bound = One("flag", "boolean");
  EXPECT_EQ(Decode(Golden("primitives"), bound).counters.unknown_fields_ignored, 2 * 13);
  bound.unknown_fields = UnknownFields::kDeadLetter;
  EXPECT_EQ(Decode(Golden("primitives"), bound).dead_letters.size(), 2U);
  bound = Bound({Field(1, "map", Type::Map(30, Primitive("string"), 31, false, Primitive("long"))),
                 Field(2, "points", Type::List(20, false, PointType(21))),
                 Field(3, "_rescued", Primitive("string"))});
  bound.unknown_fields = UnknownFields::kRescue;
  EXPECT_EQ(nlohmann::json::parse(Rows(Decode(Golden("nested"), bound)).at(0))["_rescued"],
            R"({"point":{"x":1,"tags":["a",null]}})");
}

TEST(ParquetDecoderTest, EvolutionAsksForWhatTheFileHasMore) {
  BoundSchema bound = Bound({Field(1, "point", Type::Struct({Field(2, "x", Primitive("int"))})),
                             Field(3, "points", Type::List(20, false, PointType(21)))});
  bound.evolution = Evolution::kAdd;
  const auto result = Decode(Golden("nested"), bound);
  EXPECT_EQ(result.consumed, 0U);
  ASSERT_TRUE(result.delta.has_value());
  ASSERT_EQ(result.delta->added.size(), 2U);
  EXPECT_EQ(result.delta->added[0].parent_id, 1);
  EXPECT_EQ(result.delta->added[0].name, "tags");
  EXPECT_EQ(result.delta->added[1].name, "map");
}

TEST(ParquetDecoderTest, EvolutionWidensToTheFilesType) {
  BoundSchema bound = One("n", "int");
  bound.evolution = Evolution::kAddAndWiden;
  const auto result = Decode(FileWith("n", Longs({1})), bound);
  ASSERT_TRUE(result.delta.has_value());
  EXPECT_EQ(result.delta->widened.at(0).type->ToString(), "long");
  bound.refused = {{1, "", "no"}};
  EXPECT_EQ(Rows(Decode(FileWith("n", Longs({1})), bound)), (Strings{R"({"n":1})"}));
}

TEST(ParquetDecoderTest, RequiredColumnsAskForValues) {
  const BoundSchema bound = Bound({Field(1, "flag", Primitive("boolean"), true)});
  EXPECT_EQ(Decode(Golden("primitives"), bound).dead_letters.at(0).reason, "null_required");
  EXPECT_EQ(Decode(Golden("groups"), bound).dead_letters.at(0).reason, "missing_required");
}

TEST(ParquetDecoderTest, MessagesAreNoRows) {
  const auto decoder = MakeParquetDecoder(ParquetMatch::kName, One("n", "int"));
  ASSERT_TRUE(decoder.ok());
  EXPECT_FALSE((*decoder)->Decode(testing::MakeRaw({"x"}), 0).ok());
}

TEST(ParquetDecoderTest, TheFilesGiveTheColumnsOfANewTable) {
  const auto inferred = InferParquetSchema(testing::ReadParquet(Golden("primitives")));
  ASSERT_TRUE(inferred.ok());
  Strings types;
  for (const auto& field : inferred->schema->fields()) types.push_back(field.type->ToString());
  EXPECT_EQ(types, (Strings{"boolean", "int", "long", "decimal(20, 0)", "float", "decimal(5, 2)", "date",
                            "time", "timestamp", "timestamptz", "string", "string", "binary", "fixed[16]"}));
  const auto int96 = InferParquetSchema(testing::ReadParquet(Golden("int96")));
  EXPECT_EQ(int96->schema->fields()[0].type->ToString(), "timestamptz");
}

}  // namespace
}  // namespace firn::decode
