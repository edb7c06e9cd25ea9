#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "firn/iceberg/model/schema.h"

namespace firn::iceberg::testing {

/// A field in a line, for the schemas of tests.
inline NestedField Field(int32_t id, std::string name, TypePtr type, bool required = false) {
  NestedField field;
  field.id = id;
  field.name = std::move(name);
  field.type = std::move(type);
  field.required = required;
  return field;
}

}  // namespace firn::iceberg::testing
