#pragma once

#include <arrow/type_fwd.h>

#include <cstdint>
#include <memory>

#include "firn/base/result.h"
#include "firn/iceberg/model/literal.h"

namespace firn::iceberg {

/// The value of one row; `array` has the Arrow type that ToArrowType gives for `type` (a primitive one).
Literal LiteralAt(const arrow::Array& array, int64_t row, const TypePtr& type);

/// `length` times the same value (or null), in the Arrow type of literal.type().
Result<std::shared_ptr<arrow::Array>> ConstantArray(const Literal& literal, int64_t length,
                                                    arrow::MemoryPool* pool);

/// Unscaled value of a decimal128 row as our 128-bit integer.
Int128 DecimalAt(const uint8_t* values, int64_t row);

}  // namespace firn::iceberg
