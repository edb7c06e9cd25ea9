#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "firn/base/result.h"

namespace firn::avro {

enum class Kind : uint8_t {
  kNull,
  kBoolean,
  kInt,
  kLong,
  kFloat,
  kDouble,
  kBytes,
  kString,
  kRecord,
  kEnum,
  kArray,
  kMap,
  kUnion,
  kFixed,
};

std::string_view ToString(Kind kind);

struct Node;

/// A field of a record.
struct Field {
  std::string name;
  const Node* type = nullptr;
  std::optional<int32_t> field_id;                      ///< Iceberg's `field-id`
  std::shared_ptr<const nlohmann::json> default_value;  ///< null pointer: none
  std::string doc;
  std::vector<std::string> aliases;
};

/// One type of a schema. Owned by its Schema; a recursive type points back to its record.
struct Node {
  Kind kind = Kind::kNull;
  std::string name;                   ///< full name of a record, enum or fixed
  std::string logical_type;           ///< empty: none
  int32_t precision = 0;              ///< logical type decimal
  int32_t scale = 0;                  ///< logical type decimal
  std::optional<bool> adjust_to_utc;  ///< Iceberg's `adjust-to-utc`
  std::vector<Field> fields;          ///< record
  std::vector<std::string> symbols;   ///< enum
  std::vector<const Node*> branches;  ///< union
  const Node* items = nullptr;        ///< array items, map values
  int64_t size_bytes = 0;             ///< fixed
  std::optional<int32_t> element_id;  ///< Iceberg's ids of array elements, map keys and values
  std::optional<int32_t> key_id;
  std::optional<int32_t> value_id;
  int64_t min_bytes = 0;  ///< no value of this type is encoded in less

  const Field* FindField(std::string_view field_name) const;
  /// For a union of null and one other type: that type; else null.
  const Node* NullableInner() const;
};

/// A parsed Avro schema (specification 1.11, "Schema Declaration"). Immutable; nodes live as long as it does.
class Schema {
 public:
  /// kCorrupt with the place inside the schema for anything the specification does not allow. Nesting is
  /// bounded.
  static Result<std::shared_ptr<const Schema>> Parse(std::string_view json) { return Parse(json, {}); }
  /// The same with schemas whose named types `json` refers to; each comes after what it refers to itself.
  static Result<std::shared_ptr<const Schema>> Parse(std::string_view json,
                                                     const std::vector<std::string>& referenced);

  /// A record whose only field, which need not have a name that Avro allows, is of `inner`'s type. Its data
  /// are the same bytes as inner's.
  static std::shared_ptr<const Schema> RecordOf(std::string field, std::shared_ptr<const Schema> inner);

  const Node& root() const { return *root_; }

  Schema() = default;
  Schema(const Schema&) = delete;
  Schema& operator=(const Schema&) = delete;

 private:
  friend class SchemaParser;
  std::deque<Node> nodes_;
  const Node* root_ = nullptr;
  std::shared_ptr<const Schema> inner_;  ///< whose nodes are pointed to
};

using SchemaPtr = std::shared_ptr<const Schema>;

/// `[A-Za-z_][A-Za-z0-9_]*`.
bool IsValidName(std::string_view name);
/// The name made legal as the Java implementation does it: a leading digit gets `_` before it, any other
/// illegal character becomes `_x` and its UTF-16 code units in upper-case hexadecimal. (Java lets letters
/// beyond ASCII pass; Avro does not.)
std::string LegalName(std::string_view name);

}  // namespace firn::avro
