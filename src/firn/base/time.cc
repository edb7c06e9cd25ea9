#include "firn/base/time.h"

#include <fmt/format.h>

#include <array>
#include <optional>

namespace firn {

namespace {

constexpr bool IsLeapYear(int64_t year) { return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0); }

constexpr int32_t DaysInMonth(int64_t year, int32_t month) {
  constexpr std::array<int8_t, 12> kDays = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  return month == 2 && IsLeapYear(year) ? 29 : kDays[static_cast<size_t>(month - 1)];
}

/// Reads forward over the text; every method either consumes what it names or leaves the cursor.
class Cursor {
 public:
  explicit Cursor(std::string_view text) : at_(text.data()), end_(text.data() + text.size()) {}

  bool done() const { return at_ == end_; }
  char peek() const { return at_ == end_ ? '\0' : *at_; }
  bool Take(char c) {
    if (peek() != c || done()) return false;
    ++at_;
    return true;
  }
  bool TwoDigits(int32_t* out) {
    if (end_ - at_ < 2 || !IsDigit(at_[0]) || !IsDigit(at_[1])) return false;
    *out = (at_[0] - '0') * 10 + (at_[1] - '0');
    at_ += 2;
    return true;
  }
  /// Number of digits read, at most `limit`.
  int Digits(int limit, int64_t* out) {
    int count = 0;
    *out = 0;
    while (count < limit && at_ != end_ && IsDigit(*at_)) {
      *out = *out * 10 + (*at_++ - '0');
      ++count;
    }
    return count;
  }
  bool AtDigit() const { return at_ != end_ && IsDigit(*at_); }
  /// Skips digits; false when one of them is not zero.
  bool SkipZeros() {
    bool zeros = true;
    for (; AtDigit(); ++at_) zeros &= *at_ == '0';
    return zeros;
  }

 private:
  static bool IsDigit(char c) { return c >= '0' && c <= '9'; }
  const char* at_;
  const char* end_;
};

TimeParse TakeYear(Cursor& cursor, int64_t* year) {
  const bool negative = cursor.peek() == '-';
  const bool is_signed = negative || cursor.peek() == '+';
  if (is_signed) cursor.Take(cursor.peek());
  const int digits = cursor.Digits(is_signed ? 6 : 4, year);
  if (digits < 4) return TimeParse::kMalformed;
  if (negative) *year = -*year;
  return TimeParse::kOk;
}

TimeParse TakeDate(Cursor& cursor, int64_t* days) {
  CivilDate date;
  if (auto outcome = TakeYear(cursor, &date.year); outcome != TimeParse::kOk) return outcome;
  if (!cursor.Take('-') || !cursor.TwoDigits(&date.month)) return TimeParse::kMalformed;
  if (!cursor.Take('-') || !cursor.TwoDigits(&date.day)) return TimeParse::kMalformed;
  if (date.month < 1 || date.month > 12) return TimeParse::kOutOfRange;
  if (date.day < 1 || date.day > DaysInMonth(date.year, date.month)) return TimeParse::kOutOfRange;
  *days = DaysFromCivil(date);
  return TimeParse::kOk;
}

/// The fraction after the point, scaled to `digits` digits.
TimeParse TakeFraction(Cursor& cursor, int digits, int64_t* fraction) {
  const int count = cursor.Digits(digits, fraction);
  if (count == 0) return TimeParse::kMalformed;
  for (int i = count; i < digits; ++i) *fraction *= 10;
  return cursor.SkipZeros() ? TimeParse::kOk : TimeParse::kTooPrecise;
}

struct TimeOfDay {
  int64_t seconds = 0;
  int64_t fraction = 0;  ///< in units of 10^-digits seconds
};

TimeParse TakeTime(Cursor& cursor, int digits, TimeOfDay* out) {
  int32_t hour = 0;
  int32_t minute = 0;
  int32_t second = 0;
  if (!cursor.TwoDigits(&hour) || !cursor.Take(':') || !cursor.TwoDigits(&minute))
    return TimeParse::kMalformed;
  if (cursor.Take(':')) {
    if (!cursor.TwoDigits(&second)) return TimeParse::kMalformed;
    if (cursor.Take('.')) {
      const auto outcome = TakeFraction(cursor, digits, &out->fraction);
      if (outcome != TimeParse::kOk) return outcome;
    }
  }
  if (hour > 23 || minute > 59 || second > 59) return TimeParse::kOutOfRange;
  out->seconds = hour * 3600 + minute * 60 + second;
  return TimeParse::kOk;
}

/// Seconds east of UTC; empty where the text has no offset.
TimeParse TakeOffset(Cursor& cursor, std::optional<int64_t>* seconds) {
  if (cursor.done()) return TimeParse::kOk;
  if (cursor.Take('Z')) {
    *seconds = 0;
    return TimeParse::kOk;
  }
  const bool west = cursor.peek() == '-';
  if (!cursor.Take('+') && !cursor.Take('-')) return TimeParse::kMalformed;
  int32_t hours = 0;
  int32_t minutes = 0;
  if (!cursor.TwoDigits(&hours)) return TimeParse::kMalformed;
  const bool colon = cursor.Take(':');
  if ((colon || !cursor.done()) && !cursor.TwoDigits(&minutes)) return TimeParse::kMalformed;
  if (minutes > 59 || hours * 60 + minutes > 18 * 60) return TimeParse::kOutOfRange;
  *seconds = (west ? -1 : 1) * (hours * 3600 + minutes * 60);
  return TimeParse::kOk;
}

/// days * kSecondsPerDay + seconds, in units, without a detour over values beyond int64.
bool Compose(int64_t seconds, int64_t fraction, int64_t units_per_second, int64_t* out) {
  // A negative second count is moved one up, so that the smallest int64 can be reached.
  if (seconds < 0 && fraction > 0) {
    seconds += 1;
    fraction -= units_per_second;
  }
  int64_t scaled = 0;
  return !__builtin_mul_overflow(seconds, units_per_second, &scaled) &&
         !__builtin_add_overflow(scaled, fraction, out);
}

/// The form that nearly every timestamp begins with, "YYYY-MM-DDTHH:MM:SS", read without a branch a
/// character. False for any other form and for fields out of range: the general way then finds out what it
/// is.
bool ReadFixedForm(const char* text, CivilDate* date, int64_t* seconds_of_day) {
  unsigned wrong = 0;
  const auto digit = [&](int at) {
    const unsigned value = static_cast<unsigned char>(text[at]) - unsigned{'0'};
    wrong |= value > 9 ? 1U : 0U;
    return static_cast<int32_t>(value);
  };
  const auto two = [&](int at) { return digit(at) * 10 + digit(at + 1); };
  date->year = two(0) * 100 + two(2);
  date->month = two(5);
  date->day = two(8);
  const int32_t hour = two(11);
  const int32_t minute = two(14);
  const int32_t second = two(17);
  const bool separators = text[4] == '-' && text[7] == '-' && (text[10] == 'T' || text[10] == ' ') &&
                          text[13] == ':' && text[16] == ':';
  if (wrong != 0 || !separators || date->month < 1 || date->month > 12 || date->day < 1) return false;
  if (date->day > 28 && date->day > DaysInMonth(date->year, date->month)) return false;
  *seconds_of_day = hour * 3600 + minute * 60 + second;
  return hour <= 23 && minute <= 59 && second <= 59;
}

constexpr size_t kFixedFormSize = 19;

/// Date and time up to the seconds, and what follows the point.
TimeParse TakeDateTime(Cursor& cursor, std::string_view text, int digits, int64_t* days, TimeOfDay* time) {
  CivilDate date;
  if (text.size() >= kFixedFormSize && ReadFixedForm(text.data(), &date, &time->seconds)) {
    *days = DaysFromCivil(date);
    cursor = Cursor(text.substr(kFixedFormSize));
    return cursor.Take('.') ? TakeFraction(cursor, digits, &time->fraction) : TimeParse::kOk;
  }
  if (auto outcome = TakeDate(cursor, days); outcome != TimeParse::kOk) return outcome;
  if (!cursor.Take('T') && !cursor.Take(' ')) return TimeParse::kMalformed;
  return TakeTime(cursor, digits, time);
}

TimeParse ParseTimestamp(std::string_view text, int digits, int64_t units_per_second, int64_t* out,
                         bool* has_offset) {
  Cursor cursor(text);
  int64_t days = 0;
  TimeOfDay time;
  if (auto outcome = TakeDateTime(cursor, text, digits, &days, &time); outcome != TimeParse::kOk)
    return outcome;
  std::optional<int64_t> offset;
  if (auto outcome = TakeOffset(cursor, &offset); outcome != TimeParse::kOk) return outcome;
  if (!cursor.done()) return TimeParse::kMalformed;
  int64_t value = 0;
  const int64_t seconds = days * kSecondsPerDay + time.seconds - offset.value_or(0);
  if (!Compose(seconds, time.fraction, units_per_second, &value)) return TimeParse::kOutOfRange;
  *out = value;
  if (has_offset != nullptr) *has_offset = offset.has_value();
  return TimeParse::kOk;
}

void AppendDate(std::string& out, int64_t days) {
  const CivilDate date = CivilFromDays(days);
  const int64_t magnitude = date.year < 0 ? -date.year : date.year;
  if (date.year < 0) out += '-';
  if (date.year > 9999) out += '+';
  fmt::format_to(std::back_inserter(out), "{:04}-{:02}-{:02}", magnitude, date.month, date.day);
}

void AppendTime(std::string& out, int64_t seconds, int64_t fraction, int digits) {
  fmt::format_to(std::back_inserter(out), "{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60,
                 seconds % 60);
  if (fraction == 0) return;
  fmt::format_to(std::back_inserter(out), ".{:0{}}", fraction, digits);
  while (out.back() == '0') out.pop_back();
}

std::string_view SuffixText(ZoneSuffix suffix) {
  switch (suffix) {
    case ZoneSuffix::kNone:
      return "";
    case ZoneSuffix::kZ:
      return "Z";
    case ZoneSuffix::kOffset:
      return "+00:00";
  }
  return "";
}

std::string FormatTimestamp(int64_t value, int64_t units_per_second, int digits, ZoneSuffix suffix) {
  const int64_t seconds = FloorDiv(value, units_per_second);
  std::string out;
  AppendDate(out, FloorDiv(seconds, kSecondsPerDay));
  out += 'T';
  AppendTime(out, FloorMod(seconds, kSecondsPerDay), FloorMod(value, units_per_second), digits);
  return out.append(SuffixText(suffix));
}

}  // namespace

std::string_view ToString(TimeParse outcome) {
  switch (outcome) {
    case TimeParse::kOk:
      return "ok";
    case TimeParse::kMalformed:
      return "not an ISO-8601 text";
    case TimeParse::kOutOfRange:
      return "out of range";
    case TimeParse::kTooPrecise:
      return "more precise than the type";
  }
  return "?";
}

TimeParse ParseDate(std::string_view text, int32_t* days) {
  Cursor cursor(text);
  int64_t value = 0;
  if (auto outcome = TakeDate(cursor, &value); outcome != TimeParse::kOk) return outcome;
  if (!cursor.done()) return TimeParse::kMalformed;
  *days = static_cast<int32_t>(value);  // six digits of year fit
  return TimeParse::kOk;
}

TimeParse ParseTime(std::string_view text, int64_t* micros) {
  Cursor cursor(text);
  TimeOfDay time;
  if (auto outcome = TakeTime(cursor, 6, &time); outcome != TimeParse::kOk) return outcome;
  if (!cursor.done()) return TimeParse::kMalformed;
  *micros = time.seconds * kMicrosPerSecond + time.fraction;
  return TimeParse::kOk;
}

TimeParse ParseTimestampMicros(std::string_view text, int64_t* micros, bool* has_offset) {
  return ParseTimestamp(text, 6, kMicrosPerSecond, micros, has_offset);
}

TimeParse ParseTimestampNanos(std::string_view text, int64_t* nanos, bool* has_offset) {
  return ParseTimestamp(text, 9, kNanosPerSecond, nanos, has_offset);
}

std::string FormatDate(int32_t days) {
  std::string out;
  AppendDate(out, days);
  return out;
}

std::string FormatTime(int64_t micros) {
  std::string out;
  AppendTime(out, micros / kMicrosPerSecond, micros % kMicrosPerSecond, 6);
  return out;
}

std::string FormatTimestampMicros(int64_t micros, ZoneSuffix suffix) {
  return FormatTimestamp(micros, kMicrosPerSecond, 6, suffix);
}

std::string FormatTimestampNanos(int64_t nanos, ZoneSuffix suffix) {
  return FormatTimestamp(nanos, kNanosPerSecond, 9, suffix);
}

std::string FormatInstantMs(int64_t ms) {
  std::string out = FormatTimestamp(FloorDiv(ms, 1000), 1, 0, ZoneSuffix::kNone);
  fmt::format_to(std::back_inserter(out), ".{:03}Z", FloorMod(ms, 1000));
  return out;
}

}  // namespace firn
