#pragma once

#include <arrow/type_fwd.h>

#include <cstdint>

#include "firn/decode/cell.h"
#include "firn/decode/column.h"

namespace firn::decode {

/// A cell of a file into a column of a primitive type: exactly, or the outcome says why not. Numbers as JSON
/// numbers are taken; text also for decimals, dates, times, timestamps and UUIDs; bytes for binary, fixed,
/// uuid and (UTF-8) string. A timestamp goes to a column of its own kind (local or instant) only, unless
/// `is_int96`. `row` is not null.
CellOutcome AppendArrowCell(Column& column, const arrow::Array& array, int64_t row, bool is_int96);

}  // namespace firn::decode
