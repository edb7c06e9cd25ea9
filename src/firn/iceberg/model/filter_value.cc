#include "firn/iceberg/model/filter_value.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "firn/base/int128.h"

namespace firn::iceberg {

namespace {

using Place = PlacedValue::Place;

/// The largest multiple of 10^-scale that is not above the number, as an integer.
struct Floored {
  Int128 value = 0;
  bool exact = true;
  bool too_large = false;  ///< the magnitude does not fit; `negative` tells the side
  bool negative = false;
  bool ok = true;
};

constexpr Int128 kLimit = static_cast<Int128>(1'000'000'000'000'000'000) *
                          static_cast<Int128>(1'000'000'000'000'000'000) * 100;  // 10^38

Floored FloorAt(std::string_view text, int32_t scale) {
  Floored result;
  result.negative = text.starts_with('-');
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  int32_t fraction = -1;
  Int128 magnitude = 0;
  const auto shift = [&](int digit) {
    if (magnitude >= kLimit / 10) {
      result.too_large = true;  // another digit makes it 10^38, beyond every type
      return;
    }
    magnitude = magnitude * 10 + digit;
  };
  for (const char c : text) {
    if (c == '.' && fraction < 0) {
      fraction = 0;
    } else if (c < '0' || c > '9') {
      result.ok = false;
      return result;
    } else if (fraction < scale) {
      shift(c - '0');
      if (fraction >= 0) ++fraction;
    } else if (c != '0') {
      result.exact = false;
    }
  }
  for (int32_t i = std::max(fraction, 0); i < scale; ++i) shift(0);
  result.value = result.negative ? -magnitude : magnitude;
  if (result.negative && !result.exact) --result.value;
  return result;
}

PlacedValue Placed(Place place, std::optional<Literal> literal = std::nullopt) {
  return {place, std::move(literal)};
}

template <typename T>
PlacedValue PlaceInteger(const Floored& number, const TypePtr& type) {
  if (number.value > std::numeric_limits<T>::max()) return Placed(Place::kBeyondMax);
  if (number.value < std::numeric_limits<T>::min()) return Placed(Place::kBelowMin);
  return Placed(number.exact ? Place::kExact : Place::kAbove, Literal(type, static_cast<T>(number.value)));
}

PlacedValue PlaceDecimal(const Floored& number, const TypePtr& type) {
  Int128 limit = 1;
  for (int32_t i = 0; i < type->precision(); ++i) limit *= 10;
  if (number.value >= limit) return Placed(Place::kBeyondMax);
  if (number.value <= -limit) return Placed(Place::kBelowMin);
  return Placed(number.exact ? Place::kExact : Place::kAbove, Literal(type, number.value));
}

Error Mismatch(const Token& value, const Type& type, std::string_view hint) {
  return FilterError(value.at,
                     fmt::format("'{}' is not a value of type {}{}", value.text, type.ToString(), hint));
}

Result<PlacedValue> PlaceNumber(const Token& value, const TypePtr& type) {
  switch (type->id()) {
    case TypeId::kInt:
    case TypeId::kLong:
    case TypeId::kDecimal: {
      const Floored number = FloorAt(value.text, type->id() == TypeId::kDecimal ? type->scale() : 0);
      if (!number.ok) return Mismatch(value, *type, "; write it without an exponent");
      if (number.too_large) return Placed(number.negative ? Place::kBelowMin : Place::kBeyondMax);
      if (type->id() == TypeId::kDecimal) return PlaceDecimal(number, type);
      return type->id() == TypeId::kInt ? PlaceInteger<int32_t>(number, type)
                                        : PlaceInteger<int64_t>(number, type);
    }
    case TypeId::kFloat:
    case TypeId::kDouble: {
      const std::string_view text = value.text;
      const Result<Literal> literal = Literal::Parse(type, text.starts_with('+') ? text.substr(1) : text);
      if (!literal.ok()) return FilterError(value.at, literal.error().message());
      return Placed(Place::kExact, *literal);
    }
    case TypeId::kBoolean:
      return Mismatch(value, *type, "; write TRUE or FALSE");
    default:
      return Mismatch(value, *type, "; write it in single quotes");
  }
}

bool IsBytes(TypeId id) { return id == TypeId::kBinary || id == TypeId::kFixed; }

Result<PlacedValue> PlaceText(const Token& value, const TypePtr& type) {
  const Result<Literal> literal = Literal::Parse(type, value.text);
  if (!literal.ok()) return FilterError(value.at, literal.error().message());
  return Placed(Place::kExact, *literal);
}

}  // namespace

Result<PlacedValue> PlaceValue(const Token& value, const TypePtr& type) {
  if (value.kind == TokenKind::kNumber) return PlaceNumber(value, type);
  if (value.kind == TokenKind::kText) return PlaceText(value, type);
  if (value.kind == TokenKind::kBytes && IsBytes(type->id())) return PlaceText(value, type);
  const bool is_boolean = value.kind == TokenKind::kName && (value.upper == "TRUE" || value.upper == "FALSE");
  if (is_boolean && type->id() == TypeId::kBoolean)
    return Placed(Place::kExact, Literal(type, value.upper == "TRUE"));
  const bool is_nan = value.kind == TokenKind::kName && value.upper == "NAN";
  if (is_nan && (type->id() == TypeId::kFloat || type->id() == TypeId::kDouble))
    return PlaceText(value, type);
  return Mismatch(value, *type, "");
}

}  // namespace firn::iceberg
