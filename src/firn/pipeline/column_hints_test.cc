#include "firn/pipeline/column_hints.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "firn/pipeline/column_type.h"

namespace firn::pipeline {
namespace {

using nlohmann::ordered_json;

std::vector<ColumnHint> Hints(const std::string& type, const std::vector<ordered_json>& values,
                              const std::string& name = "c") {
  int32_t next_id = 2;
  iceberg::NestedField field;
  field.id = 1;
  field.name = name;
  field.type = ParseColumnType(type, next_id).value();
  std::vector<ordered_json> rows;
  for (const ordered_json& value : values) rows.push_back(ordered_json{{name, value}});
  return HintsOf(iceberg::Schema(0, {field}), rows);
}

std::string BetterType(const std::string& type, const std::vector<ordered_json>& values,
                       const std::string& name = "c") {
  const std::vector<ColumnHint> hints = Hints(type, values, name);
  return hints.empty() ? "none"
                       : hints[0].better_type + (hints[0].unit.empty() ? "" : " in " + hints[0].unit);
}

TEST(ColumnHints, TextThatIsATimeOrAUuidInEveryRowIsTold) {
  EXPECT_EQ(BetterType("string", {"2001-01-01T10:00", "2001-01-02T11:30:05.5", nullptr, "2002-12-31 23:59"}),
            "timestamp");
  EXPECT_EQ(BetterType("string", {"2001-01-01T10:00Z", "2001-01-02T11:30:05+02:00", "2002-12-31T23:59Z"}),
            "timestamptz");
  EXPECT_EQ(BetterType("string", {"2001-01-01", "2001-01-02", "2024-02-29"}), "date");
  EXPECT_EQ(
      BetterType("string", {"c7e4a3a0-1111-4222-8333-0123456789ab", "c7e4a3a0-1111-4222-8333-0123456789AC",
                            "00000000-0000-0000-0000-000000000000"}),
      "uuid");
}

TEST(ColumnHints, OneOtherValueIsEnoughToSayNothing) {
  EXPECT_EQ(BetterType("string", {"2001-01-01", "2001-01-02", "soon"}), "none");
  EXPECT_EQ(BetterType("string", {"2001-01-01T10:00Z", "2001-01-02T11:30", "2002-12-31T23:59Z"}), "none");
  EXPECT_EQ(BetterType("string", {"2001-02-29", "2001-01-02", "2001-01-03"}), "none");
}

TEST(ColumnHints, AFewValuesSayNothing) {
  EXPECT_EQ(BetterType("string", {"2001-01-01", "2001-01-02"}), "none");
}

TEST(ColumnHints, WholeNumbersThatAreTimesNameTheirUnit) {
  EXPECT_EQ(BetterType("long", {1'700'000'000'000, 1'700'000'000'001, 1'700'000'100'000}),
            "timestamptz in millis");
  EXPECT_EQ(BetterType("long", {1'700'000'000'000'000, 1'700'000'000'000'001, 1'700'000'100'000'000}),
            "timestamptz in micros");
  EXPECT_EQ(BetterType("long", {1'700'000'000, 1'700'000'001, 1'700'000'100}), "none");
  EXPECT_EQ(BetterType("long", {1'700'000'000, 1'700'000'001, 1'700'000'100}, "created_at"),
            "timestamptz in seconds");
}

TEST(ColumnHints, AmountsWithTwoDecimalsMayBeMoney) {
  EXPECT_EQ(BetterType("double", {1.25, 2.0, 1999.99}), "decimal(18, 2)");
  EXPECT_EQ(BetterType("double", {1.25, 2.0, 0.125}), "none");
}

TEST(ColumnTypeText, IsReadBackAsTheSameType) {
  for (const char* text :
       {"long", "decimal(9, 2)", "fixed[16]", "list<string required>", "map<string, list<int>>",
        "struct<a: int required, `b c`: struct<d: timestamptz>>"}) {
    int32_t next_id = 1;
    const iceberg::TypePtr type = ParseColumnType(text, next_id).value();
    EXPECT_EQ(ColumnTypeText(*type), text);
  }
}

}  // namespace
}  // namespace firn::pipeline
