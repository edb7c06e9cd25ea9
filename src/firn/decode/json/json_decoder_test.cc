#include "firn/decode/json/json_decoder.h"

#include <arrow/array.h>
#include <arrow/record_batch.h>
#include <arrow/scalar.h>
#include <arrow/type.h>
#include <arrow/util/key_value_metadata.h>
#include <gmock/gmock.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "firn/decode/json/decode_test_support.h"

namespace firn::decode {
namespace {

using testing::DecodeAll;
using testing::Field;
using testing::MakeRaw;
using testing::MakeSchema;
using testing::Primitive;

using iceberg::Type;
using Values = std::vector<std::optional<std::string>>;
using ::testing::HasSubstr;

/// Rows of a result as Arrow scalars' text, one string a row, cells joined by '|'.
std::vector<std::string> Rows(const DecodeResult& result) {
  std::vector<std::string> rows;
  if (result.batch.rows == nullptr) return rows;
  EXPECT_TRUE(result.batch.rows->ValidateFull().ok()) << result.batch.rows->ValidateFull().ToString();
  for (int64_t row = 0; row < result.batch.rows->num_rows(); ++row) {
    std::string text;
    for (const auto& column : result.batch.rows->columns()) {
      text += (text.empty() ? "" : "|") + (*column->GetScalar(row))->ToString();
    }
    rows.push_back(text);
  }
  return rows;
}

/// One column `c` of a type, one record {"c": value}.
struct Cell {
  std::string text;    ///< of the cell; empty when the record was bad
  std::string reason;  ///< of the dead letter
  std::string message;
};

Cell DecodeCell(const iceberg::TypePtr& type, const std::string& json, TimeUnit unit = TimeUnit::kNone) {
  BoundSchema bound;
  bound.schema = MakeSchema({Field(1, "c", type)});
  if (unit != TimeUnit::kNone) bound.mappings[1] = {.from = "c", .epoch_unit = unit};
  const DecodeResult result = DecodeAll(bound, {"{\"c\":" + json + "}"});
  EXPECT_EQ(result.consumed, 1u);
  Cell cell;
  if (!result.dead_letters.empty()) {
    cell.reason = result.dead_letters[0].reason;
    cell.message = result.dead_letters[0].message;
    EXPECT_EQ(result.batch.rows, nullptr);
    return cell;
  }
  const auto rows = Rows(result);
  EXPECT_EQ(rows.size(), 1u);
  cell.text = rows.empty() ? "?" : rows[0];
  return cell;
}

std::string Good(const iceberg::TypePtr& type, const std::string& json, TimeUnit unit = TimeUnit::kNone) {
  const Cell cell = DecodeCell(type, json, unit);
  return cell.reason.empty() ? cell.text : "bad: " + cell.reason + ": " + cell.message;
}

std::string Bad(const iceberg::TypePtr& type, const std::string& json, TimeUnit unit = TimeUnit::kNone) {
  const Cell cell = DecodeCell(type, json, unit);
  return cell.reason.empty() ? "good: " + cell.text : cell.reason;
}

TEST(JsonDecoderTest, FlightRecordsBecomeRowsInSchemaOrder) {
  BoundSchema bound;
  bound.schema =
      MakeSchema({Field(1, "flight_date", Primitive("timestamp")), Field(2, "delay", Primitive("int")),
                  Field(3, "distance", Primitive("int")), Field(4, "origin", Primitive("string")),
                  Field(5, "destination", Primitive("string"))});
  bound.mappings[1] = {.from = "date"};
  const DecodeResult result = DecodeAll(
      bound,
      {R"({"date":"2001-01-14T21:55:00","delay":0,"distance":480,"origin":"SAN","destination":"SJC"})",
       R"({"date":"2001-03-26T20:15:00","delay":-11,"distance":507,"origin":"PHX","destination":"SLC"})"});
  EXPECT_THAT(Rows(result), ::testing::ElementsAre("2001-01-14 21:55:00.000000|0|480|SAN|SJC",
                                                   "2001-03-26 20:15:00.000000|-11|507|PHX|SLC"));
  EXPECT_EQ(result.consumed, 2u);
  EXPECT_FALSE(result.delta.has_value());
  EXPECT_EQ(result.batch.rows->schema()->field(0)->metadata()->Get("PARQUET:field_id").ValueOrDie(), "1");
}

TEST(JsonDecoderTest, Boolean) {
  const auto type = Primitive("boolean");
  EXPECT_EQ(Good(type, "true"), "true");
  EXPECT_EQ(Good(type, "false"), "false");
  EXPECT_EQ(Good(type, "null"), "null");
  EXPECT_EQ(Bad(type, "1"), "type_mismatch");
  EXPECT_EQ(Bad(type, "\"true\""), "type_mismatch");
  EXPECT_EQ(Bad(type, "tru"), "malformed_json");
}

TEST(JsonDecoderTest, IntAtItsLimits) {
  const auto type = Primitive("int");
  EXPECT_EQ(Good(type, "2147483647"), "2147483647");
  EXPECT_EQ(Good(type, "-2147483648"), "-2147483648");
  EXPECT_EQ(Good(type, "-0"), "0");
  EXPECT_EQ(Good(type, "1.0"), "1");
  EXPECT_EQ(Good(type, "12e2"), "1200");
  EXPECT_EQ(Bad(type, "2147483648"), "out_of_range");
  EXPECT_EQ(Bad(type, "-2147483649"), "out_of_range");
  EXPECT_EQ(Bad(type, "1e400"), "out_of_range");
  EXPECT_EQ(Bad(type, "1.5"), "inexact");
  EXPECT_EQ(Bad(type, "\"7\""), "type_mismatch");
  EXPECT_EQ(Bad(type, "true"), "type_mismatch");
  EXPECT_EQ(Bad(type, "012"), "malformed_json");
  EXPECT_EQ(Bad(type, "+1"), "malformed_json");
  EXPECT_EQ(Bad(type, "1."), "malformed_json");
  EXPECT_EQ(Bad(type, "-"), "malformed_json");
}

TEST(JsonDecoderTest, LongAtItsLimits) {
  const auto type = Primitive("long");
  EXPECT_EQ(Good(type, "9223372036854775807"), "9223372036854775807");
  EXPECT_EQ(Good(type, "-9223372036854775808"), "-9223372036854775808");
  EXPECT_EQ(Good(type, "9007199254740993"), "9007199254740993");
  EXPECT_EQ(Good(type, "999999999999999999"), "999999999999999999");
  EXPECT_EQ(Bad(type, "9223372036854775808"), "out_of_range");
  EXPECT_EQ(Bad(type, "-9223372036854775809"), "out_of_range");
  EXPECT_EQ(Bad(type, "123456789012345678901234567890123456789012345678901234567890"), "out_of_range");
  EXPECT_EQ(Bad(type, "0.1"), "inexact");
  EXPECT_EQ(Bad(type, "[]"), "type_mismatch");
}

TEST(JsonDecoderTest, FloatAndDouble) {
  EXPECT_EQ(Good(Primitive("double"), "1"), "1");
  EXPECT_EQ(Good(Primitive("double"), "-2.5e-3"), "-0.0025");
  EXPECT_EQ(Good(Primitive("double"), "1.7976931348623157e308"), "1.7976931348623157e+308");
  EXPECT_EQ(Good(Primitive("double"), "1e-400"), "0");
  EXPECT_EQ(Good(Primitive("double"), "-1e-400"), "-0");
  EXPECT_EQ(Bad(Primitive("double"), "1e309"), "out_of_range");
  EXPECT_EQ(Bad(Primitive("double"), "-1e400"), "out_of_range");
  EXPECT_EQ(Bad(Primitive("double"), "NaN"), "malformed_json");
  EXPECT_EQ(Good(Primitive("float"), "3.4028235e38"), "3.4028235e+38");
  EXPECT_EQ(Good(Primitive("float"), "16777217"), "16777216");
  EXPECT_EQ(Bad(Primitive("float"), "3.5e38"), "out_of_range");
}

TEST(JsonDecoderTest, NanAndInfinitiesAreTheTextThatOthersWriteForThem) {
  for (const char* name : {"float", "double"}) {
    const auto type = Primitive(name);
    EXPECT_EQ(Good(type, R"("NaN")"), "nan");
    EXPECT_EQ(Good(type, R"("Infinity")"), "inf");
    EXPECT_EQ(Good(type, R"("-Infinity")"), "-inf");
    EXPECT_EQ(Good(type, R"("\u004eaN")"), "nan");
    for (const char* other : {"nan", "NAN", "-NaN", "+Infinity", "Inf", "inf", "infinity", "1.5", " NaN", ""})
      EXPECT_EQ(Bad(type, '"' + std::string(other) + '"'), "type_mismatch") << other;
  }
  EXPECT_THAT(DecodeCell(Primitive("double"), "\"?\"").message, HasSubstr("\"-Infinity\""));
  EXPECT_EQ(Bad(Primitive("decimal(9,2)"), R"("NaN")"), "bad_decimal");
  EXPECT_EQ(Bad(Primitive("long"), R"("NaN")"), "type_mismatch");
}

TEST(JsonDecoderTest, DecimalFromTheNumbersText) {
  const auto type = Primitive("decimal(9,2)");
  EXPECT_EQ(Good(type, "12.5"), "12.50");
  EXPECT_EQ(Good(type, "\"12.50\""), "12.50");
  EXPECT_EQ(Good(type, "-9999999.99"), "-9999999.99");
  EXPECT_EQ(Good(type, "0.1e1"), "1.00");
  EXPECT_EQ(Good(type, "1.2300"), "1.23");
  EXPECT_EQ(Good(type, "0.00"), "0.00");
  EXPECT_EQ(Bad(type, "10000000"), "out_of_range");
  EXPECT_EQ(Bad(type, "1.234"), "inexact");
  EXPECT_EQ(Bad(type, "\"1,5\""), "bad_decimal");
  EXPECT_EQ(Bad(type, "\" 1\""), "bad_decimal");
  EXPECT_EQ(Bad(type, "\"\""), "bad_decimal");
  EXPECT_EQ(Bad(type, "true"), "type_mismatch");
  const auto widest = Primitive("decimal(38,0)");
  EXPECT_EQ(Good(widest, "99999999999999999999999999999999999999"), "99999999999999999999999999999999999999");
  EXPECT_EQ(Bad(widest, "100000000000000000000000000000000000000"), "out_of_range");
  EXPECT_EQ(Good(Primitive("decimal(38,38)"), "0.00000000000000000000000000000000000001"), "1E-38");
}

TEST(JsonDecoderTest, String) {
  const auto type = Primitive("string");
  EXPECT_EQ(Good(type, R"("")"), "");
  EXPECT_EQ(Good(type, R"("abc")"), "abc");
  EXPECT_EQ(Good(type, R"("a \"quoted\" \\ \/ \b\f\n\r\t word")"), "a \"quoted\" \\ / \b\f\n\r\t word");
  EXPECT_EQ(Good(type, R"("\u00e9\u4e2d\ud83d\ude00")"), "\xc3\xa9\xe4\xb8\xad\xf0\x9f\x98\x80");
  EXPECT_EQ(Good(type, "\"" + std::string(5000, 'x') + "\""), std::string(5000, 'x'));
  EXPECT_EQ(Good(type, "\"" + std::string(31, 'x') + "\\n\""), std::string(31, 'x') + "\n");
  EXPECT_EQ(Bad(type, "1"), "type_mismatch");
  EXPECT_EQ(Bad(type, "{}"), "type_mismatch");
  EXPECT_EQ(Bad(type, R"("\q")"), "malformed_json");
  EXPECT_EQ(Bad(type, R"("\ud800")"), "malformed_json");
  EXPECT_EQ(Bad(type, R"("\udc00")"), "malformed_json");
  EXPECT_EQ(Bad(type, "\"a\nb\""), "malformed_json");
  EXPECT_EQ(Bad(type, "\"\xff\""), "invalid_utf8");
}

TEST(JsonDecoderTest, DateAndTime) {
  EXPECT_EQ(Good(Primitive("date"), "\"1969-12-31\""), "1969-12-31");
  EXPECT_EQ(Bad(Primitive("date"), "\"2023-02-29\""), "bad_date");
  EXPECT_EQ(Bad(Primitive("date"), "\"2023-02-28T00:00:00\""), "bad_date");
  EXPECT_EQ(Bad(Primitive("date"), "19000"), "type_mismatch");
  EXPECT_EQ(Good(Primitive("date"), "86400", TimeUnit::kSeconds), "1970-01-02");
  EXPECT_EQ(Good(Primitive("date"), "-86400000", TimeUnit::kMillis), "1969-12-31");
  EXPECT_EQ(Bad(Primitive("date"), "86401", TimeUnit::kSeconds), "inexact");
  EXPECT_EQ(Good(Primitive("time"), "\"23:59:59.999999\""), "23:59:59.999999");
  EXPECT_EQ(Bad(Primitive("time"), "\"24:00:00\""), "bad_time");
  EXPECT_EQ(Bad(Primitive("time"), "\"01:02:03.0000001\""), "inexact");
  EXPECT_EQ(Good(Primitive("time"), "1", TimeUnit::kSeconds), "00:00:01.000000");
  EXPECT_EQ(Bad(Primitive("time"), "86400", TimeUnit::kSeconds), "out_of_range");
}

TEST(JsonDecoderTest, TimestampsWithAndWithoutOffset) {
  const auto plain = Primitive("timestamp");
  EXPECT_EQ(Good(plain, "\"1969-12-31T23:59:59.999999\""), "1969-12-31 23:59:59.999999");
  EXPECT_EQ(Good(plain, "\"2024-02-29 12:30\""), "2024-02-29 12:30:00.000000");
  EXPECT_EQ(Good(plain, "\"2024-02-29T12:30:00.123456000\""), "2024-02-29 12:30:00.123456");
  EXPECT_EQ(Bad(plain, "\"2024-02-29T12:30:00.1234567\""), "inexact");
  EXPECT_EQ(Bad(plain, "\"2024-02-29T12:30:00Z\""), "bad_timestamp");
  EXPECT_EQ(Bad(plain, "\"2024-02-30T12:30:00\""), "bad_timestamp");
  EXPECT_EQ(Bad(plain, "\"yesterday\""), "bad_timestamp");
  EXPECT_EQ(Bad(plain, "1700000000"), "type_mismatch");
  const auto zoned = Primitive("timestamptz");
  EXPECT_EQ(Good(zoned, "\"2024-02-29T12:30:00Z\""), "2024-02-29 12:30:00.000000Z");
  EXPECT_EQ(Good(zoned, "\"2024-02-29T12:30:00.5+02:00\""), "2024-02-29 10:30:00.500000Z");
  EXPECT_EQ(Bad(zoned, "\"2024-02-29T12:30:00\""), "bad_timestamp");
  EXPECT_THAT(DecodeCell(plain, "\"2024-02-29T12:30:00Z\"").message, HasSubstr("timestamptz"));
  EXPECT_EQ(Good(Primitive("timestamp_ns"), "\"2024-02-29T12:30:00.123456789\""),
            "2024-02-29 12:30:00.123456789");
  EXPECT_EQ(Bad(Primitive("timestamp_ns"), "\"2300-01-01T00:00:00\""), "bad_timestamp");
}

TEST(JsonDecoderTest, TimestampsFromEpochNumbers) {
  const auto type = Primitive("timestamptz");
  EXPECT_EQ(Good(type, "1700000000", TimeUnit::kSeconds), "2023-11-14 22:13:20.000000Z");
  EXPECT_EQ(Good(type, "1700000000.25", TimeUnit::kSeconds), "2023-11-14 22:13:20.250000Z");
  EXPECT_EQ(Good(type, "1700000000123", TimeUnit::kMillis), "2023-11-14 22:13:20.123000Z");
  EXPECT_EQ(Good(type, "-1", TimeUnit::kMicros), "1969-12-31 23:59:59.999999Z");
  EXPECT_EQ(Good(type, "1700000000123456000", TimeUnit::kNanos), "2023-11-14 22:13:20.123456Z");
  EXPECT_EQ(Bad(type, "1700000000123456789", TimeUnit::kNanos), "inexact");
  EXPECT_EQ(Bad(type, "1e30", TimeUnit::kSeconds), "out_of_range");
  EXPECT_EQ(Good(type, "\"2024-02-29T12:30:00Z\"", TimeUnit::kMillis), "2024-02-29 12:30:00.000000Z");
}

TEST(JsonDecoderTest, UuidAndBytes) {
  EXPECT_EQ(Good(Primitive("uuid"), "\"F79C3E09-677c-4bbd-a479-3f349cb785e7\""),
            "\xf7\x9c>\tg|K\xbd\xa4y?4\x9c\xb7\x85\xe7");
  EXPECT_EQ(Bad(Primitive("uuid"), "\"f79c3e09677c4bbda4793f349cb785e7\""), "bad_uuid");
  EXPECT_EQ(Bad(Primitive("uuid"), "\"f79c3e09-677c-4bbd-a479-3f349cb785eg\""), "bad_uuid");
  EXPECT_EQ(Good(Primitive("binary"), "\"AAEC/w==\""), std::string("\0\1\2\xff", 4));
  EXPECT_EQ(Bad(Primitive("binary"), "\"?\""), "bad_base64");
  EXPECT_EQ(Good(Primitive("fixed[3]"), "\"YWJj\""), "abc");
  EXPECT_EQ(Bad(Primitive("fixed[3]"), "\"YWI=\""), "out_of_range");
}

TEST(JsonDecoderTest, ARecordThatIsTooLongIsNotLookedAt) {
  BoundSchema bound = testing::Bound({Field(1, "c", Primitive("string"))});
  bound.evolution = Evolution::kAdd;
  bound.max_record_bytes = 20;  // with the key, which has four
  const DecodeResult result =
      DecodeAll(bound, {R"({"c":"12345678"})", R"({"c":"123456789"})", R"({"d":"12345678901"})"});
  EXPECT_EQ(result.consumed, 3U);
  EXPECT_EQ(Rows(result), std::vector<std::string>{"12345678"});
  ASSERT_EQ(result.dead_letters.size(), 2U);
  EXPECT_EQ(result.dead_letters[0].reason, "record_too_long");
  EXPECT_EQ(result.dead_letters[0].message, "the record has 21 bytes, max_record_bytes is 20");
  EXPECT_EQ(result.dead_letters[0].value, R"({"c":"123456789"})");
}

TEST(JsonDecoderTest, TextOfBytesIsReadInTheDeclaredEncoding) {
  const auto cell = [](const std::string& type, const std::string& json, BytesEncoding encoding) {
    BoundSchema bound;
    bound.schema = MakeSchema({Field(1, "c", Primitive(type))});
    bound.mappings[1].bytes_encoding = encoding;
    const DecodeResult result = DecodeAll(bound, {"{\"c\":" + json + "}"});
    return result.dead_letters.empty() ? Rows(result).at(0) : result.dead_letters[0].reason;
  };
  const auto hex = BytesEncoding::kHex;
  EXPECT_EQ(cell("binary", R"("00fF7e")", hex), std::string("\0\xff~", 3));
  EXPECT_EQ(cell("binary", R"("")", hex), "");
  EXPECT_EQ(cell("fixed[3]", R"("616263")", hex), "abc");
  EXPECT_EQ(cell("fixed[3]", R"("6162")", hex), "out_of_range");
  for (const char* other : {"abc", "0x6162", "61 62", "YWJj", "6g", "61\\n"})
    EXPECT_EQ(cell("binary", '"' + std::string(other) + '"', hex), "bad_hex") << other;
  EXPECT_EQ(cell("binary", "61", hex), "type_mismatch");
  const std::string in_base64 = "\xeb\x5e\xb6\xeb\x7e\xb8";
  EXPECT_EQ(cell("binary", R"("61626364")", hex), "abcd") << "good in both encodings, by chance";
  EXPECT_EQ(cell("binary", R"("61626364")", BytesEncoding::kBase64), in_base64);
  EXPECT_EQ(cell("binary", R"("61626364")", BytesEncoding::kDefault), in_base64);
}

}  // namespace
}  // namespace firn::decode
