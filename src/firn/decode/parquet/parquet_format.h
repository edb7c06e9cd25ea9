#pragma once

#include <memory>
#include <string_view>

#include "firn/record/file_format.h"

namespace firn::decode {

/// Metadata key of RawBatch::rows' schema: names of the columns that hold INT96 timestamps, one a line. Their
/// Arrow type does not tell them from local timestamps, though writers mean instants.
inline constexpr std::string_view kInt96Columns = "firn.int96_columns";

/// Parquet files as records: RawBatch::rows holds a part of one row group, lines are row numbers. A row group
/// is read in small batches through buffered column streams, so memory does not grow with its size. Reading
/// goes on at any row. INT96 timestamps come in microseconds.
///
/// kCorrupt with the file's name: no Parquet file, cut off, damaged; kUnsupported: encrypted.
std::shared_ptr<record::FileFormat> MakeParquetFormat();

}  // namespace firn::decode
