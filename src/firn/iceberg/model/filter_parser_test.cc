#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "firn/iceberg/model/expression.h"

namespace firn::iceberg {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

NestedField Column(int32_t id, const char* name, TypePtr type) {
  NestedField field;
  field.id = id;
  field.name = name;
  field.type = std::move(type);
  return field;
}

TypePtr T(const char* text) { return Type::ParsePrimitive(text).value(); }

const Schema& TestSchema() {
  static const Schema kSchema(
      0, {Column(1, "id", T("int")), Column(2, "big", T("long")), Column(3, "origin", T("string")),
          Column(4, "price", T("decimal(9, 2)")), Column(5, "x", T("double")),
          Column(6, "ts", T("timestamptz")), Column(7, "date", T("date")), Column(8, "ok", T("boolean")),
          Column(9, "raw", T("binary")), Column(10, "place", Type::Struct({Column(11, "city", T("string"))})),
          Column(12, "tags", Type::List(13, false, T("string"))), Column(14, "odd name", T("int"))});
  return kSchema;
}

std::string Parsed(std::string_view text) {
  const Result<FilterPtr> filter = ParseFilter(text, TestSchema());
  return filter.ok() ? (*filter)->ToString() : filter.error().message();
}

TEST(ParseFilter, TakesEveryComparison) {
  EXPECT_EQ(Parsed("id = 1"), "id = '1'");
  EXPECT_EQ(Parsed("id == 1"), "id = '1'");
  EXPECT_EQ(Parsed("id <> -1"), "id != '-1'");
  EXPECT_EQ(Parsed("id!=1"), "id != '1'");
  EXPECT_EQ(Parsed("5 < id"), "id > '5'");
  EXPECT_EQ(Parsed("5 >= id"), "id <= '5'");
  EXPECT_EQ(Parsed("id in (3, 1, 3)"), "id IN ('1', '3')");
  EXPECT_EQ(Parsed("id NOT IN (3)"), "id NOT IN ('3')");
  EXPECT_EQ(Parsed("id is null"), "id IS NULL");
  EXPECT_EQ(Parsed("id IS NOT NULL"), "id IS NOT NULL");
  EXPECT_EQ(Parsed("x IS NOT NAN"), "x IS NOT NAN");
  EXPECT_EQ(Parsed("id BETWEEN 1 AND 5"), "(id >= '1' AND id <= '5')");
  EXPECT_EQ(Parsed("id NOT BETWEEN 1 AND 5"), "(id < '1' OR id > '5')");
  EXPECT_EQ(Parsed("origin LIKE 'SF%'"), "origin STARTS WITH 'SF'");
  EXPECT_EQ(Parsed("origin NOT LIKE 'SF%'"), "origin NOT STARTS WITH 'SF'");
  EXPECT_EQ(Parsed("origin LIKE '100\\%'"), "origin = '100%'");
  EXPECT_EQ(Parsed("ok"), "ok = 'true'");
  EXPECT_EQ(Parsed("NOT ok"), "ok = 'false'");
  EXPECT_EQ(Parsed("TRUE"), "TRUE");
}

TEST(ParseFilter, TakesEveryKindOfValueAndColumn) {
  EXPECT_EQ(Parsed("origin = 'it''s'"), "origin = 'it's'");
  EXPECT_EQ(Parsed("price = 1.5"), "price = '1.50'");
  EXPECT_EQ(Parsed("x > 1e3"), "x > '1000.0'");
  EXPECT_EQ(Parsed("date = '2024-02-29'"), "date = '2024-02-29'");
  EXPECT_EQ(Parsed("date >= DATE '2024-02-29'"), "date >= '2024-02-29'");
  EXPECT_EQ(Parsed("ts < TIMESTAMP '2024-02-29 12:00:00Z'"), "ts < '2024-02-29T12:00:00+00:00'");
  EXPECT_EQ(Parsed("raw = X'00ff'"), "raw = 'AP8='");
  EXPECT_EQ(Parsed("ok = FALSE"), "ok = 'false'");
  EXPECT_EQ(Parsed("place.city = 'Ulm'"), "place.city = 'Ulm'");
  EXPECT_EQ(Parsed("\"odd name\" = 1 OR `odd name` = 2"), "(odd name = '1' OR odd name = '2')");
}

TEST(ParseFilter, AndBindsTighterThanOrAndNotReachesThePredicates) {
  EXPECT_EQ(Parsed("id = 1 OR id = 2 AND ok"), "(id = '1' OR (id = '2' AND ok = 'true'))");
  EXPECT_EQ(Parsed("(id = 1 OR id = 2) AND ok"), "((id = '1' OR id = '2') AND ok = 'true')");
  EXPECT_EQ(Parsed("NOT (id = 1 OR origin IS NULL AND NOT ok)"),
            "(id != '1' AND (origin IS NOT NULL OR ok = 'true'))");
  EXPECT_EQ(Parsed("NOT NOT id < 1"), "id < '1'");
}

TEST(ParseFilter, NumbersOutsideTheTypeDecideTheComparison) {
  EXPECT_EQ(Parsed("id < 9999999999"), "id IS NOT NULL");
  EXPECT_EQ(Parsed("id > 9999999999"), "FALSE");
  EXPECT_EQ(Parsed("id = 9999999999"), "FALSE");
  EXPECT_EQ(Parsed("id != 9999999999"), "id IS NOT NULL");
  EXPECT_EQ(Parsed("id > -9999999999"), "id IS NOT NULL");
  EXPECT_EQ(Parsed("big < 99999999999999999999999999999999999999999999999"), "big IS NOT NULL");
  EXPECT_EQ(Parsed("price < 10000000"), "price IS NOT NULL");
  EXPECT_EQ(Parsed("id IN (1, 9999999999)"), "id IN ('1')");
  EXPECT_EQ(Parsed("id NOT IN (9999999999)"), "id IS NOT NULL");
}

TEST(ParseFilter, FractionsFallBetweenTheValuesOfTheType) {
  EXPECT_EQ(Parsed("id < 1.5"), "id <= '1'");
  EXPECT_EQ(Parsed("id >= 1.5"), "id > '1'");
  EXPECT_EQ(Parsed("id <= -1.5"), "id <= '-2'");
  EXPECT_EQ(Parsed("id > -1.5"), "id > '-2'");
  EXPECT_EQ(Parsed("id = 1.5"), "FALSE");
  EXPECT_EQ(Parsed("id = 1.0"), "id = '1'");
  EXPECT_EQ(Parsed("price > 1.005"), "price > '1.00'");
}

TEST(ParseFilter, ErrorsNamePositionAndWhatToDo) {
  EXPECT_EQ(Parsed("id = 1 AND orgin = 'a'"),
            "filter, at position 12: there is no column 'orgin'. Did you mean 'origin'?");
  EXPECT_THAT(Parsed(""), HasSubstr("at position 1: the filter ends where a column is expected"));
  EXPECT_THAT(Parsed("id = "), HasSubstr("at position 6: the filter ends where a value is expected"));
  EXPECT_THAT(Parsed("id = 'a'"), HasSubstr("at position 6: 'a' is not a value of type int"));
  EXPECT_THAT(Parsed("origin = 5"), HasSubstr("write it in single quotes"));
  EXPECT_THAT(Parsed("origin = 'abc"), HasSubstr("at position 10: the closing ' is missing"));
  EXPECT_THAT(Parsed("id = NULL"), HasSubstr("write IS NULL"));
  EXPECT_THAT(Parsed("id = 1 id = 2"), HasSubstr("at position 8: AND, OR or the end is expected, not 'id'"));
  EXPECT_THAT(Parsed("(id = 1"), HasSubstr("')' is expected"));
  EXPECT_THAT(Parsed("id = big"), HasSubstr("a value is expected, not 'big'"));
  EXPECT_THAT(Parsed("1 = 1"), HasSubstr("one side of a comparison must be a column"));
  EXPECT_THAT(Parsed("place = 'a'"), HasSubstr("only columns of primitive types"));
  EXPECT_THAT(Parsed("tags.element = 'a'"), HasSubstr("inside a list or map"));
  EXPECT_THAT(Parsed("origin LIKE '%x'"), HasSubstr("one % at the end"));
  EXPECT_THAT(Parsed("id LIKE '1%'"), HasSubstr("LIKE takes a string column"));
  EXPECT_THAT(Parsed("id IS NAN"), HasSubstr("has no NaN"));
  EXPECT_THAT(Parsed("id ; 1"), HasSubstr("at position 4: ';' is not expected here"));
  EXPECT_THAT(Parsed("id"), HasSubstr("a comparison, IS, IN, BETWEEN or LIKE is expected"));
  EXPECT_THAT(Parsed(std::string(5000, '(') + "ok"), HasSubstr("nested deeper"));
}

TEST(ParseFilter, LongChainsDoNotNest) {
  std::string text = "id = 0";
  for (int i = 1; i < 20'000; ++i) text += " OR id = " + std::to_string(i);
  const FilterPtr filter = ParseFilter(text, TestSchema()).value();
  EXPECT_TRUE(filter->Evaluate([](const BoundPredicate& p) { return p.Test(Literal(T("int"), 19'999)); }));
  EXPECT_FALSE(filter->Evaluate([](const BoundPredicate& p) { return p.Test(Literal(T("int"), 20'000)); }));
}

TEST(Filter, KnowsTheColumnsItReads) {
  EXPECT_THAT(ParseFilter("ok AND (id = 1 OR ok) AND x > 0", TestSchema()).value()->FieldIds(),
              ElementsAre(1, 5, 8));
}

bool Passes(std::string_view text, const Literal& value) {
  return ParseFilter(text, TestSchema()).value()->Evaluate([&value](const BoundPredicate& predicate) {
    return predicate.Test(value);
  });
}

TEST(PredicateTest, NullPassesOnlyIsNull) {
  const Literal null = Literal::Null(T("int"));
  EXPECT_TRUE(Passes("id IS NULL", null));
  for (const char* text : {"id = 1", "id != 1", "id < 1", "id >= 1", "id IN (1)", "id NOT IN (1)",
                           "NOT id = 1", "id IS NOT NULL"})
    EXPECT_FALSE(Passes(text, null)) << text;
}

TEST(PredicateTest, NanStandsAboveAllNumbersAndZerosAreEqual) {
  const Literal nan(T("double"), -std::numeric_limits<double>::quiet_NaN());
  EXPECT_TRUE(Passes("x > 1e300", nan));
  EXPECT_TRUE(Passes("x != 1", nan));
  EXPECT_FALSE(Passes("x < 1", nan));
  EXPECT_TRUE(Passes("x IS NAN", nan));
  EXPECT_TRUE(Passes("x = NAN", nan));
  EXPECT_TRUE(Passes("x = 0", Literal(T("double"), -0.0)));
  EXPECT_TRUE(Passes("x IN (0.0, 5)", Literal(T("double"), -0.0)));
  EXPECT_TRUE(Passes("x IS NOT NAN", Literal::Null(T("double"))));
}

TEST(PredicateTest, PrefixesAndLists) {
  const Literal text(T("string"), "SFO");
  EXPECT_TRUE(Passes("origin LIKE 'SF%'", text));
  EXPECT_FALSE(Passes("origin NOT LIKE 'SF%'", text));
  EXPECT_TRUE(Passes("origin LIKE '%'", text));
  EXPECT_TRUE(Passes("origin IN ('OAK', 'SFO')", text));
  EXPECT_FALSE(Passes("origin NOT IN ('OAK', 'SFO')", text));
}

}  // namespace
}  // namespace firn::iceberg
