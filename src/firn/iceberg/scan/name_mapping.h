#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "firn/base/result.h"

namespace firn::iceberg {

/// `schema.name-mapping.default` (spec, "Column Projection"): names of columns in files that carry no field
/// ids.
struct MappedField {
  std::optional<int32_t> field_id;
  std::vector<std::string> names;
  std::vector<MappedField> fields;
};

struct NameMapping {
  std::vector<MappedField> fields;
};

Result<NameMapping> ParseNameMapping(std::string_view json);

/// The entry that has this name; null when there is none.
const MappedField* FindMapped(const std::vector<MappedField>& fields, std::string_view name);

}  // namespace firn::iceberg
