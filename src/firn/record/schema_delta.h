#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "firn/iceberg/model/type.h"

namespace firn::record {

/// What a table's schema may do on its own when records bring more than it holds.
enum class Evolution : uint8_t { kNone, kAdd, kAddAndWiden };

/// What a decoder saw in the data that the bound schema has no room for. Meets the table's schema in route/.
struct SchemaDelta {
  struct NewField {
    int32_t parent_id =
        0;  ///< field id of the enclosing struct field (or list element, map value); 0: the table's root
    std::string name;
    iceberg::TypePtr type;  ///< inferred; ids inside are 0
    std::string doc = {};   ///< what the records' own schema says about it
  };
  struct WidenedField {
    int32_t field_id = 0;
    iceberg::TypePtr type;
  };
  std::vector<NewField> added;
  std::vector<WidenedField> widened;
  bool empty() const { return added.empty() && widened.empty(); }
};

/// A part of a delta that the table cannot take. A decoder bound with it asks no more: records that need it
/// are dead letters.
struct RefusedChange {
  int32_t field_id = 0;  ///< NewField::parent_id or WidenedField::field_id
  std::string name;      ///< NewField::name; empty: the widening
  std::string why;       ///< for people
};

}  // namespace firn::record
