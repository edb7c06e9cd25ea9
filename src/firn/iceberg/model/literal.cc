#include "firn/iceberg/model/literal.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>

#include <fmt/format.h>

#include "firn/base/bytes.h"
#include "firn/base/check.h"
#include "firn/base/time.h"
#include "firn/iceberg/model/decimal.h"

namespace firn::iceberg {

namespace {

/// Index of the storage alternative of a primitive type.
size_t StorageIndex(TypeId id) {
  switch (id) {
    case TypeId::kBoolean:
      return 1;
    case TypeId::kInt:
    case TypeId::kDate:
      return 2;
    case TypeId::kLong:
    case TypeId::kTime:
    case TypeId::kTimestamp:
    case TypeId::kTimestampTz:
    case TypeId::kTimestampNs:
    case TypeId::kTimestampTzNs:
      return 3;
    case TypeId::kFloat:
      return 4;
    case TypeId::kDouble:
      return 5;
    case TypeId::kDecimal:
      return 6;
    case TypeId::kString:
    case TypeId::kUuid:
    case TypeId::kFixed:
    case TypeId::kBinary:
    case TypeId::kVariant:
    case TypeId::kGeometry:
    case TypeId::kGeography:
      return 7;
    case TypeId::kUnknown:
    case TypeId::kStruct:
    case TypeId::kList:
    case TypeId::kMap:
      return 0;
  }
  return 0;
}

static_assert(std::endian::native == std::endian::little,
              "Appendix D's little-endian numbers are copied as they are");

template <typename T>
std::string LittleEndian(T value) {
  std::string bytes(sizeof(T), '\0');
  std::memcpy(bytes.data(), &value, sizeof(T));
  return bytes;
}

template <typename T>
T FromLittleEndian(std::string_view bytes) {
  T value;
  std::memcpy(&value, bytes.data(), sizeof(T));
  return value;
}

Error WrongLength(const Type& type, std::string_view bytes) {
  return Error(ErrorKind::kCorrupt,
               fmt::format("{} bytes are no value of type {}", bytes.size(), type.ToString()));
}

Result<Literal> DateAsTimestamp(const TypePtr& type, int32_t days) {
  const bool nanos = type->id() == TypeId::kTimestampNs || type->id() == TypeId::kTimestampTzNs;
  int64_t units = 0;
  if (__builtin_mul_overflow(static_cast<int64_t>(days), nanos ? kNanosPerDay : kMicrosPerDay, &units)) {
    return Error(ErrorKind::kCorrupt,
                 fmt::format("date {} is outside the range of {}", FormatDate(days), type->ToString()));
  }
  return Literal(type, units);
}

template <typename T>
Result<Literal> ParseNumber(const TypePtr& type, std::string_view text) {
  T value{};
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error == std::errc::result_out_of_range) {
    return Error(ErrorKind::kInvalidArgument,
                 fmt::format("'{}' is outside the range of {}", text, type->ToString()));
  }
  if (error != std::errc() || stop != end) {
    return Error(ErrorKind::kInvalidArgument,
                 fmt::format("'{}' is not a value of type {}", text, type->ToString()));
  }
  return Literal(type, value);
}

Result<Literal> ParseBoolean(const TypePtr& type, std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  if (lower == "true") return Literal(type, true);
  if (lower == "false") return Literal(type, false);
  return Error(ErrorKind::kInvalidArgument, fmt::format("'{}' is neither true nor false", text));
}

Result<Literal> ParseUuid(const TypePtr& type, std::string_view text) {
  std::string digits;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool dash_place = i == 8 || i == 13 || i == 18 || i == 23;
    if (dash_place != (text[i] == '-')) break;
    if (!dash_place) digits.push_back(text[i]);
  }
  Result<std::string> bytes = HexDecode(digits);
  if (text.size() != 36 || !bytes.ok() || bytes->size() != 16) {
    return Error(ErrorKind::kInvalidArgument,
                 fmt::format("'{}' is not a UUID such as f79c3e09-677c-4bbd-a479-3f349cb785e7", text));
  }
  return Literal(type, std::move(bytes).value());
}

Result<Literal> ParseHex(const TypePtr& type, std::string_view text) {
  if (text.starts_with("0x") || text.starts_with("0X")) text.remove_prefix(2);
  FIRN_ASSIGN(std::string bytes, HexDecode(text));
  if (type->id() == TypeId::kFixed && bytes.size() != static_cast<size_t>(type->length())) {
    return Error(ErrorKind::kInvalidArgument, fmt::format("'{}' has {} bytes, {} takes {}", text,
                                                          bytes.size(), type->ToString(), type->length()));
  }
  return Literal(type, std::move(bytes));
}

Error BadTime(TimeParse outcome, std::string_view text, const Type& type, std::string_view example) {
  return Error(ErrorKind::kInvalidArgument, fmt::format("'{}' is not a {} such as {}: {}", text,
                                                        type.ToString(), example, ToString(outcome)));
}

Result<Literal> ParseDateLiteral(const TypePtr& type, std::string_view text) {
  int32_t days = 0;
  const TimeParse outcome = firn::ParseDate(text, &days);
  if (outcome != TimeParse::kOk) return BadTime(outcome, text, *type, "2024-03-01");
  return Literal(type, days);
}

Result<Literal> ParseTimeLiteral(const TypePtr& type, std::string_view text) {
  int64_t micros = 0;
  const TimeParse outcome = firn::ParseTime(text, &micros);
  if (outcome != TimeParse::kOk) return BadTime(outcome, text, *type, "22:31:08.5");
  return Literal(type, micros);
}

/// A bare date means its midnight; a missing offset means UTC; an offset for a type without zone is an error.
Result<Literal> ParseTimestampLiteral(const TypePtr& type, std::string_view text) {
  int32_t days = 0;
  if (firn::ParseDate(text, &days) == TimeParse::kOk) return DateAsTimestamp(type, days);
  const bool zoned = type->id() == TypeId::kTimestampTz || type->id() == TypeId::kTimestampTzNs;
  const bool nanos = type->id() == TypeId::kTimestampNs || type->id() == TypeId::kTimestampTzNs;
  int64_t units = 0;
  bool has_offset = false;
  const TimeParse outcome = nanos ? ParseTimestampNanos(text, &units, &has_offset)
                                  : ParseTimestampMicros(text, &units, &has_offset);
  if (outcome != TimeParse::kOk)
    return BadTime(outcome, text, *type, zoned ? "2024-03-01T22:31:08Z" : "2024-03-01T22:31:08");
  if (has_offset && !zoned) {
    return Error(
        ErrorKind::kInvalidArgument,
        fmt::format("'{}' has an offset from UTC, but type {} has no time zone", text, type->ToString()));
  }
  return Literal(type, units);
}

template <typename T>
std::string FloatText(T value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value < 0 ? "-Infinity" : "Infinity";
  std::string text = fmt::format("{}", value);
  return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
}

std::string UuidText(std::string_view bytes) {
  std::string text = HexEncode(bytes);
  for (const size_t dash : {8, 13, 18, 23}) {
    if (text.size() > dash) text.insert(dash, 1, '-');
  }
  return text;
}

template <typename T>
std::strong_ordering CompareStorage(const T& a, const T& b) {
  if constexpr (std::is_same_v<T, std::string>) {
    return a.compare(b) <=> 0;
  } else if constexpr (std::is_floating_point_v<T>) {
    return std::strong_order(a, b);
  } else {
    return a < b   ? std::strong_ordering::less
           : b < a ? std::strong_ordering::greater
                   : std::strong_ordering::equal;
  }
}

}  // namespace

Literal::Literal(TypePtr type, Storage value) : type_(std::move(type)), value_(std::move(value)) {
  FIRN_CHECK(type_ != nullptr, "a literal has a type");
  FIRN_CHECK(is_null() || value_.index() == StorageIndex(type_->id()),
             "a literal is stored as its type says");
}

bool Literal::operator==(const Literal& other) const {
  return value_.index() == other.value_.index() && type_->Equals(*other.type_) &&
         Compare(other) == std::strong_ordering::equal;
}

std::strong_ordering Literal::Compare(const Literal& other) const {
  if (is_null() || other.is_null()) return other.is_null() <=> is_null();
  FIRN_CHECK(value_.index() == other.value_.index(), "literals of one type are compared");
  return std::visit(
      [&other]<typename T>(const T& value) {
        if constexpr (std::is_same_v<T, std::monostate>) {
          return std::strong_ordering::equal;
        } else {
          return CompareStorage(value, std::get<T>(other.value_));
        }
      },
      value_);
}

Result<std::string> Literal::ToBytes() const {
  if (is_null()) return Error(ErrorKind::kInvalidArgument, "null has no binary form");
  switch (value_.index()) {
    case 1:
      return std::string(1, get<bool>() ? '\x01' : '\x00');
    case 2:
      return LittleEndian(get<int32_t>());
    case 3:
      return LittleEndian(get<int64_t>());
    case 4:
      return LittleEndian(get<float>());
    case 5:
      return LittleEndian(get<double>());
    case 6:
      return DecimalToMinimalBytes(get<Int128>());
    default:
      return get<std::string>();
  }
}

Result<Literal> Literal::FromBytes(const TypePtr& type, std::string_view bytes) {
  switch (type->id()) {
    case TypeId::kBoolean:
      if (bytes.size() == 1) return Literal(type, bytes[0] != '\0');
      break;
    case TypeId::kInt:
    case TypeId::kDate:
      if (bytes.size() == 4) return Literal(type, FromLittleEndian<int32_t>(bytes));
      break;
    case TypeId::kLong:
      if (bytes.size() == 4) return Literal(type, static_cast<int64_t>(FromLittleEndian<int32_t>(bytes)));
      if (bytes.size() == 8) return Literal(type, FromLittleEndian<int64_t>(bytes));
      break;
    case TypeId::kTime:
    case TypeId::kTimestamp:
    case TypeId::kTimestampTz:
    case TypeId::kTimestampNs:
    case TypeId::kTimestampTzNs:
      if (bytes.size() == 8) return Literal(type, FromLittleEndian<int64_t>(bytes));
      if (bytes.size() == 4 && type->id() != TypeId::kTime)
        return DateAsTimestamp(type, FromLittleEndian<int32_t>(bytes));
      break;
    case TypeId::kFloat:
      if (bytes.size() == 4) return Literal(type, FromLittleEndian<float>(bytes));
      break;
    case TypeId::kDouble:
      if (bytes.size() == 4) return Literal(type, static_cast<double>(FromLittleEndian<float>(bytes)));
      if (bytes.size() == 8) return Literal(type, FromLittleEndian<double>(bytes));
      break;
    case TypeId::kDecimal:
      if (Int128 unscaled = 0; DecimalFromBytes(bytes, unscaled)) return Literal(type, unscaled);
      break;
    case TypeId::kUuid:
      if (bytes.size() == 16) return Literal(type, std::string(bytes));
      break;
    case TypeId::kFixed:
      if (bytes.size() == static_cast<size_t>(type->length())) return Literal(type, std::string(bytes));
      break;
    case TypeId::kString:
    case TypeId::kBinary:
    case TypeId::kVariant:
    case TypeId::kGeometry:
    case TypeId::kGeography:
      return Literal(type, std::string(bytes));
    case TypeId::kUnknown:
    case TypeId::kStruct:
    case TypeId::kList:
    case TypeId::kMap:
      break;
  }
  return WrongLength(*type, bytes);
}

std::string Literal::ToHumanString() const {
  if (is_null()) return "null";
  switch (type_->id()) {
    case TypeId::kBoolean:
      return get<bool>() ? "true" : "false";
    case TypeId::kInt:
      return fmt::format("{}", get<int32_t>());
    case TypeId::kLong:
      return fmt::format("{}", get<int64_t>());
    case TypeId::kFloat:
      return FloatText(get<float>());
    case TypeId::kDouble:
      return FloatText(get<double>());
    case TypeId::kDecimal:
      return FormatDecimal(get<Int128>(), type_->scale());
    case TypeId::kDate:
      return FormatDate(get<int32_t>());
    case TypeId::kTime:
      return FormatTime(get<int64_t>());
    case TypeId::kTimestamp:
      return FormatTimestampMicros(get<int64_t>(), ZoneSuffix::kNone);
    case TypeId::kTimestampTz:
      return FormatTimestampMicros(get<int64_t>(), ZoneSuffix::kOffset);
    case TypeId::kTimestampNs:
      return FormatTimestampNanos(get<int64_t>(), ZoneSuffix::kNone);
    case TypeId::kTimestampTzNs:
      return FormatTimestampNanos(get<int64_t>(), ZoneSuffix::kOffset);
    case TypeId::kUuid:
      return UuidText(get<std::string>());
    case TypeId::kString:
      return get<std::string>();
    default:
      return Base64Encode(get<std::string>());
  }
}

Result<Literal> Literal::Parse(const TypePtr& type, std::string_view text) {
  switch (type->id()) {
    case TypeId::kBoolean:
      return ParseBoolean(type, text);
    case TypeId::kInt:
      return ParseNumber<int32_t>(type, text);
    case TypeId::kLong:
      return ParseNumber<int64_t>(type, text);
    case TypeId::kFloat:
      return ParseNumber<float>(type, text);
    case TypeId::kDouble:
      return ParseNumber<double>(type, text);
    case TypeId::kDecimal: {
      FIRN_ASSIGN(const Int128 unscaled, ParseDecimal(text, type->precision(), type->scale()));
      return Literal(type, unscaled);
    }
    case TypeId::kDate:
      return ParseDateLiteral(type, text);
    case TypeId::kTime:
      return ParseTimeLiteral(type, text);
    case TypeId::kTimestamp:
    case TypeId::kTimestampTz:
    case TypeId::kTimestampNs:
    case TypeId::kTimestampTzNs:
      return ParseTimestampLiteral(type, text);
    case TypeId::kString:
      return Literal(type, std::string(text));
    case TypeId::kUuid:
      return ParseUuid(type, text);
    case TypeId::kFixed:
    case TypeId::kBinary:
      return ParseHex(type, text);
    default:
      return Error(ErrorKind::kUnsupported,
                   fmt::format("values of type {} cannot be written as text", type->ToString()));
  }
}

}  // namespace firn::iceberg
