#include "firn/decode/csv/csv_decoder.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "firn/decode/csv/csv_test_support.h"
#include "firn/decode/csv/encoding.h"

namespace firn::decode {
namespace {

using testing::Bound;
using testing::DecodeWith;
using testing::Field;
using testing::MakeRaw;
using testing::Primitive;
using testing::Rows;
using Texts = std::vector<std::string>;
using Values = std::vector<std::optional<std::string>>;

BoundSchema TwoColumns() {
  return Bound({Field(1, "id", Primitive("long")), Field(2, "text", Primitive("string"))});
}

DecodeResult Decode(const CsvDialect& dialect, const BoundSchema& bound, const Values& values) {
  return DecodeWith(MakeCsvDecoder(dialect, bound), MakeRaw(values));
}

Texts Reasons(const DecodeResult& result) {
  Texts reasons;
  for (const auto& letter : result.dead_letters) reasons.push_back(letter.reason);
  return reasons;
}

/// One column, one message each: the cell as JSON, or the reason.
std::string Cell(const std::string& type, const std::string& text, CsvDialect dialect = {}) {
  const auto result = Decode(dialect, Bound({Field(1, "c", Primitive(type))}), {text});
  if (!result.dead_letters.empty()) return result.dead_letters[0].reason;
  return nlohmann::json::parse(Rows(result).at(0))["c"].dump();
}

TEST(CsvDecoderTest, MessagesGoToTheColumnsInTheirOrder) {
  const auto result = Decode({}, TwoColumns(), {"1,one", "2,\"t,wo\"\n", "3,\r\n"});
  EXPECT_EQ(Rows(result),
            (Texts{R"({"id":1,"text":"one"})", R"({"id":2,"text":"t,wo"})", R"({"id":3,"text":null})"}));
  EXPECT_EQ(result.batch.records, (std::vector<uint32_t>{0, 1, 2}));
}

TEST(CsvDecoderTest, DeclaredNamesDecideWhereFieldsGo) {
  CsvDialect dialect;
  dialect.columns = {"text", "id"};
  EXPECT_EQ(Rows(Decode(dialect, TwoColumns(), {"one,1"})), (Texts{R"({"id":1,"text":"one"})"}));
}

TEST(CsvDecoderTest, AMessageMayBringItsHeader) {
  CsvDialect dialect;
  dialect.header = true;
  EXPECT_EQ(Rows(Decode(dialect, TwoColumns(), {"text,id\none,1", "id\n2"})),
            (Texts{R"({"id":1,"text":"one"})", R"({"id":2,"text":null})"}));
}

TEST(CsvDecoderTest, AColumnIsReadFromTheFieldThatItsMappingNames) {
  BoundSchema bound = TwoColumns();
  bound.mappings[2].from = "a\\.b";
  CsvDialect dialect;
  dialect.columns = {"id", "a.b"};
  EXPECT_EQ(Rows(Decode(dialect, bound, {"1,x"})), (Texts{R"({"id":1,"text":"x"})"}));
}

TEST(CsvDecoderTest, NullIsTextWithoutQuotesOnly) {
  EXPECT_EQ(Cell("string", "\"\""), "\"\"");
  CsvDialect dialect;
  dialect.null_text = "\\N";
  dialect.backslash_escapes = true;
  EXPECT_EQ(Cell("string", "\\N", dialect), "null");
  EXPECT_EQ(Cell("string", "\"\\N\"", dialect), "\"N\"");
  EXPECT_EQ(Cell("int", "\\N", dialect), "null");
}

TEST(CsvDecoderTest, TextBecomesCellsExactlyOrNotAtAll) {
  EXPECT_EQ(Cell("int", "12"), "12");
  EXPECT_EQ(Cell("int", "12.0"), "12");
  EXPECT_EQ(Cell("int", "1.5"), "inexact");
  EXPECT_EQ(Cell("int", "3000000000"), "out_of_range");
  EXPECT_EQ(Cell("int", "007"), "type_mismatch");
  EXPECT_EQ(Cell("int", " 7"), "type_mismatch");
  EXPECT_EQ(Cell("long", "\"42\""), "42");
  EXPECT_EQ(Cell("double", "1e3"), "1000.0");
  EXPECT_EQ(Cell("double", "1.5x"), "type_mismatch");
  EXPECT_EQ(Cell("double", "nan"), "type_mismatch");
  EXPECT_EQ(Rows(Decode({}, Bound({Field(1, "c", Primitive("float"))}), {"NaN", "-Infinity"})).size(), 2U);
  EXPECT_EQ(Cell("boolean", "TRUE"), "true");
  EXPECT_EQ(Cell("boolean", "1"), "type_mismatch");
  EXPECT_EQ(Cell("decimal(5,2)", "12.50"), "\"12.50\"");
  EXPECT_EQ(Cell("decimal(5,2)", "1.234"), "inexact");
  EXPECT_EQ(Cell("date", "2024-02-30"), "bad_date");
  EXPECT_EQ(Cell("timestamp", "2024-03-31 10:00:00"), "\"2024-03-31 10:00:00.000000\"");
  EXPECT_EQ(Cell("timestamp", "2024-03-31T10:00:00Z"), "bad_timestamp");
  EXPECT_EQ(Cell("string", "007"), "\"007\"");
}

TEST(CsvDecoderTest, NumbersOfTheNextMessageAreNotReadAlong) {
  const BoundSchema bound = Bound({Field(1, "c", Primitive("long"))});
  EXPECT_EQ(Rows(Decode({}, bound, {"1", "2", "\"3\"\"", "4"})),
            (Texts{R"({"c":1})", R"({"c":2})", R"({"c":4})"}));
}

TEST(CsvDecoderTest, EpochNumbersNeedADeclaredUnit) {
  BoundSchema bound = Bound({Field(1, "c", Primitive("timestamp"))});
  bound.mappings[1].epoch_unit = TimeUnit::kSeconds;
  EXPECT_EQ(Rows(Decode({}, bound, {"1700000000"})), (Texts{R"({"c":"2023-11-14 22:13:20.000000"})"}));
  EXPECT_EQ(Cell("timestamp", "1700000000"), "bad_timestamp");
}

TEST(CsvDecoderTest, TextOfBytesIsReadInTheDeclaredEncoding) {
  BoundSchema bound = Bound({Field(1, "c", Primitive("binary"))});
  EXPECT_EQ(Rows(Decode({}, bound, {"YWJj"})), (Texts{R"({"c":"abc"})"}));
  bound.mappings[1].bytes_encoding = BytesEncoding::kHex;
  const auto result = Decode({}, bound, {"616263", "YWJj"});
  EXPECT_EQ(Rows(result), (Texts{R"({"c":"abc"})"}));
  EXPECT_EQ(Reasons(result), (Texts{"bad_hex"}));
}

TEST(CsvDecoderTest, TrimTakesSpacesAroundFieldsAndQuotes) {
  CsvDialect dialect;
  dialect.trim = true;
  EXPECT_EQ(Rows(Decode(dialect, TwoColumns(), {" 1 ,  \" a \"  ", "2,  "})),
            (Texts{R"({"id":1,"text":" a "})", R"({"id":2,"text":null})"}));
}

TEST(CsvDecoderTest, RaggedRowsAreBadUnlessTrailingFieldsMayMiss) {
  EXPECT_EQ(Reasons(Decode({}, TwoColumns(), {"1", "1,2,3", "1,a"})), (Texts{"ragged_row", "ragged_row"}));
  CsvDialect dialect;
  dialect.ragged_rows = RaggedRows::kAllowMissingTrailing;
  const auto result = Decode(dialect, TwoColumns(), {"1", "1,2,3"});
  EXPECT_EQ(Rows(result), (Texts{R"({"id":1,"text":null})"}));
  EXPECT_EQ(Reasons(result), (Texts{"ragged_row"}));
}

TEST(CsvDecoderTest, DamagedRecordsHaveReasonsOfTheirOwn) {
  EXPECT_EQ(
      Reasons(Decode({}, TwoColumns(), {"1,\"a", "1,\"a\"b", "1,a\n2,b", "", " \n", std::string("1,\xFF")})),
      (Texts{"unclosed_quote", "malformed_csv", "malformed_csv", "empty_value", "empty_value",
             "invalid_utf8"}));
}

TEST(CsvDecoderTest, RequiredColumnsAskForValues) {
  const BoundSchema bound =
      Bound({Field(1, "id", Primitive("long"), true), Field(2, "text", Primitive("string"))});
  EXPECT_EQ(Reasons(Decode({}, bound, {",a"})), (Texts{"null_required"}));
  CsvDialect dialect;
  dialect.columns = {"text"};
  EXPECT_EQ(Reasons(Decode(dialect, bound, {"a"})), (Texts{"missing_required"}));
}

TEST(CsvDecoderTest, TombstonesAreSkippedAndCounted) {
  const auto result = Decode({}, TwoColumns(), {"1,a", std::nullopt, "2,b"});
  EXPECT_EQ(result.counters.tombstones_skipped, 1);
  EXPECT_EQ(result.batch.records, (std::vector<uint32_t>{0, 2}));
}

class CsvUnknownFieldTest : public ::testing::Test {
 protected:
  CsvUnknownFieldTest() { dialect_.columns = {"id", "text", "new"}; }
  CsvDialect dialect_;
};

TEST_F(CsvUnknownFieldTest, IsCountedAndLeftOut) {
  const auto result = Decode(dialect_, TwoColumns(), {"1,a,x", "2,b,"});
  EXPECT_EQ(result.batch.rows != nullptr ? Rows(result).size() : 0, 2U);
  EXPECT_EQ(result.counters.unknown_fields_ignored, 1);
}

TEST_F(CsvUnknownFieldTest, IsRescued) {
  BoundSchema bound = Bound({Field(1, "id", Primitive("long")), Field(2, "text", Primitive("string")),
                             Field(3, "_rescued", Primitive("string"))});
  bound.unknown_fields = UnknownFields::kRescue;
  EXPECT_EQ(Rows(Decode(dialect_, bound, {"1,a,x\"y"})),
            (Texts{R"({"_rescued":"{\"new\":\"x\\\"y\"}","id":1,"text":"a"})"}));
}

TEST_F(CsvUnknownFieldTest, MakesADeadLetterByPolicy) {
  BoundSchema bound = TwoColumns();
  bound.unknown_fields = UnknownFields::kDeadLetter;
  EXPECT_EQ(Reasons(Decode(dialect_, bound, {"1,a,x"})), (Texts{"unknown_field"}));
}

TEST_F(CsvUnknownFieldTest, BecomesAColumnWithTheTypeOfTheBatch) {
  BoundSchema bound = TwoColumns();
  bound.evolution = Evolution::kAdd;
  const auto result = Decode(dialect_, bound, {"1,a,", "2,b,7", "3,c,x7"});
  EXPECT_EQ(result.consumed, 1U);
  ASSERT_TRUE(result.delta.has_value());
  ASSERT_EQ(result.delta->added.size(), 1U);
  EXPECT_EQ(result.delta->added[0].name, "new");
  EXPECT_EQ(result.delta->added[0].type->ToString(), "string");
}

TEST(CsvDecoderTest, AnIntThatNeedsMoreRoomWidensTheColumn) {
  BoundSchema bound = Bound({Field(1, "c", Primitive("int"))});
  bound.evolution = Evolution::kAddAndWiden;
  const auto result = Decode({}, bound, {"1", "3000000000"});
  ASSERT_TRUE(result.delta.has_value());
  EXPECT_EQ(result.delta->widened.at(0).type->ToString(), "long");
}

TEST(CsvDecoderTest, AFilesHeaderNamesItsFields) {
  const auto file = testing::ReadAll({}, "text,id\none,1\n");
  EXPECT_EQ(Rows(DecodeWith(MakeCsvDecoder({}, TwoColumns()), file.raw)),
            (Texts{R"({"id":1,"text":"one"})"}));
}

TEST(CsvDecoderTest, ADamagedHeaderMakesEveryRecordOfItsFileBad) {
  for (const char* bytes : {"id,id\n1,2\n3,4\n", "\"id\"x,text\n1,2\n3,4\n"}) {
    const auto file = testing::ReadAll({}, bytes);
    EXPECT_EQ(Reasons(DecodeWith(MakeCsvDecoder({}, TwoColumns()), file.raw)),
              (Texts{"bad_header", "bad_header"}));
  }
}

TEST(CsvDecoderTest, AnOverlongRecordOfAFileIsBad) {
  CsvDialect dialect;
  dialect.max_record_bytes = 16;
  const auto file = testing::ReadAll(dialect, "id,text\n1," + std::string(40, 'x') + "\n2,b\n");
  const auto result = DecodeWith(MakeCsvDecoder(dialect, TwoColumns()), file.raw);
  EXPECT_EQ(Reasons(result), (Texts{"record_too_long"}));
  EXPECT_EQ(Rows(result), (Texts{R"({"id":2,"text":"b"})"}));
}

TEST(CsvDecoderTest, ATableWithoutTheRescuedColumnIsRefused) {
  BoundSchema bound = TwoColumns();
  bound.unknown_fields = UnknownFields::kRescue;
  const auto decoder = MakeCsvDecoder({}, bound);
  ASSERT_FALSE(decoder.ok());
  EXPECT_EQ(decoder.error().kind(), ErrorKind::kInvalidArgument);
}

std::string Inferred(const CsvDialect& dialect, const Values& values) {
  std::vector<record::RawBatch> sample;
  sample.push_back(MakeRaw(values));
  const auto inferred = InferCsvSchema(dialect, sample);
  if (!inferred.ok()) return inferred.error().ToString();
  std::string text;
  for (const auto& field : inferred->schema->fields())
    text += field.name + ":" + field.type->ToString() + " ";
  return text;
}

TEST(CsvInferenceTest, TypesComeFromWhatAllValuesAgreeOn) {
  CsvDialect dialect;
  dialect.columns = {"i", "f", "m", "b", "z", "d", "x", "n"};
  EXPECT_EQ(Inferred(dialect, {"1,1.5,1,true,07,2024-01-31,1,", "-2,2,2.5,FALSE,12,2024-02-01,a,"}),
            "i:long f:double m:double b:boolean z:string d:string x:string ");
}

TEST(CsvInferenceTest, NanAndInfinitiesAreNumbersAmongNumbers) {
  CsvDialect dialect;
  dialect.columns = {"i", "f", "alone", "text"};
  EXPECT_EQ(Inferred(dialect, {"1,NaN,NaN,NaN", "-Infinity,2.5,Infinity,x"}),
            "i:double f:double alone:string text:string ");
}

TEST(CsvInferenceTest, FieldsWithoutNamesAreNumberedAndAllKept) {
  EXPECT_EQ(Inferred({}, {"1,,x"}), "column_1:long column_2:string column_3:string ");
}

TEST(CsvInferenceTest, NamesThatDifferOnlyInCaseAreRefused) {
  CsvDialect dialect;
  dialect.columns = {"a", "A"};
  EXPECT_NE(Inferred(dialect, {"1,2"}).find("only in case"), std::string::npos);
}

TEST(CsvEncodingTest, TextThatIsNotWellFormedIsRefused) {
  std::string out;
  EXPECT_FALSE(ToUtf8("a", CsvEncoding::kUtf16Le, &out));
  EXPECT_FALSE(ToUtf8(std::string("\x00\xDC", 2), CsvEncoding::kUtf16Le, &out));
  EXPECT_FALSE(ToUtf8(std::string("\xD8\x00\x00\x61", 4), CsvEncoding::kUtf16Be, &out));
  EXPECT_TRUE(ToUtf8(std::string("\xD8\x34\xDD\x1E", 4), CsvEncoding::kUtf16Be, &out));
  EXPECT_EQ(out, "\xF0\x9D\x84\x9E");
  EXPECT_TRUE(ToUtf8("\x80\x81", CsvEncoding::kWindows1252, &out));
  EXPECT_EQ(out, "\xE2\x82\xAC\xC2\x81");
}

}  // namespace
}  // namespace firn::decode
