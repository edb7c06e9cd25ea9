#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "firn/base/result.h"

namespace firn::iceberg {

/// Iceberg types (format spec, "Schemas and Data Types"); v3 types at the end.
enum class TypeId : uint8_t {
  kBoolean,
  kInt,
  kLong,
  kFloat,
  kDouble,
  kDecimal,
  kDate,
  kTime,
  kTimestamp,
  kTimestampTz,
  kString,
  kUuid,
  kFixed,
  kBinary,
  kStruct,
  kList,
  kMap,
  kTimestampNs,
  kTimestampTzNs,
  kVariant,
  kUnknown,
  kGeometry,
  kGeography,
};

class Type;
using TypePtr = std::shared_ptr<const Type>;
class Literal;

/// A field of a struct, the element of a list, the key or value of a map.
struct NestedField {
  int32_t id = 0;
  std::string name;  ///< "element", "key", "value" for list and map children
  bool required = false;
  TypePtr type;
  std::string doc;
  std::shared_ptr<const Literal> initial_default;  ///< v3; null pointer: none
  std::shared_ptr<const Literal> write_default;    ///< v3; null pointer: none
};

bool operator==(const NestedField& a, const NestedField& b);

/// Immutable type tree. Make with the factories; compare with Equals (ids included).
class Type {
 public:
  static TypePtr Primitive(TypeId id);  ///< any id without parameters
  static TypePtr Decimal(int32_t precision, int32_t scale);
  static TypePtr Fixed(int32_t length);
  static TypePtr Geometry(std::string crs);
  static TypePtr Geography(std::string crs, std::string algorithm);
  static TypePtr Struct(std::vector<NestedField> fields);
  static TypePtr List(int32_t element_id, bool element_required, TypePtr element);
  static TypePtr Map(int32_t key_id, TypePtr key, int32_t value_id, bool value_required, TypePtr value);

  /// `int`, `decimal(9,2)`, `fixed[16]` ...: primitive type strings of the format; kInvalidArgument
  /// otherwise.
  static Result<TypePtr> ParsePrimitive(std::string_view text);

  TypeId id() const { return id_; }
  bool is_primitive() const { return id_ != TypeId::kStruct && id_ != TypeId::kList && id_ != TypeId::kMap; }
  int32_t precision() const { return a_; }  ///< decimal
  int32_t scale() const { return b_; }      ///< decimal
  int32_t length() const { return a_; }     ///< fixed
  const std::string& crs() const { return crs_; }
  const std::string& algorithm() const { return algorithm_; }
  /// struct: its fields; list: {element}; map: {key, value}; else empty.
  const std::vector<NestedField>& fields() const { return fields_; }
  const NestedField& element() const { return fields_[0]; }
  const NestedField& key() const { return fields_[0]; }
  const NestedField& value() const { return fields_[1]; }
  /// Struct field by exact name; null when there is none.
  const NestedField* FindField(std::string_view name) const;
  const NestedField* FindField(int32_t id) const;

  bool Equals(const Type& other) const;
  /// The format's type string for primitives; `struct<...>` forms for messages.
  std::string ToString() const;
  /// Lowest format version that has this type (1 or 3).
  int min_format_version() const;

 private:
  struct Token {};

 public:
  Type(Token /*token*/, TypeId id) : id_(id) {}

 private:
  TypeId id_;
  int32_t a_ = 0;
  int32_t b_ = 0;
  std::string crs_;
  std::string algorithm_;
  std::vector<NestedField> fields_;
};

/// Whether the format lets `from` become `to` in a table of `format_version` (spec, "Schema Evolution").
bool CanPromote(const Type& from, const Type& to, int format_version);
/// The `format_version` whose promotions every table has that we write to.
inline constexpr int kPromotionsOfEveryTable = 2;

/// Bytes needed for an unscaled decimal of this precision (spec, Parquet mapping): 9 -> 4, 18 -> 8, 38 -> 16.
int32_t DecimalRequiredBytes(int32_t precision);

}  // namespace firn::iceberg
