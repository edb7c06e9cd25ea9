#include "firn/decode/number.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>

#include "firn/decode/lexical.h"

namespace firn::decode {

namespace {

constexpr int64_t kExponentLimit = int64_t{1} << 40;
constexpr int64_t kMaxDigits = 38;

const uint8_t* SkipDigits(const uint8_t* at) {
  while (IsDigit(*at)) ++at;
  return at;
}

/// `at` stands on the e; false when no digit follows.
bool ScanExponent(const uint8_t*& at, int64_t* exponent) {
  ++at;
  const bool negative = *at == '-';
  if (*at == '-' || *at == '+') ++at;
  if (!IsDigit(*at)) return false;
  int64_t value = 0;
  for (; IsDigit(*at); ++at) value = std::min(value * 10 + (*at - '0'), kExponentLimit);
  *exponent = negative ? -value : value;
  return true;
}

Int128 PowerOfTen(int64_t exponent) {
  Int128 power = 1;
  for (int64_t i = 0; i < exponent; ++i) power *= 10;
  return power;
}

/// The digits of integer and fraction as one sequence, without zeros on either side.
struct Digits {
  const NumberText& number;
  int64_t first = 0;
  int64_t last = 0;  ///< one past

  explicit Digits(const NumberText& text) : number(text) {
    last = (text.integer_end - text.integer_begin) + (text.fraction_end - text.fraction_begin);
    while (first < last && at(first) == 0) ++first;
    while (last > first && at(last - 1) == 0) --last;
  }
  int64_t at(int64_t i) const {
    const int64_t integers = number.integer_end - number.integer_begin;
    return (i < integers ? number.integer_begin[i] : number.fraction_begin[i - integers]) - '0';
  }
  int64_t count() const { return last - first; }
  /// Power of ten of the last digit.
  int64_t exponent() const { return number.exponent + (number.integer_end - number.integer_begin) - last; }
};

/// std::from_chars gives no value out of range; whether it was too large or too small shows in the digits.
template <typename T>
NumberOutcome ToFloating(const NumberText& number, T* out) {
  const auto* begin = reinterpret_cast<const char*>(number.begin);
  const auto* end = reinterpret_cast<const char*>(number.end);
  const auto result = std::from_chars(begin, end, *out);
  if (result.ec == std::errc()) return std::isfinite(*out) ? NumberOutcome::kOk : NumberOutcome::kOutOfRange;
  const Digits digits(number);
  if (digits.count() > 0 && digits.count() + digits.exponent() > 0) return NumberOutcome::kOutOfRange;
  *out = number.negative ? T{-0.0} : T{0.0};
  return NumberOutcome::kOk;
}

constexpr std::array<double, 23> kPowersOfTen = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                                 1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                                 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

/// At most 15 digits and a small power of ten: one correctly rounded operation on exact doubles.
bool ToDoubleQuickly(const NumberText& number, double* out) {
  const int64_t fraction = number.fraction_end - number.fraction_begin;
  if ((number.integer_end - number.integer_begin) + fraction > 15) return false;
  const int64_t exponent = number.exponent - fraction;
  if (exponent < -22 || exponent > 22) return false;
  int64_t mantissa = 0;
  for (const uint8_t* at = number.integer_begin; at != number.integer_end; ++at)
    mantissa = mantissa * 10 + (*at - '0');
  for (const uint8_t* at = number.fraction_begin; at != number.fraction_end; ++at)
    mantissa = mantissa * 10 + (*at - '0');
  const auto value = static_cast<double>(mantissa);
  const double scaled = exponent < 0 ? value / kPowersOfTen[static_cast<size_t>(-exponent)]
                                     : value * kPowersOfTen[static_cast<size_t>(exponent)];
  *out = number.negative ? -scaled : scaled;
  return true;
}

}  // namespace

bool ScanNumber(const uint8_t* text, NumberText* number) {
  const uint8_t* at = text;
  number->begin = text;
  number->negative = *at == '-';
  if (number->negative) ++at;
  number->integer_begin = at;
  if (!IsDigit(*at)) return false;
  at = *at == '0' ? at + 1 : SkipDigits(at);
  number->integer_end = at;
  number->fraction_begin = number->fraction_end = at;
  number->exponent = 0;
  number->is_integer_form = true;
  if (*at == '.') {
    number->is_integer_form = false;
    number->fraction_begin = at + 1;
    number->fraction_end = at = SkipDigits(at + 1);
    if (number->fraction_begin == number->fraction_end) return false;
  }
  if (*at == 'e' || *at == 'E') {
    number->is_integer_form = false;
    if (!ScanExponent(at, &number->exponent)) return false;
  }
  number->end = at;
  return !IsDigit(*at);  // 012
}

NumberOutcome ToScaled(const NumberText& number, int32_t scale, Int128* out, int64_t* digits) {
  const Digits text(number);
  *out = 0;
  if (digits != nullptr) *digits = 0;
  if (text.count() == 0) return NumberOutcome::kOk;
  const int64_t shift = text.exponent() + scale;
  if (digits != nullptr) *digits = text.count() + shift;
  if (shift < 0) return NumberOutcome::kInexact;
  if (text.count() + shift > kMaxDigits) return NumberOutcome::kOutOfRange;
  Int128 value = 0;
  for (int64_t i = text.first; i < text.last; ++i) value = value * 10 + text.at(i);
  value *= PowerOfTen(shift);
  *out = number.negative ? -value : value;
  return NumberOutcome::kOk;
}

NumberOutcome ToInteger(const NumberText& number, int64_t lowest, int64_t highest, int64_t* out) {
  Int128 value = 0;
  const NumberOutcome outcome = ToScaled(number, 0, &value);
  if (outcome != NumberOutcome::kOk) return outcome;
  if (value < lowest || value > highest) return NumberOutcome::kOutOfRange;
  *out = static_cast<int64_t>(value);
  return NumberOutcome::kOk;
}

NumberOutcome ToDouble(const NumberText& number, double* out) {
  if (ToDoubleQuickly(number, out)) return NumberOutcome::kOk;
  return ToFloating(number, out);
}

NumberOutcome ToFloat(const NumberText& number, float* out) { return ToFloating(number, out); }

}  // namespace firn::decode
