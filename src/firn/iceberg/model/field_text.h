#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "firn/base/result.h"
#include "firn/iceberg/model/schema.h"
#include "firn/iceberg/model/transform.h"

namespace firn::iceberg {

/// A transform of a column as people write it: `origin`, `day(ts)`, `days(ts)`, `bucket(16, id)`,
/// `truncate(id, 4)`.
struct TransformOfColumn {
  Transform transform = Transform::Identity();
  const NestedField* source = nullptr;  ///< of the schema it was resolved against
  std::string source_name;              ///< dotted
};

/// kInvalidArgument names the text, what is wrong and the nearest column or function.
Result<TransformOfColumn> ParseTransformOfColumn(std::string_view text, const Schema& schema);

/// " Did you mean 'x'?" for the nearest column of the schema; empty when none is near.
std::string ColumnSuggestion(std::string_view name, const Schema& schema);

}  // namespace firn::iceberg
