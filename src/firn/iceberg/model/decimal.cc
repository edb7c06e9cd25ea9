#include "firn/iceberg/model/decimal.h"

#include <algorithm>

#include <fmt/format.h>

namespace firn::iceberg {

namespace {

std::string Digits(UInt128 value) {
  std::string digits;
  do {
    digits.push_back(static_cast<char>('0' + static_cast<int>(value % 10)));
    value /= 10;
  } while (value != 0);
  std::ranges::reverse(digits);
  return digits;
}

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

Error BadDecimal(std::string_view text, int32_t precision, int32_t scale) {
  return Error(ErrorKind::kInvalidArgument,
               fmt::format("'{}' is not a decimal({}, {})", text, precision, scale));
}

}  // namespace

std::string FormatDecimal(Int128 unscaled, int32_t scale) {
  const bool negative = unscaled < 0;
  std::string digits = Digits(negative ? -static_cast<UInt128>(unscaled) : static_cast<UInt128>(unscaled));
  if (scale > 0) {
    const auto width = static_cast<size_t>(scale);
    if (digits.size() <= width) digits.insert(0, width + 1 - digits.size(), '0');
    digits.insert(digits.size() - width, 1, '.');
  }
  return negative ? '-' + digits : digits;
}

std::string FormatDecimalAsJava(Int128 unscaled, int32_t scale) {
  constexpr int32_t kSmallestPlainExponent = -6;
  const bool negative = unscaled < 0;
  std::string digits = Digits(negative ? -static_cast<UInt128>(unscaled) : static_cast<UInt128>(unscaled));
  const int32_t exponent = static_cast<int32_t>(digits.size()) - 1 - scale;
  if (exponent >= kSmallestPlainExponent) return FormatDecimal(unscaled, scale);
  if (digits.size() > 1) digits.insert(1, 1, '.');
  return fmt::format("{}{}E{}", negative ? "-" : "", digits, exponent);
}

Result<Int128> ParseDecimal(std::string_view text, int32_t precision, int32_t scale) {
  std::string_view rest = text;
  const bool negative = rest.starts_with('-');
  if (negative || rest.starts_with('+')) rest.remove_prefix(1);
  Int128 value = 0;
  int32_t digits = 0;
  int32_t fraction = -1;  // -1: before the point
  bool any = false;
  for (const char c : rest) {
    if (c == '.' && fraction < 0) {
      fraction = 0;
      continue;
    }
    if (!IsDigit(c)) return BadDecimal(text, precision, scale);
    any = true;
    if (fraction >= scale && c == '0') continue;
    if (fraction >= scale || (fraction < 0 && digits >= precision - scale && (digits > 0 || c != '0'))) {
      return BadDecimal(text, precision, scale);
    }
    if (fraction >= 0) ++fraction;
    if (fraction < 0 && (digits > 0 || c != '0')) ++digits;
    value = value * 10 + (c - '0');
  }
  if (!any) return BadDecimal(text, precision, scale);
  for (int32_t i = std::max(fraction, 0); i < scale; ++i) value *= 10;
  return negative ? -value : value;
}

std::string DecimalToMinimalBytes(Int128 unscaled) {
  std::string bytes;
  for (int shift = 120; shift >= 0; shift -= 8)
    bytes.push_back(static_cast<char>(static_cast<UInt128>(unscaled) >> shift));
  const char sign = unscaled < 0 ? '\xFF' : '\0';
  size_t skip = 0;
  while (skip < 15 && bytes[skip] == sign && ((bytes[skip + 1] ^ sign) & 0x80) == 0) ++skip;
  return bytes.substr(skip);
}

bool DecimalFromBytes(std::string_view bytes, Int128& unscaled) {
  if (bytes.empty() || bytes.size() > 16) return false;
  UInt128 value = (bytes.front() & 0x80) != 0 ? ~static_cast<UInt128>(0) : 0;
  for (const char c : bytes) value = (value << 8) | static_cast<uint8_t>(c);
  unscaled = static_cast<Int128>(value);
  return true;
}

}  // namespace firn::iceberg
