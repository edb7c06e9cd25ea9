#include "firn/iceberg/scan/row_json.h"

#include <arrow/api.h>
#include <arrow/json/from_string.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "firn/iceberg/scan/arrow_schema.h"

namespace firn::iceberg {
namespace {

NestedField Field(int32_t id, std::string name, TypePtr type) {
  return {id, std::move(name), false, std::move(type), "", nullptr, nullptr};
}

TypePtr Of(TypeId id) { return Type::Primitive(id); }

/// One column, given as Arrow's JSON form of its values; the JSON lines of its rows.
std::string Lines(const TypePtr& type, const std::string& values) {
  const Schema schema(0, {Field(1, "v", type)});
  const auto arrow_schema = ToArrowSchema(schema).value();
  const auto array = arrow::json::ArrayFromJSONString(arrow_schema->field(0)->type(), values).ValueOrDie();
  const auto batch = arrow::RecordBatch::Make(arrow_schema, array->length(), {array});
  std::string text;
  const auto rows = RowsToJson(*batch, schema).value();
  for (const auto& row : rows) text += row.at("v").dump() + "\n";
  return text;
}

TEST(RowJson, NumbersAndText) {
  EXPECT_EQ(Lines(Of(TypeId::kBoolean), "[true, null]"), "true\nnull\n");
  EXPECT_EQ(Lines(Of(TypeId::kLong), "[9007199254740993]"), "9007199254740993\n");
  EXPECT_EQ(Lines(Of(TypeId::kFloat), "[0.1]"), "0.1\n");
  EXPECT_EQ(Lines(Of(TypeId::kDouble), "[NaN, -Inf, 1.5]"), "\"NaN\"\n\"-Infinity\"\n1.5\n");
  EXPECT_EQ(Lines(Type::Decimal(9, 2), "[\"-1.05\"]"), "\"-1.05\"\n");
  EXPECT_EQ(Lines(Of(TypeId::kString), "[\"a\\\"b\"]"), "\"a\\\"b\"\n");
}

TEST(RowJson, TimesAreIso) {
  EXPECT_EQ(Lines(Of(TypeId::kDate), "[-1]"), "\"1969-12-31\"\n");
  EXPECT_EQ(Lines(Of(TypeId::kTime), "[3600000001]"), "\"01:00:00.000001\"\n");
  EXPECT_EQ(Lines(Of(TypeId::kTimestamp), "[1000000]"), "\"1970-01-01T00:00:01\"\n");
  EXPECT_EQ(Lines(Of(TypeId::kTimestampTz), "[1500000]"), "\"1970-01-01T00:00:01.5Z\"\n");
  EXPECT_EQ(Lines(Of(TypeId::kTimestampNs), "[1]"), "\"1970-01-01T00:00:00.000000001\"\n");
}

TEST(RowJson, BytesAndUuids) {
  EXPECT_EQ(Lines(Of(TypeId::kBinary), "[\"abc\"]"), "\"YWJj\"\n");
  EXPECT_EQ(Lines(Of(TypeId::kUuid), "[\"0123456789abcdef\"]"), "\"30313233-3435-3637-3839-616263646566\"\n");
}

TEST(RowJson, NestedValuesKeepTheirShape) {
  const TypePtr point = Type::Struct({Field(2, "x", Of(TypeId::kInt)), Field(3, "y", Of(TypeId::kInt))});
  EXPECT_EQ(Lines(point, "[{\"x\": 1, \"y\": null}]"), "{\"x\":1,\"y\":null}\n");
  EXPECT_EQ(Lines(Type::List(2, false, Of(TypeId::kInt)), "[[1], [], [2, null]]"), "[1]\n[]\n[2,null]\n");
  EXPECT_EQ(Lines(Type::Map(2, Of(TypeId::kString), 3, false, Of(TypeId::kInt)), "[[[\"a\", 1]]]"),
            "{\"a\":1}\n");
  EXPECT_EQ(Lines(Type::Map(2, Of(TypeId::kInt), 3, false, Of(TypeId::kInt)), "[[[7, 1]]]"), "[[7,1]]\n");
}

TEST(RowJson, SlicedBatchesReadTheirOwnRows) {
  const Schema schema(0, {Field(1, "v", Type::List(2, false, Of(TypeId::kInt)))});
  const auto arrow_schema = ToArrowSchema(schema).value();
  const auto array =
      arrow::json::ArrayFromJSONString(arrow_schema->field(0)->type(), "[[1], [2, 3], [4]]").ValueOrDie();
  const auto batch = arrow::RecordBatch::Make(arrow_schema, 3, {array})->Slice(1, 1);
  EXPECT_EQ(RowsToJson(*batch, schema).value().at(0).dump(), "{\"v\":[2,3]}");
}

}  // namespace
}  // namespace firn::iceberg
