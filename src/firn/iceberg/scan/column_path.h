#pragma once

#include <arrow/type_fwd.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "firn/base/result.h"
#include "firn/iceberg/model/schema.h"

namespace firn::iceberg {

/// Where a field stands in batches of a schema: column index, then child index in each enclosing struct.
/// Empty optional for unknown fields and for those inside lists and maps.
std::optional<std::vector<int>> FindColumnPath(const Schema& schema, int32_t field_id);

/// The column at a path, null where any enclosing struct is null.
Result<std::shared_ptr<arrow::Array>> ColumnAt(const arrow::RecordBatch& batch, const std::vector<int>& path,
                                               arrow::MemoryPool* pool);

}  // namespace firn::iceberg
