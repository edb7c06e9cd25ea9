#include "firn/base/units.h"

#include <gtest/gtest.h>

namespace firn {
namespace {

TEST(DurationTest, ReadsEveryUnitAndSums) {
  EXPECT_EQ(ParseDurationMs("250ms").value(), 250);
  EXPECT_EQ(ParseDurationMs("60s").value(), 60'000);
  EXPECT_EQ(ParseDurationMs("5m").value(), 300'000);
  EXPECT_EQ(ParseDurationMs("1h30m").value(), 5'400'000);
  EXPECT_EQ(ParseDurationMs("7d").value(), 604'800'000);
  EXPECT_EQ(ParseDurationMs("0").value(), 0);
}

TEST(DurationTest, RefusesWhatHasNoUnitOrIsNoDuration) {
  for (const char* bad : {"", "60", "s", "-5s", "1.5h", "5 s", "5S", "1w", "9223372036854775807d",
                          "99999999999999999999s", "1hh"}) {
    EXPECT_FALSE(ParseDurationMs(bad).ok()) << bad;
  }
}

TEST(BytesTest, ReadsBinaryAndDecimalUnits) {
  EXPECT_EQ(ParseBytes("1048576").value(), 1048576);
  EXPECT_EQ(ParseBytes("512MiB").value(), 536'870'912);
  EXPECT_EQ(ParseBytes("1GB").value(), 1'000'000'000);
  EXPECT_EQ(ParseBytes("3B").value(), 3);
}

TEST(BytesTest, RefusesFractionsUnknownUnitsAndOverflow) {
  for (const char* bad : {"", "MiB", "1.5GiB", "-1", "1 GiB", "1gib", "9223372036854775807KiB", "1GiB2"}) {
    EXPECT_FALSE(ParseBytes(bad).ok()) << bad;
  }
}

TEST(UnitTextTest, ReadsBackToTheSameValue) {
  for (const int64_t ms : {0L, 1L, 999L, 1500L, 60'000L, 5'400'000L, 604'800'000L}) {
    EXPECT_EQ(ParseDurationMs(DurationText(ms)).value(), ms);
  }
  for (const int64_t bytes : {0L, 1L, 1023L, 1024L, 536'870'912L, 1'000'000'000L}) {
    EXPECT_EQ(ParseBytes(BytesText(bytes)).value(), bytes);
  }
  EXPECT_EQ(DurationText(60'000), "1m");
  EXPECT_EQ(BytesText(int64_t{512} << 20), "512MiB");
}

TEST(HumanTest, RoundsForPeople) {
  EXPECT_EQ(HumanCount(-1234567), "-1,234,567");
  EXPECT_EQ(HumanCount(999), "999");
  EXPECT_EQ(HumanShort(987), "987");
  EXPECT_EQ(HumanShort(999.6), "1.00k");
  EXPECT_EQ(HumanShort(12'345), "12.3k");
  EXPECT_EQ(HumanShort(1'050'000), "1.05M");
  EXPECT_EQ(HumanBytes(17), "17 B");
  EXPECT_EQ(HumanBytes(1536), "1.5 KiB");
  EXPECT_EQ(HumanBytes((1 << 20) - 1), "1.0 MiB");
  EXPECT_EQ(HumanDurationMs(870), "870 ms");
  EXPECT_EQ(HumanDurationMs(4250), "4.2 s");
  EXPECT_EQ(HumanDurationMs(59'999), "59.9 s");
  EXPECT_EQ(HumanDurationMs(185'000), "3 min 5 s");
  EXPECT_EQ(HumanDurationMs(7'800'000), "2 h 10 min");
  EXPECT_EQ(HumanDurationMs(-86'400'000), "-1 d");
}

}  // namespace
}  // namespace firn
