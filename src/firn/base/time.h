#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace firn {

// Calendar arithmetic and ISO-8601 text, proleptic Gregorian, no leap seconds, no time zone database.
// Units are in the names; the epoch is 1970-01-01T00:00:00.

inline constexpr int64_t kMicrosPerSecond = 1'000'000;
inline constexpr int64_t kNanosPerSecond = 1'000'000'000;
inline constexpr int64_t kSecondsPerDay = 86'400;
inline constexpr int64_t kMicrosPerDay = kSecondsPerDay * kMicrosPerSecond;
inline constexpr int64_t kNanosPerDay = kSecondsPerDay * kNanosPerSecond;

struct CivilDate {
  int64_t year = 1970;  ///< astronomical: year 0 is 1 BC
  int32_t month = 1;    ///< 1 to 12
  int32_t day = 1;      ///< 1 to 31
  bool operator==(const CivilDate&) const = default;
};

/// Days since the epoch. Month and day must be valid.
constexpr int64_t DaysFromCivil(CivilDate date) {
  const int64_t y = date.year - (date.month <= 2 ? 1 : 0);
  const int64_t era = (y >= 0 ? y : y - 399) / 400;
  const int64_t year_of_era = y - era * 400;
  const int64_t day_of_year = (153 * (date.month + (date.month > 2 ? -3 : 9)) + 2) / 5 + date.day - 1;
  return era * 146'097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719'468;
}

constexpr CivilDate CivilFromDays(int64_t days) {
  const int64_t shifted = days + 719'468;
  const int64_t era = (shifted >= 0 ? shifted : shifted - 146'096) / 146'097;
  const int64_t day_of_era = shifted - era * 146'097;
  const int64_t year_of_era =
      (day_of_era - day_of_era / 1460 + day_of_era / 36'524 - day_of_era / 146'096) / 365;
  const int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const int64_t shifted_month = (5 * day_of_year + 2) / 153;
  const auto month = static_cast<int32_t>(shifted_month < 10 ? shifted_month + 3 : shifted_month - 9);
  const auto day = static_cast<int32_t>(day_of_year - (153 * shifted_month + 2) / 5 + 1);
  return {year_of_era + era * 400 + (month <= 2 ? 1 : 0), month, day};
}

/// Floor division and its non-negative remainder: what time units before the epoch need.
constexpr int64_t FloorDiv(int64_t a, int64_t b) {
  return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}
constexpr int64_t FloorMod(int64_t a, int64_t b) {
  return a % b + (a % b != 0 && (a < 0) != (b < 0) ? b : 0);
}

/// Answer of the parse functions; `out` is written only with kOk.
enum class TimeParse : uint8_t {
  kOk,
  kMalformed,   ///< not the expected form
  kOutOfRange,  ///< a field or the whole value is out of range (month 13, 30 February, 25:00, beyond int64)
  kTooPrecise,  ///< a digit other than 0 below the precision asked for
};
std::string_view ToString(TimeParse outcome);

// Forms taken, and nothing else (no surrounding space):
//   date       YYYY-MM-DD; a year of another length needs a sign (+12345-01-01, -0001-01-01; up to 6 digits)
//   time       HH:MM, HH:MM:SS or HH:MM:SS.fraction
//   timestamp  date, 'T' or one space, time, then optionally 'Z', +HH:MM, +HHMM or +HH (at most 18 hours)
// All are allocation-free and fit for a decoder's inner loop.

/// Days since the epoch.
TimeParse ParseDate(std::string_view text, int32_t* days);
/// Microseconds since midnight.
TimeParse ParseTime(std::string_view text, int64_t* micros);
/// UTC where the text has an offset, else the local time as written. `has_offset` (may be null) tells which.
TimeParse ParseTimestampMicros(std::string_view text, int64_t* micros, bool* has_offset = nullptr);
TimeParse ParseTimestampNanos(std::string_view text, int64_t* nanos, bool* has_offset = nullptr);

/// What follows the time: nothing, "Z" or "+00:00".
enum class ZoneSuffix : uint8_t { kNone, kZ, kOffset };

// Inverse of the above: seconds are always written, the fraction only as far as it is not zero.

std::string FormatDate(int32_t days);
std::string FormatTime(int64_t micros);
std::string FormatTimestampMicros(int64_t micros, ZoneSuffix suffix);
std::string FormatTimestampNanos(int64_t nanos, ZoneSuffix suffix);
/// Wall-clock milliseconds as people and logs read them: `2026-01-31T12:00:00.123Z`, three digits always.
std::string FormatInstantMs(int64_t ms);

}  // namespace firn
