#include "firn/iceberg/model/literal.h"

#include <limits>

#include <gtest/gtest.h>

#include "firn/base/bytes.h"

namespace firn::iceberg {
namespace {

TypePtr T(const char* text) { return Type::ParsePrimitive(text).value(); }

std::string HumanOf(const char* type, std::string_view text) {
  const Result<Literal> literal = Literal::Parse(T(type), text);
  return literal.ok() ? literal->ToHumanString() : "error: " + literal.error().message();
}

TEST(LiteralParse, ReadsWhatPeopleWrite) {
  EXPECT_EQ(HumanOf("int", "-5"), "-5");
  EXPECT_EQ(HumanOf("boolean", "TRUE"), "true");
  EXPECT_EQ(HumanOf("decimal(9, 2)", "14.2"), "14.20");
  EXPECT_EQ(HumanOf("decimal(9, 2)", "-0.05"), "-0.05");
  EXPECT_EQ(HumanOf("date", "2024-02-29"), "2024-02-29");
  EXPECT_EQ(HumanOf("timestamp", "2024-02-29"), "2024-02-29T00:00:00");
  EXPECT_EQ(HumanOf("timestamp", "2024-02-29 22:31:08.5"), "2024-02-29T22:31:08.5");
  EXPECT_EQ(HumanOf("timestamptz", "2024-02-29T22:31:08+02:00"), "2024-02-29T20:31:08+00:00");
  EXPECT_EQ(HumanOf("timestamptz_ns", "1969-12-31T23:59:59.999999999Z"),
            "1969-12-31T23:59:59.999999999+00:00");
  EXPECT_EQ(HumanOf("uuid", "F79C3E09-677c-4bbd-a479-3f349cb785e7"), "f79c3e09-677c-4bbd-a479-3f349cb785e7");
  EXPECT_EQ(HumanOf("binary", "0x00ff"), "AP8=");
}

TEST(LiteralParse, RefusesWhatTheTypeCannotHold) {
  const std::pair<const char*, const char*> cases[] = {{"int", "2147483648"},
                                                       {"int", "1.5"},
                                                       {"int", ""},
                                                       {"boolean", "yes"},
                                                       {"decimal(4, 2)", "100"},
                                                       {"decimal(4, 2)", "1.005"},
                                                       {"decimal(4, 2)", "1e3"},
                                                       {"date", "2023-02-29"},
                                                       {"timestamp", "2024-02-29T22:31:08Z"},
                                                       {"timestamp", "2024-02-29T22:31:08.1234567"},
                                                       {"time", "25:00:00"},
                                                       {"uuid", "f79c3e09677c4bbda4793f349cb785e7"},
                                                       {"fixed[2]", "00"},
                                                       {"binary", "0g"}};
  for (const auto& [type, text] : cases)
    EXPECT_FALSE(Literal::Parse(T(type), text).ok()) << type << " " << text;
}

TEST(LiteralBytes, NarrowerWidthsOfAPromotionAreRead) {
  const std::string five{"\x05\x00\x00\x00", 4};
  EXPECT_EQ(Literal::FromBytes(T("long"), five).value().get<int64_t>(), 5);
  EXPECT_EQ(Literal::FromBytes(T("timestamp"), five).value().ToHumanString(), "1970-01-06T00:00:00");
  EXPECT_EQ(Literal::FromBytes(T("timestamp_ns"), five).value().ToHumanString(), "1970-01-06T00:00:00");
  EXPECT_EQ(
      Literal::FromBytes(T("double"), Literal(T("float"), 1.5F).ToBytes().value()).value().get<double>(),
      1.5);
}

TEST(LiteralBytes, OtherLengthsAreCorrupt) {
  for (const char* type :
       {"boolean", "int", "long", "float", "double", "date", "time", "timestamp", "uuid", "decimal(9, 2)"}) {
    const Result<Literal> literal = Literal::FromBytes(T(type), "");
    ASSERT_FALSE(literal.ok()) << type;
    EXPECT_EQ(literal.error().kind(), ErrorKind::kCorrupt);
  }
  EXPECT_FALSE(Literal::FromBytes(T("fixed[3]"), "ab").ok());
  EXPECT_FALSE(Literal::FromBytes(T("decimal(38, 2)"), std::string(17, '\0')).ok());
}

TEST(LiteralOrder, FloatsAreOrderedAsTheFormatSortsThem) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  const double ascending[] = {-nan, -infinity, -1.0, -0.0, 0.0, 1.0, infinity, nan};
  for (size_t i = 1; i < std::size(ascending); ++i) {
    EXPECT_TRUE(Literal(T("double"), ascending[i - 1]).Compare(Literal(T("double"), ascending[i])) < 0) << i;
  }
}

TEST(LiteralOrder, NullIsFirstAndBytesAreUnsigned) {
  EXPECT_TRUE(Literal::Null(T("int")).Compare(Literal(T("int"), -5)) < 0);
  EXPECT_TRUE(Literal::Null(T("int")).Compare(Literal::Null(T("int"))) == 0);
  EXPECT_TRUE(Literal(T("string"), "\xC3\xA9").Compare(Literal(T("string"), "z")) > 0);
}

TEST(LiteralEquality, NeedsTheSameType) {
  EXPECT_EQ(Literal(T("int"), 1), Literal(T("int"), 1));
  EXPECT_NE(Literal(T("int"), 1), Literal(T("date"), 1));
  EXPECT_NE(Literal(T("int"), 1), Literal::Null(T("int")));
}

}  // namespace
}  // namespace firn::iceberg
