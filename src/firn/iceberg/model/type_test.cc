#include "firn/iceberg/model/type.h"

#include <gtest/gtest.h>

#include "firn/iceberg/model/literal.h"

namespace firn::iceberg {
namespace {

TEST(ParsePrimitive, ReadsEveryTypeItWrites) {
  for (const char* text : {"boolean",
                           "int",
                           "long",
                           "float",
                           "double",
                           "decimal(9, 2)",
                           "date",
                           "time",
                           "timestamp",
                           "timestamptz",
                           "string",
                           "uuid",
                           "fixed[16]",
                           "binary",
                           "timestamp_ns",
                           "timestamptz_ns",
                           "variant",
                           "unknown",
                           "geometry",
                           "geometry(EPSG:4326)",
                           "geography(OGC:CRS84, vincenty)"}) {
    const Result<TypePtr> type = Type::ParsePrimitive(text);
    ASSERT_TRUE(type.ok()) << text;
    EXPECT_EQ((*type)->ToString(), text);
  }
}

TEST(ParsePrimitive, TakesTheFormsOthersWrite) {
  EXPECT_EQ(Type::ParsePrimitive("decimal(9,2)").value()->ToString(), "decimal(9, 2)");
  EXPECT_EQ(Type::ParsePrimitive("Decimal( 38 , 0 )").value()->ToString(), "decimal(38, 0)");
  EXPECT_EQ(Type::ParsePrimitive("LONG").value()->id(), TypeId::kLong);
}

TEST(ParsePrimitive, RefusesWhatIsNoType) {
  for (const char* text : {"", "bigint", "decimal(39, 2)", "decimal(0, 0)", "decimal(4, 5)", "decimal(9)",
                           "decimal(-1, 2)", "fixed[0]", "fixed[]", "fixed[-3]", "fixed(4)",
                           "int "
                           "x"}) {
    const Result<TypePtr> type = Type::ParsePrimitive(text);
    ASSERT_FALSE(type.ok()) << text;
    EXPECT_EQ(type.error().kind(), ErrorKind::kInvalidArgument);
  }
}

TEST(CanPromote, FollowsTheFormatVersion) {
  const auto type = [](const char* text) { return Type::ParsePrimitive(text).value(); };
  EXPECT_TRUE(CanPromote(*type("int"), *type("long"), 2));
  EXPECT_TRUE(CanPromote(*type("float"), *type("double"), 2));
  EXPECT_TRUE(CanPromote(*type("decimal(9, 2)"), *type("decimal(12, 2)"), 2));
  EXPECT_FALSE(CanPromote(*type("decimal(9, 2)"), *type("decimal(12, 3)"), 2));
  EXPECT_FALSE(CanPromote(*type("long"), *type("int"), 3));
  EXPECT_FALSE(CanPromote(*type("date"), *type("timestamp"), 2));
  EXPECT_TRUE(CanPromote(*type("date"), *type("timestamp"), 3));
  EXPECT_FALSE(CanPromote(*type("date"), *type("timestamptz"), 3));
  EXPECT_TRUE(CanPromote(*type("unknown"), *type("string"), 3));
}

TEST(DecimalRequiredBytes, IsTheLeastWidthThatHoldsThePrecision) {
  EXPECT_EQ(DecimalRequiredBytes(1), 1);
  EXPECT_EQ(DecimalRequiredBytes(2), 1);
  EXPECT_EQ(DecimalRequiredBytes(3), 2);
  EXPECT_EQ(DecimalRequiredBytes(9), 4);
  EXPECT_EQ(DecimalRequiredBytes(18), 8);
  EXPECT_EQ(DecimalRequiredBytes(38), 16);
}

}  // namespace
}  // namespace firn::iceberg
