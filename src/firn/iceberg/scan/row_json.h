#pragma once

#include <arrow/type_fwd.h>

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "firn/base/result.h"
#include "firn/iceberg/model/schema.h"

namespace firn::iceberg {

/// Rows of a scan as JSON objects in column order, for people and for lines of JSON: numbers and booleans as
/// they are; decimals as text (exact, with their scale); dates, times and timestamps as ISO-8601 (with Z
/// where the type has a zone); UUIDs in their usual form; binary and fixed as base64; structs as objects,
/// lists as arrays, maps as objects when their keys are text, else as arrays of [key, value]; NaN and
/// infinities as text. `rows` must be in the Arrow form of `schema`.
Result<std::vector<nlohmann::ordered_json>> RowsToJson(const arrow::RecordBatch& rows, const Schema& schema);

}  // namespace firn::iceberg
