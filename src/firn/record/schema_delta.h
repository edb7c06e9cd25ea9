#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "firn/iceberg/model/type.h"

namespace firn::record {

/// What a decoder saw in the data that the bound schema has no room for. Meets the table's schema in route/.
struct SchemaDelta {
  struct NewField {
    int32_t parent_id =
        0;  ///< field id of the enclosing struct field (or list element, map value); 0: the table's root
    std::string name;
    iceberg::TypePtr type;  ///< inferred; ids inside are 0
  };
  struct WidenedField {
    int32_t field_id = 0;
    iceberg::TypePtr type;
  };
  std::vector<NewField> added;
  std::vector<WidenedField> widened;
  bool empty() const { return added.empty() && widened.empty(); }
};

}  // namespace firn::record
