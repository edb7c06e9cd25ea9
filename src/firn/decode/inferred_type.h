#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "firn/iceberg/model/type.h"

namespace firn::decode {

enum class InferredKind : uint8_t {
  kWaiting,  ///< only null, or an empty object or array: says nothing yet
  kBoolean,
  kLong,
  kDouble,
  kString,
  kNotFinite,  ///< text `NaN`, `Infinity` or `-Infinity`: a double among numbers, else text
  kStruct,
  kList,
  kKnown,     ///< told by a schema that came with the records, not by values
  kConflict,  ///< values that have no common type
};

/// What a JSON value would be as an Iceberg type: integers long, numbers with a fraction or exponent double,
/// a mix of both double, also with the text of NaN and the infinities among them. Values without a common
/// type conflict, so does an integer outside 64 bits.
struct InferredType {
  static constexpr size_t kMaxFields = 2000;

  InferredKind kind = InferredKind::kWaiting;
  bool from_text = false;  ///< of a format that has only text: values that do not agree are text, no conflict
  std::vector<std::pair<std::string, InferredType>> fields;  ///< kStruct
  std::unique_ptr<InferredType> element;                     ///< kList
  iceberg::TypePtr known;                                    ///< kKnown; ids inside are 0
  std::string doc;       ///< kKnown: what that schema says about the field
  std::string conflict;  ///< kConflict: why, for people

  static InferredType Of(InferredKind kind);
  /// Of a value that is text: kString or kNotFinite.
  static InferredType OfText(std::string_view text);
  static InferredType Conflict(std::string why);
  static InferredType Known(iceberg::TypePtr type, std::string doc);

  InferredType() = default;
  InferredType(const InferredType& other);
  InferredType& operator=(const InferredType& other);
  InferredType(InferredType&&) = default;
  InferredType& operator=(InferredType&&) = default;
  ~InferredType() = default;

  /// Takes another value's type in. Of two known types the one that the format promotes the other to wins.
  void Merge(const InferredType& other);
  /// Adds or replaces a field; one without a name, or whose name differs only in case from a sibling's, is
  /// left out. Beyond kMaxFields this becomes a conflict: such an object is a map, and wants to be declared
  /// as one.
  void SetField(std::string_view name, InferredType type);

  /// Nothing that could be written yet: waiting itself, or made of waiting parts only.
  bool is_waiting() const;
  /// The first conflict at any depth, with its path below this value; empty when there is none.
  std::string FindConflict() const;
  /// With ids 0; waiting fields are left out. Not for is_waiting() or conflicts.
  iceberg::TypePtr ToIceberg() const;
  /// Named fields that a column of this type adds, itself included.
  int32_t CountFields() const;

 private:
  void MergeKnown(const InferredType& other);
};

/// Named fields of a type, at every depth.
int32_t CountNamedFields(const iceberg::Type& type);

/// `long`, `struct`, ... for messages.
std::string_view ToString(InferredKind kind);

/// Equal but for the case of ASCII letters.
bool EqualsIgnoringCase(std::string_view a, std::string_view b);

}  // namespace firn::decode
