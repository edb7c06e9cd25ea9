#include "firn/iceberg/model/transform.h"

#include <array>
#include <bit>
#include <charconv>
#include <cstring>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "firn/base/check.h"
#include "firn/base/time.h"
#include "firn/iceberg/model/decimal.h"

namespace firn::iceberg {

namespace {

constexpr std::array<std::pair<std::string_view, TransformKind>, 6> kPlainTransforms = {{
    {"identity", TransformKind::kIdentity},
    {"void", TransformKind::kVoid},
    {"year", TransformKind::kYear},
    {"month", TransformKind::kMonth},
    {"day", TransformKind::kDay},
    {"hour", TransformKind::kHour},
}};

/// `bucket[16]` with head "bucket[": the positive number inside.
bool ParseParameter(std::string_view text, std::string_view head, int32_t& parameter) {
  if (!text.starts_with(head) || !text.ends_with(']')) return false;
  text = text.substr(head.size(), text.size() - head.size() - 1);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), parameter);
  return error == std::errc() && end == text.data() + text.size() && parameter > 0;
}

bool IsTimestamp(TypeId id) {
  return id == TypeId::kTimestamp || id == TypeId::kTimestampTz || id == TypeId::kTimestampNs ||
         id == TypeId::kTimestampTzNs;
}

bool IsNanos(TypeId id) { return id == TypeId::kTimestampNs || id == TypeId::kTimestampTzNs; }

bool CanBucket(TypeId id) {
  switch (id) {
    case TypeId::kInt:
    case TypeId::kLong:
    case TypeId::kDecimal:
    case TypeId::kDate:
    case TypeId::kTime:
    case TypeId::kString:
    case TypeId::kUuid:
    case TypeId::kFixed:
    case TypeId::kBinary:
      return true;
    default:
      return IsTimestamp(id);
  }
}

bool CanTruncate(TypeId id) {
  return id == TypeId::kInt || id == TypeId::kLong || id == TypeId::kDecimal || id == TypeId::kString ||
         id == TypeId::kBinary;
}

int64_t ToMicros(const Literal& timestamp) {
  const int64_t units = timestamp.get<int64_t>();
  return IsNanos(timestamp.type()->id()) ? FloorDiv(units, 1000) : units;
}

int32_t DaysOf(const Literal& value) {
  return value.type()->id() == TypeId::kDate ? value.get<int32_t>() : DaysFromMicros(ToMicros(value));
}

int32_t HashOf(const Literal& value) {
  switch (value.value().index()) {
    case 2:
      return BucketHashLong(value.get<int32_t>());
    case 3:
      return BucketHashLong(IsTimestamp(value.type()->id()) ? ToMicros(value) : value.get<int64_t>());
    case 6:
      return BucketHashDecimal(value.get<Int128>());
    default:
      return BucketHashBytes(value.get<std::string>());
  }
}

/// Wraps at the lower end of the type as Java does.
template <typename T, typename Unsigned>
T TruncateNumber(T value, T width) {
  const T remainder = static_cast<T>(((value % width) + width) % width);
  return static_cast<T>(static_cast<Unsigned>(value) - static_cast<Unsigned>(remainder));
}

std::string TruncateText(const std::string& text, int32_t code_points) {
  size_t end = 0;
  for (int32_t taken = 0; end < text.size(); ++end) {
    const bool starts_code_point = (static_cast<uint8_t>(text[end]) & 0xC0) != 0x80;
    if (starts_code_point && taken++ == code_points) break;
  }
  return text.substr(0, end);
}

Literal Truncated(const Literal& value, int32_t width) {
  switch (value.type()->id()) {
    case TypeId::kInt:
      // 64 bits inside: a width near the maximum must not overflow on the way.
      return {value.type(),
              static_cast<int32_t>(TruncateNumber<int64_t, uint64_t>(value.get<int32_t>(), width))};
    case TypeId::kLong:
      return {value.type(), TruncateNumber<int64_t, uint64_t>(value.get<int64_t>(), width)};
    case TypeId::kDecimal:
      return {value.type(), TruncateNumber<Int128, UInt128>(value.get<Int128>(), width)};
    case TypeId::kString:
      return {value.type(), TruncateText(value.get<std::string>(), width)};
    default:
      return {value.type(), value.get<std::string>().substr(0, static_cast<size_t>(width))};
  }
}

/// The sign of a negative year takes one of the four places, as in Java's partition paths.
std::string DayText(int64_t days) {
  const CivilDate date = CivilFromDays(days);
  return fmt::format("{:04}-{:02}-{:02}", date.year, date.month, date.day);
}

/// Java's LocalTime leaves out zero seconds and prints fractions in groups of three digits.
std::string TimeText(int64_t micros) {
  std::string text = FormatTime(micros);
  const size_t point = text.find('.');
  if (point == std::string::npos) return text.ends_with(":00") ? text.substr(0, text.size() - 3) : text;
  const size_t digits = text.size() - point - 1;
  return text.append((3 - digits % 3) % 3, '0');
}

}  // namespace

Result<Transform> Transform::ParseJson(std::string_view text) {
  for (const auto& [name, kind] : kPlainTransforms) {
    if (text == name) return Of(kind);
  }
  int32_t parameter = 0;
  if (ParseParameter(text, "bucket[", parameter)) return Bucket(parameter);
  if (ParseParameter(text, "truncate[", parameter)) return Truncate(parameter);
  if (text.starts_with("bucket[") || text.starts_with("truncate[")) {
    return Error(ErrorKind::kCorrupt,
                 fmt::format("transform '{}' needs a positive number in its brackets", text));
  }
  Transform unknown = Of(TransformKind::kUnknown);
  unknown.unknown_text_ = text;
  return unknown;
}

std::string Transform::ToString() const {
  if (kind_ == TransformKind::kBucket) return fmt::format("bucket[{}]", parameter_);
  if (kind_ == TransformKind::kTruncate) return fmt::format("truncate[{}]", parameter_);
  for (const auto& [name, kind] : kPlainTransforms) {
    if (kind == kind_) return std::string(name);
  }
  return unknown_text_;
}

bool Transform::CanApply(const Type& source) const {
  const TypeId id = source.id();
  switch (kind_) {
    case TransformKind::kIdentity:
      return source.is_primitive() && id != TypeId::kGeometry && id != TypeId::kGeography &&
             id != TypeId::kVariant && id != TypeId::kUnknown;
    case TransformKind::kBucket:
      return CanBucket(id);
    case TransformKind::kTruncate:
      return CanTruncate(id);
    case TransformKind::kYear:
    case TransformKind::kMonth:
    case TransformKind::kDay:
      return id == TypeId::kDate || IsTimestamp(id);
    case TransformKind::kHour:
      return IsTimestamp(id);
    case TransformKind::kVoid:
      return true;
    case TransformKind::kUnknown:
      return false;
  }
  return false;
}

TypePtr Transform::ResultType(const TypePtr& source) const {
  switch (kind_) {
    case TransformKind::kBucket:
    case TransformKind::kYear:
    case TransformKind::kMonth:
    case TransformKind::kHour:
      return Type::Primitive(TypeId::kInt);
    case TransformKind::kDay:
      return Type::Primitive(TypeId::kDate);
    case TransformKind::kUnknown:
      return Type::Primitive(TypeId::kString);  // as Java reads partitions of transforms it does not know
    default:
      return source;
  }
}

Result<Literal> Transform::Apply(const Literal& value) const {
  if (kind_ == TransformKind::kVoid) return Literal::Null(ResultType(value.type()));
  if (!CanApply(*value.type())) {
    return Error(ErrorKind::kInvalidArgument, fmt::format("transform {} does not take values of type {}",
                                                          ToString(), value.type()->ToString()));
  }
  TypePtr result = ResultType(value.type());
  if (value.is_null()) return Literal::Null(std::move(result));
  switch (kind_) {
    case TransformKind::kBucket:
      return Literal(std::move(result), (HashOf(value) & std::numeric_limits<int32_t>::max()) % parameter_);
    case TransformKind::kTruncate:
      return Truncated(value, parameter_);
    case TransformKind::kYear:
      return Literal(std::move(result), YearsFromDays(DaysOf(value)));
    case TransformKind::kMonth:
      return Literal(std::move(result), MonthsFromDays(DaysOf(value)));
    case TransformKind::kDay:
      return Literal(std::move(result), DaysOf(value));
    case TransformKind::kHour:
      return Literal(std::move(result), HoursFromMicros(ToMicros(value)));
    default:
      return value;
  }
}

bool Transform::preserves_order() const {
  return kind_ != TransformKind::kBucket && kind_ != TransformKind::kVoid && kind_ != TransformKind::kUnknown;
}

std::string Transform::ToHumanString(const Literal& result) const {
  if (result.is_null() || kind_ == TransformKind::kVoid) return "null";
  if (const auto* unscaled = std::get_if<Int128>(&result.value()))
    return FormatDecimalAsJava(*unscaled, result.type()->scale());
  if (result.type()->id() == TypeId::kTime) return TimeText(result.get<int64_t>());
  if (!std::holds_alternative<int32_t>(result.value())) return result.ToHumanString();
  const int32_t ordinal = result.get<int32_t>();
  switch (kind_) {
    case TransformKind::kYear:
      return fmt::format("{:04}", 1970 + static_cast<int64_t>(ordinal));
    case TransformKind::kMonth:
      return fmt::format("{:04}-{:02}", 1970 + FloorDiv(ordinal, 12), FloorMod(ordinal, 12) + 1);
    case TransformKind::kDay:
      return DayText(ordinal);
    case TransformKind::kHour:
      return fmt::format("{}-{:02}", DayText(FloorDiv(ordinal, 24)), FloorMod(ordinal, 24));
    case TransformKind::kIdentity:
      return result.type()->id() == TypeId::kDate ? DayText(ordinal) : result.ToHumanString();
    default:
      return result.ToHumanString();
  }
}

int32_t Murmur3(std::string_view bytes) {
  constexpr uint32_t kC1 = 0xCC9E2D51;
  constexpr uint32_t kC2 = 0x1B873593;
  const auto mix = [](uint32_t k) { return std::rotl(k * kC1, 15) * kC2; };
  uint32_t hash = 0;
  size_t at = 0;
  for (; at + 4 <= bytes.size(); at += 4) {
    uint32_t block = 0;
    std::memcpy(&block, bytes.data() + at, 4);
    hash = std::rotl(hash ^ mix(block), 13) * 5 + 0xE6546B64;
  }
  uint32_t tail = 0;
  for (size_t i = bytes.size(); i > at; --i) tail = (tail << 8) | static_cast<uint8_t>(bytes[i - 1]);
  hash ^= mix(tail);
  hash ^= static_cast<uint32_t>(bytes.size());
  hash = (hash ^ (hash >> 16)) * 0x85EBCA6B;
  hash = (hash ^ (hash >> 13)) * 0xC2B2AE35;
  return static_cast<int32_t>(hash ^ (hash >> 16));
}

int32_t BucketHashLong(int64_t value) {
  std::array<char, 8> bytes;
  std::memcpy(bytes.data(), &value, 8);
  return Murmur3({bytes.data(), bytes.size()});
}

int32_t BucketHashBytes(std::string_view bytes) { return Murmur3(bytes); }

int32_t BucketHashDecimal(Int128 unscaled) { return Murmur3(DecimalToMinimalBytes(unscaled)); }

int32_t YearsFromDays(int32_t days) { return static_cast<int32_t>(CivilFromDays(days).year - 1970); }

int32_t MonthsFromDays(int32_t days) {
  const CivilDate date = CivilFromDays(days);
  return static_cast<int32_t>((date.year - 1970) * 12 + date.month - 1);
}

int32_t DaysFromMicros(int64_t micros) { return static_cast<int32_t>(FloorDiv(micros, kMicrosPerDay)); }

int32_t HoursFromMicros(int64_t micros) {
  return static_cast<int32_t>(FloorDiv(micros, 3600 * kMicrosPerSecond));
}

}  // namespace firn::iceberg
