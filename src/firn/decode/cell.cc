#include "firn/decode/cell.h"

#include <array>
#include <limits>

#include "firn/base/bytes.h"
#include "firn/base/time.h"
#include "firn/decode/inferred_type.h"
#include "firn/decode/reasons.h"

namespace firn::decode {

using iceberg::Type;
using iceberg::TypeId;

namespace {

template <typename T>
constexpr int64_t kLowest = std::numeric_limits<T>::min();
template <typename T>
constexpr int64_t kHighest = std::numeric_limits<T>::max();

CellOutcome Wrong(std::string_view reason, std::string_view expected) {
  return {.reason = reason, .expected = expected};
}

CellOutcome FromNumberOutcome(NumberOutcome outcome, std::string_view inexact,
                              std::string_view out_of_range) {
  switch (outcome) {
    case NumberOutcome::kOk:
      return {};
    case NumberOutcome::kInexact:
      return Wrong(reason::kInexact, inexact);
    case NumberOutcome::kOutOfRange:
      return Wrong(reason::kOutOfRange, out_of_range);
  }
  return {};
}

CellOutcome AppendInt(Column& column, const NumberText& number) {
  int64_t value = 0;
  auto outcome = FromNumberOutcome(ToInteger(number, kLowest<int32_t>, kHighest<int32_t>, &value),
                                   "a whole number", "a whole number from -2147483648 to 2147483647");
  if (outcome.ok()) column.AppendFixed(static_cast<int32_t>(value));
  if (outcome.reason == reason::kOutOfRange) {
    outcome.fits_wider = ToInteger(number, kLowest<int64_t>, kHighest<int64_t>, &value) == NumberOutcome::kOk;
  }
  return outcome;
}

CellOutcome AppendLong(Column& column, const NumberText& number) {
  int64_t value = 0;
  const auto outcome = FromNumberOutcome(ToInteger(number, kLowest<int64_t>, kHighest<int64_t>, &value),
                                         "a whole number", "a whole number of 64 bits with sign");
  if (outcome.ok()) column.AppendFixed(value);
  return outcome;
}

CellOutcome AppendFloat(Column& column, const NumberText& number) {
  float value = 0;
  auto outcome = FromNumberOutcome(ToFloat(number, &value), {}, "a number in the range of float");
  if (outcome.ok()) column.AppendFixed(value);
  double wide = 0;
  if (!outcome.ok()) outcome.fits_wider = ToDouble(number, &wide) == NumberOutcome::kOk;
  return outcome;
}

CellOutcome AppendDouble(Column& column, const NumberText& number) {
  double value = 0;
  const auto outcome = FromNumberOutcome(ToDouble(number, &value), {}, "a number in the range of double");
  if (outcome.ok()) column.AppendFixed(value);
  return outcome;
}

CellOutcome AppendDecimal(Column& column, const NumberText& number) {
  const Type& type = column.type();
  Int128 value = 0;
  int64_t digits = 0;
  auto outcome =
      FromNumberOutcome(ToScaled(number, type.scale(), &value, &digits), "no digits below the column's scale",
                        "no more digits than the column's precision");
  if (outcome.ok() && digits > type.precision()) {
    outcome = Wrong(reason::kOutOfRange, "no more digits than the column's precision");
  }
  if (outcome.ok()) column.AppendFixed(value);
  outcome.decimal_digits = digits;
  outcome.fits_wider = outcome.reason == reason::kOutOfRange && digits <= 38;
  return outcome;
}

/// number (in epoch units) as an integer of 10^-digits seconds, or the outcome that says why not.
CellOutcome ScaleEpoch(const NumberText& number, int epoch_digits, int digits, std::string_view expected,
                       Int128* out) {
  return FromNumberOutcome(ToScaled(number, digits - epoch_digits, out),
                           "no digits below the column's precision", expected);
}

CellOutcome AppendEpochTimestamp(Column& column, const NumberText& number, int epoch_digits, int digits) {
  Int128 value = 0;
  auto outcome = ScaleEpoch(number, epoch_digits, digits, "a time that the column's type can hold", &value);
  if (!outcome.ok()) return outcome;
  if (value < kLowest<int64_t> || value > kHighest<int64_t>) {
    return Wrong(reason::kOutOfRange, "a time that the column's type can hold");
  }
  column.AppendFixed(static_cast<int64_t>(value));
  return {};
}

CellOutcome AppendEpochDate(Column& column, const NumberText& number, int epoch_digits) {
  Int128 nanos = 0;
  auto outcome = ScaleEpoch(number, epoch_digits, 9, "a date that the column's type can hold", &nanos);
  if (!outcome.ok()) return outcome;
  if (nanos % kNanosPerDay != 0) return Wrong(reason::kInexact, "midnight UTC of a day");
  const Int128 days = nanos / kNanosPerDay;
  if (days < kLowest<int32_t> || days > kHighest<int32_t>) {
    return Wrong(reason::kOutOfRange, "a date that the column's type can hold");
  }
  column.AppendFixed(static_cast<int32_t>(days));
  return {};
}

CellOutcome AppendEpochTime(Column& column, const NumberText& number, int epoch_digits) {
  Int128 micros = 0;
  auto outcome = ScaleEpoch(number, epoch_digits, 6, "a time of day", &micros);
  if (!outcome.ok()) return outcome;
  if (micros < 0 || micros >= kMicrosPerDay)
    return Wrong(reason::kOutOfRange, "less than 24 hours since midnight");
  column.AppendFixed(static_cast<int64_t>(micros));
  return {};
}

CellOutcome FromTimeParse(TimeParse outcome, std::string_view reason, std::string_view expected) {
  switch (outcome) {
    case TimeParse::kOk:
      return {};
    case TimeParse::kTooPrecise:
      return Wrong(reason::kInexact, "no digits below the column's precision");
    default:
      return Wrong(reason, expected);
  }
}

CellOutcome AppendDateText(Column& column, std::string_view text) {
  int32_t days = 0;
  const auto outcome = FromTimeParse(ParseDate(text, &days), reason::kBadDate, "a date like 2024-03-31");
  if (outcome.ok()) column.AppendFixed(days);
  return outcome;
}

CellOutcome AppendTimeText(Column& column, std::string_view text) {
  int64_t micros = 0;
  const auto outcome =
      FromTimeParse(ParseTime(text, &micros), reason::kBadTime, "a time of day like 23:59:59.123456");
  if (outcome.ok()) column.AppendFixed(micros);
  return outcome;
}

bool IsNanos(TypeId id) { return id == TypeId::kTimestampNs || id == TypeId::kTimestampTzNs; }
bool IsZoned(TypeId id) { return id == TypeId::kTimestampTz || id == TypeId::kTimestampTzNs; }

CellOutcome AppendTimestampText(Column& column, std::string_view text) {
  const TypeId id = column.type_id();
  int64_t value = 0;
  bool has_offset = false;
  const TimeParse parsed = IsNanos(id) ? ParseTimestampNanos(text, &value, &has_offset)
                                       : ParseTimestampMicros(text, &value, &has_offset);
  const std::string_view form = IsZoned(id)
                                    ? "a timestamp with an offset like 2024-03-31T23:59:59.5Z or ...+02:00"
                                    : "a timestamp like 2024-03-31T23:59:59.5";
  const auto outcome = FromTimeParse(parsed, reason::kBadTimestamp, form);
  if (!outcome.ok()) return outcome;
  if (has_offset != IsZoned(id)) {
    return Wrong(reason::kBadTimestamp,
                 has_offset ? "a timestamp without offset; a column for timestamps with one is timestamptz"
                            : "a timestamp with an offset (Z or +02:00); a column for timestamps without "
                              "one is timestamp");
  }
  column.AppendFixed(value);
  return {};
}

CellOutcome AppendDecimalText(Column& column, std::string_view text) {
  NumberText number;
  const auto* begin = reinterpret_cast<const uint8_t*>(text.data());
  if (text.empty() || !ScanNumber(begin, &number) || number.end != begin + text.size()) {
    return Wrong(reason::kBadDecimal, "a number, or the text of one like \"12.50\"");
  }
  return AppendDecimal(column, number);
}

bool IsHex(const Column& column) { return column.binding().bytes_encoding == BytesEncoding::kHex; }

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

CellOutcome AppendUuidText(Column& column, std::string_view text) {
  const auto wrong = Wrong(reason::kBadUuid, "a UUID like f79c3e09-677c-4bbd-a479-3f349cb785e7");
  if (text.size() != 36) return wrong;
  std::array<uint8_t, 16> bytes{};
  size_t nibble = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (i == 8 || i == 13 || i == 18 || i == 23) {
      if (text[i] != '-') return wrong;
      continue;
    }
    const int digit = HexDigit(text[i]);
    if (digit < 0) return wrong;
    bytes[nibble / 2] = static_cast<uint8_t>(bytes[nibble / 2] << 4 | digit);
    ++nibble;
  }
  column.AppendFixedBytes(bytes.data(), bytes.size());
  return {};
}

CellOutcome AppendEncodedBytes(Column& column, std::string_view text) {
  const bool is_hex = IsHex(column);
  const auto bytes = is_hex ? HexDecode(text) : Base64Decode(text);
  if (!bytes.ok())
    return is_hex ? Wrong(reason::kBadHex, "hexadecimal text") : Wrong(reason::kBadBase64, "base64 text");
  const auto size = static_cast<int64_t>(bytes->size());
  if (column.type_id() == TypeId::kBinary) {
    column.AppendBytes(bytes->data(), size);
    return {};
  }
  if (size != column.type().length()) {
    return Wrong(reason::kOutOfRange, is_hex ? "hexadecimal text of as many bytes as the column's type has"
                                             : "base64 text of as many bytes as the column's type has");
  }
  column.AppendFixedBytes(bytes->data(), size);
  return {};
}

/// False when the text is no number by itself.
bool ScanWholeNumber(std::string_view text, NumberText* number) {
  const auto* begin = reinterpret_cast<const uint8_t*>(text.data());
  return !text.empty() && ScanNumber(begin, number) && number->end == begin + text.size();
}

CellOutcome AppendPlainBoolean(Column& column, std::string_view text) {
  const bool is_true = EqualsIgnoringCase(text, "true");
  if (!is_true && !EqualsIgnoringCase(text, "false")) return Wrong(reason::kTypeMismatch, "true or false");
  column.AppendFixed(static_cast<uint8_t>(is_true));
  return {};
}

/// What JSON has no number for, in the words that Spark, Kafka Connect, Protobuf and Java write.
template <typename T>
CellOutcome AppendNotFinite(Column& column, std::string_view text) {
  constexpr auto kLimits = std::numeric_limits<T>();
  if (text == "NaN") {
    column.AppendFixed(kLimits.quiet_NaN());
  } else if (text == "Infinity") {
    column.AppendFixed(kLimits.infinity());
  } else if (text == "-Infinity") {
    column.AppendFixed(-kLimits.infinity());
  } else {
    return Wrong(reason::kTypeMismatch, ExpectedJson(column));
  }
  return {};
}

CellOutcome AppendNumberKey(Column& column, std::string_view text) {
  NumberText number;
  if (!ScanWholeNumber(text, &number)) {
    return Wrong(reason::kBadMapKey, "the text of a number");
  }
  return AppendNumber(column, number, -1);
}

}  // namespace

CellOutcome AppendNumber(Column& column, const NumberText& number, int epoch_digits) {
  switch (column.type_id()) {
    case TypeId::kInt:
      return AppendInt(column, number);
    case TypeId::kLong:
      return AppendLong(column, number);
    case TypeId::kFloat:
      return AppendFloat(column, number);
    case TypeId::kDouble:
      return AppendDouble(column, number);
    case TypeId::kDecimal:
      return AppendDecimal(column, number);
    default:
      break;
  }
  if (epoch_digits < 0) return Wrong(reason::kTypeMismatch, ExpectedJson(column));
  switch (column.type_id()) {
    case TypeId::kDate:
      return AppendEpochDate(column, number, epoch_digits);
    case TypeId::kTime:
      return AppendEpochTime(column, number, epoch_digits);
    case TypeId::kTimestamp:
    case TypeId::kTimestampTz:
      return AppendEpochTimestamp(column, number, epoch_digits, 6);
    case TypeId::kTimestampNs:
    case TypeId::kTimestampTzNs:
      return AppendEpochTimestamp(column, number, epoch_digits, 9);
    default:
      return Wrong(reason::kTypeMismatch, ExpectedJson(column));
  }
}

CellOutcome AppendText(Column& column, std::string_view text) {
  switch (column.type_id()) {
    case TypeId::kDecimal:
      return AppendDecimalText(column, text);
    case TypeId::kDate:
      return AppendDateText(column, text);
    case TypeId::kTime:
      return AppendTimeText(column, text);
    case TypeId::kTimestamp:
    case TypeId::kTimestampTz:
    case TypeId::kTimestampNs:
    case TypeId::kTimestampTzNs:
      return AppendTimestampText(column, text);
    case TypeId::kUuid:
      return AppendUuidText(column, text);
    case TypeId::kFixed:
    case TypeId::kBinary:
      return AppendEncodedBytes(column, text);
    case TypeId::kFloat:
      return AppendNotFinite<float>(column, text);
    case TypeId::kDouble:
      return AppendNotFinite<double>(column, text);
    default:
      return Wrong(reason::kTypeMismatch, ExpectedJson(column));
  }
}

CellOutcome AppendPlainText(Column& column, std::string_view text, int epoch_digits) {
  NumberText number;
  switch (column.type_id()) {
    case TypeId::kString:
      column.AppendBytes(text.data(), static_cast<int64_t>(text.size()));
      return {};
    case TypeId::kBoolean:
      return AppendPlainBoolean(column, text);
    case TypeId::kInt:
    case TypeId::kLong:
      if (!ScanWholeNumber(text, &number)) return Wrong(reason::kTypeMismatch, ExpectedJson(column));
      return AppendNumber(column, number, epoch_digits);
    case TypeId::kFloat:
    case TypeId::kDouble:
      if (ScanWholeNumber(text, &number)) return AppendNumber(column, number, epoch_digits);
      return AppendText(column, text);
    default:
      if (epoch_digits >= 0 && ScanWholeNumber(text, &number))
        return AppendNumber(column, number, epoch_digits);
      return AppendText(column, text);
  }
}

CellOutcome AppendMapKey(Column& column, std::string_view text) {
  switch (column.type_id()) {
    case TypeId::kString:
      column.AppendBytes(text.data(), static_cast<int64_t>(text.size()));
      return {};
    case TypeId::kBoolean:
      if (text != "true" && text != "false") return Wrong(reason::kBadMapKey, "true or false");
      column.AppendFixed(static_cast<uint8_t>(text == "true"));
      return {};
    case TypeId::kInt:
    case TypeId::kLong:
    case TypeId::kFloat:
    case TypeId::kDouble:
      return AppendNumberKey(column, text);
    default:
      return AppendText(column, text);
  }
}

std::string_view ExpectedJson(const Column& column) {
  switch (column.type_id()) {
    case TypeId::kBoolean:
      return "true or false";
    case TypeId::kInt:
    case TypeId::kLong:
      return "a whole number";
    case TypeId::kFloat:
    case TypeId::kDouble:
      return "a number, or \"NaN\", \"Infinity\" or \"-Infinity\"";
    case TypeId::kDecimal:
      return "a number, or the text of one like \"12.50\"";
    case TypeId::kDate:
      return "a date like \"2024-03-31\" (numbers need a declared unit)";
    case TypeId::kTime:
      return "a time of day like \"23:59:59\" (numbers need a declared unit)";
    case TypeId::kTimestamp:
    case TypeId::kTimestampNs:
      return "a timestamp like \"2024-03-31T23:59:59.5\" (numbers need a declared unit)";
    case TypeId::kTimestampTz:
    case TypeId::kTimestampTzNs:
      return "a timestamp like \"2024-03-31T23:59:59.5Z\" (numbers need a declared unit)";
    case TypeId::kString:
      return "a string";
    case TypeId::kUuid:
      return "a UUID as a string";
    case TypeId::kFixed:
    case TypeId::kBinary:
      return IsHex(column) ? "bytes as a hexadecimal string" : "bytes as a base64 string";
    case TypeId::kStruct:
    case TypeId::kMap:
      return "an object";
    case TypeId::kList:
      return "an array";
    default:
      return "null";
  }
}

}  // namespace firn::decode
