#pragma once

#include <compare>
#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "firn/base/int128.h"
#include "firn/base/result.h"
#include "firn/iceberg/model/type.h"

namespace firn::iceberg {

/// One value of a primitive type, or null. Storage by type:
///   boolean: bool; int, date: int32_t; long, time, timestamps: int64_t (micros; nanos for *_ns);
///   float: float; double: double; decimal: Int128 (unscaled); string (UTF-8), uuid (16 bytes big-endian),
///   fixed, binary: std::string.
class Literal {
 public:
  using Storage = std::variant<std::monostate, bool, int32_t, int64_t, float, double, Int128, std::string>;

  static Literal Null(TypePtr type) { return {std::move(type), std::monostate{}}; }
  /// The storage alternative must be the type's own (checked).
  Literal(TypePtr type, Storage value);

  const TypePtr& type() const { return type_; }
  bool is_null() const { return std::holds_alternative<std::monostate>(value_); }
  const Storage& value() const { return value_; }
  template <typename T>
  const T& get() const {
    return std::get<T>(value_);
  }

  bool operator==(const Literal& other) const;
  /// Total order of one type as the format sorts it (floats: -NaN < -Inf < .. < -0 < 0 < .. < Inf < NaN;
  /// bytes unsigned); null first.
  std::strong_ordering Compare(const Literal& other) const;

  /// Single-value binary serialization (spec, Appendix D). Not for null.
  Result<std::string> ToBytes() const;
  /// Reads Appendix D bytes; accepts the narrower widths that promotion leaves behind (4 bytes for long and
  /// double, date for timestamp).
  static Result<Literal> FromBytes(const TypePtr& type, std::string_view bytes);

  /// For people and for partition paths: dates ISO, timestamps ISO, decimals with scale, fixed/binary base64
  /// (spec 3.2 of our reference).
  std::string ToHumanString() const;
  /// Parses what a person writes in a filter or a default: ISO dates and timestamps, decimals, true/false,
  /// uuid text, hex for bytes.
  static Result<Literal> Parse(const TypePtr& type, std::string_view text);

 private:
  TypePtr type_;
  Storage value_;
};

}  // namespace firn::iceberg
