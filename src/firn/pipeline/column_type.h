#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "firn/base/result.h"
#include "firn/iceberg/model/type.h"

namespace firn::pipeline {

/// A column's type as people write it: any primitive of the format, `list<T>`, `map<K, V>`, `struct<a: T, b:
/// T>` (also `a T`), nested at will; names with other characters go in backquotes. Nested fields are optional
/// unless `required` follows their type (`struct<a: int required>`, `list<string required>`); map keys always
/// are required. They take ids from `next_id` on, which is advanced. kInvalidArgument names the place and
/// what is allowed.
Result<iceberg::TypePtr> ParseColumnType(std::string_view text, int32_t& next_id);

/// The same backwards: ParseColumnType reads it.
std::string ColumnTypeText(const iceberg::Type& type);

/// In backquotes where other characters than letters, digits and `_` are in it.
std::string QuotedName(std::string_view name);

}  // namespace firn::pipeline
