#include "firn/base/time.h"

#include <gtest/gtest.h>

#include <limits>

namespace firn {
namespace {

int64_t Micros(std::string_view text) {
  int64_t out = 0;
  EXPECT_EQ(ParseTimestampMicros(text, &out), TimeParse::kOk) << text;
  return out;
}

TimeParse Outcome(std::string_view text) {
  int64_t out = 0;
  return ParseTimestampMicros(text, &out);
}

TEST(CivilTest, KnownDaysMatchBothWays) {
  EXPECT_EQ(DaysFromCivil({1970, 1, 1}), 0);
  EXPECT_EQ(DaysFromCivil({1969, 12, 31}), -1);
  EXPECT_EQ(DaysFromCivil({2000, 2, 29}), 11'016);
  EXPECT_EQ(DaysFromCivil({0, 1, 1}), -719'528);
  EXPECT_EQ(DaysFromCivil({9999, 12, 31}), 2'932'896);
}

TEST(CivilTest, EveryDayOfEightHundredYearsIsTheSuccessorOfTheOneBefore) {
  CivilDate before = CivilFromDays(-300'000);
  for (int64_t days = -299'999; days < 0; ++days) {
    const CivilDate date = CivilFromDays(days);
    ASSERT_EQ(DaysFromCivil(date), days);
    const bool next_day =
        date.year == before.year && date.month == before.month && date.day == before.day + 1;
    const bool next_month = date.day == 1 && before.day >= 28 &&
                            (date.month == before.month + 1 || (date.month == 1 && before.month == 12));
    ASSERT_TRUE(next_day || next_month) << days;
    before = date;
  }
}

TEST(FloorTest, RoundsDownOnBothSidesOfZeroUpToTheLimits) {
  EXPECT_EQ(FloorDiv(-1, 1000), -1);
  EXPECT_EQ(FloorMod(-1, 1000), 999);
  EXPECT_EQ(FloorDiv(1, 1000), 0);
  EXPECT_EQ(FloorMod(-1000, 1000), 0);
  constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
  EXPECT_EQ(FloorDiv(kMin, 1'000'000), -9'223'372'036'855);
  EXPECT_EQ(FloorMod(kMin, 1'000'000), 224'192);
}

TEST(ParseDateTest, ReadsDatesBeforeAndAfterTheEpoch) {
  int32_t days = 0;
  EXPECT_EQ(ParseDate("1970-01-01", &days), TimeParse::kOk);
  EXPECT_EQ(days, 0);
  EXPECT_EQ(ParseDate("1969-12-31", &days), TimeParse::kOk);
  EXPECT_EQ(days, -1);
  EXPECT_EQ(ParseDate("-0001-03-01", &days), TimeParse::kOk);
  EXPECT_EQ(FormatDate(days), "-0001-03-01");
  EXPECT_EQ(ParseDate("+12345-06-07", &days), TimeParse::kOk);
  EXPECT_EQ(FormatDate(days), "+12345-06-07");
}

TEST(ParseDateTest, RefusesWhatIsNoDate) {
  int32_t days = 7;
  for (const char* bad :
       {"", "1970", "1970-1-1", "70-01-01", "1970-01-01 ", " 1970-01-01", "1970/01/01", "19700101",
        "12345-01-01", "1970-01-0x", "+1234567-01-01", "1970-01-01T00:00", "--001-01-01"}) {
    EXPECT_EQ(ParseDate(bad, &days), TimeParse::kMalformed) << bad;
  }
  for (const char* bad :
       {"1970-00-01", "1970-13-01", "1970-01-00", "1970-01-32", "1900-02-29", "2001-02-29", "2001-04-31"}) {
    EXPECT_EQ(ParseDate(bad, &days), TimeParse::kOutOfRange) << bad;
  }
  EXPECT_EQ(days, 7);
  EXPECT_EQ(ParseDate("2000-02-29", &days), TimeParse::kOk);
}

TEST(ParseTimeTest, ReadsMinutesSecondsAndFractions) {
  int64_t micros = 0;
  EXPECT_EQ(ParseTime("23:59", &micros), TimeParse::kOk);
  EXPECT_EQ(micros, 86'340'000'000);
  EXPECT_EQ(ParseTime("00:00:01.5", &micros), TimeParse::kOk);
  EXPECT_EQ(micros, 1'500'000);
  EXPECT_EQ(ParseTime("12:34:56.123456000", &micros), TimeParse::kOk);
  EXPECT_EQ(FormatTime(micros), "12:34:56.123456");
}

TEST(ParseTimeTest, RefusesRangesFormsAndExcessPrecision) {
  int64_t micros = 0;
  for (const char* bad : {"24:00", "12:60", "12:34:60"})
    EXPECT_EQ(ParseTime(bad, &micros), TimeParse::kOutOfRange) << bad;
  for (const char* bad :
       {"1:00", "12", "12:3", "12:34:", "12:34:56.", "12:34:56,5", "12:34.5", "12:34Z", "12:34:56 "}) {
    EXPECT_EQ(ParseTime(bad, &micros), TimeParse::kMalformed) << bad;
  }
  EXPECT_EQ(ParseTime("12:34:56.1234567", &micros), TimeParse::kTooPrecise);
}

TEST(ParseTimestampTest, AppliesOffsetsAndTellsWhetherThereWasOne) {
  bool has_offset = true;
  int64_t micros = 0;
  EXPECT_EQ(ParseTimestampMicros("2001-01-10T18:20:00", &micros, &has_offset), TimeParse::kOk);
  EXPECT_EQ(micros, 979'150'800'000'000);
  EXPECT_FALSE(has_offset);
  EXPECT_EQ(ParseTimestampMicros("2001-01-10 18:20:00Z", &micros, &has_offset), TimeParse::kOk);
  EXPECT_TRUE(has_offset);
  EXPECT_EQ(Micros("2001-01-10T18:20+02:00"), Micros("2001-01-10T16:20Z"));
  EXPECT_EQ(Micros("2001-01-10T18:20-0530"), Micros("2001-01-10T23:50Z"));
  EXPECT_EQ(Micros("2001-01-10T18:20+02"), Micros("2001-01-10T16:20Z"));
  EXPECT_EQ(Micros("1969-12-31T23:59:59.999999"), -1);
}

TEST(ParseTimestampTest, RefusesFormsRangesAndExcessPrecision) {
  for (const char* bad :
       {"2001-01-10", "2001-01-10T", "2001-01-10t10:00", "2001-01-10  10:00", "2001-01-10T10:00z",
        "2001-01-10T10:00+", "2001-01-10T10:00+2", "2001-01-10T10:00+02:", "2001-01-10T10:00+02:0",
        "2001-01-10T10:00+020", "2001-01-10T10:00Z ", "2001-01-10T10:00[UTC]", "979150800"}) {
    EXPECT_EQ(Outcome(bad), TimeParse::kMalformed) << bad;
  }
  for (const char* bad : {"2001-01-10T10:00+18:01", "2001-01-10T10:00+02:60", "2001-02-30T10:00",
                          "2001-01-10T24:00:00", "+300000-01-01T00:00:00"}) {
    EXPECT_EQ(Outcome(bad), TimeParse::kOutOfRange) << bad;
  }
  EXPECT_EQ(Outcome("2001-01-10T10:00:00.0000001"), TimeParse::kTooPrecise);
  EXPECT_EQ(Outcome("2001-01-10T10:00:00.1000000"), TimeParse::kOk);
}

TEST(ParseTimestampTest, EveryCharacterOfTheFormCounts) {
  const std::string good = "2001-01-10T18:20:34.5+02:00";
  ASSERT_EQ(Outcome(good), TimeParse::kOk);
  for (size_t i = 0; i < good.size(); ++i) {
    for (const char wrong : {'x', '/', ':', '\0', '\xb1'}) {
      std::string text = good;
      if (text[i] == wrong) continue;
      text[i] = wrong;
      EXPECT_EQ(Outcome(text), TimeParse::kMalformed) << text;
    }
  }
}

TEST(ParseTimestampTest, NanosReachBothEndsOfTheirRange) {
  int64_t nanos = 0;
  EXPECT_EQ(ParseTimestampNanos("1677-09-21T00:12:43.145224192Z", &nanos), TimeParse::kOk);
  EXPECT_EQ(nanos, std::numeric_limits<int64_t>::min());
  EXPECT_EQ(ParseTimestampNanos("2262-04-11T23:47:16.854775807", &nanos), TimeParse::kOk);
  EXPECT_EQ(nanos, std::numeric_limits<int64_t>::max());
  EXPECT_EQ(ParseTimestampNanos("1677-09-21T00:12:43.145224191Z", &nanos), TimeParse::kOutOfRange);
  EXPECT_EQ(ParseTimestampNanos("2262-04-11T23:47:16.854775808", &nanos), TimeParse::kOutOfRange);
}

TEST(FormatTimestampTest, WritesAsFewFractionDigitsAsNeeded) {
  EXPECT_EQ(FormatTimestampMicros(0, ZoneSuffix::kNone), "1970-01-01T00:00:00");
  EXPECT_EQ(FormatTimestampMicros(-1, ZoneSuffix::kOffset), "1969-12-31T23:59:59.999999+00:00");
  EXPECT_EQ(FormatTimestampMicros(1'510'871'468'120'000, ZoneSuffix::kZ), "2017-11-16T22:31:08.12Z");
  EXPECT_EQ(FormatTimestampNanos(1, ZoneSuffix::kNone), "1970-01-01T00:00:00.000000001");
  EXPECT_EQ(FormatInstantMs(1'510'871'468'120), "2017-11-16T22:31:08.120Z");
  EXPECT_EQ(FormatInstantMs(-1), "1969-12-31T23:59:59.999Z");
}

TEST(FormatTimestampTest, EveryValueReadsBack) {
  for (const int64_t micros :
       {std::numeric_limits<int64_t>::min(), int64_t{-62'167'219'200'000'001}, int64_t{-1}, int64_t{0},
        int64_t{253'402'300'800'000'000}, std::numeric_limits<int64_t>::max()}) {
    EXPECT_EQ(Micros(FormatTimestampMicros(micros, ZoneSuffix::kZ)), micros);
  }
}

}  // namespace
}  // namespace firn
