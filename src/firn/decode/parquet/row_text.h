#pragma once

#include <arrow/type_fwd.h>

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace firn::decode {

/// One cell of a file as JSON, as iceberg/scan/row_json.h writes cells; types that Iceberg does not have as
/// Arrow prints them.
nlohmann::ordered_json CellToJson(const arrow::Array& array, int64_t row);

/// One row as a JSON object, for dead letters.
std::string RowToJson(const arrow::RecordBatch& rows, int64_t row);

}  // namespace firn::decode
