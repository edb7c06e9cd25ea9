#pragma once

#include <arrow/type_fwd.h>

#include <memory>

#include "firn/base/result.h"

namespace firn::iceberg {

/// The cells or rows at `indices`, in that order, on the calling thread and with memory of `pool`; a null
/// index gives null. Indices are trusted to lie within.
Result<std::shared_ptr<arrow::Array>> Take(const std::shared_ptr<arrow::Array>& cells,
                                           const std::shared_ptr<arrow::Array>& indices,
                                           arrow::MemoryPool* pool);
Result<std::shared_ptr<arrow::RecordBatch>> Take(const std::shared_ptr<arrow::RecordBatch>& rows,
                                                 const std::shared_ptr<arrow::Array>& indices,
                                                 arrow::MemoryPool* pool);

}  // namespace firn::iceberg
