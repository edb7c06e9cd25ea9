#pragma once

#include <cstdint>
#include <memory>
#include <vector>

namespace arrow {
class RecordBatch;
class Schema;
}  // namespace arrow

namespace firn::record {

/// Rows of one table as Arrow columns in table-schema order; each field carries its Iceberg id in the
/// metadata key "PARQUET:field_id". `schema_id` is the table schema the columns were bound to.
struct Batch {
  std::shared_ptr<arrow::RecordBatch> rows;
  /// Row i came from this record of the raw batch that was decoded; as long as the rows, ascending. Of use
  /// only beside that raw batch: writers leave it alone.
  std::vector<uint32_t> records;
  int32_t schema_id = 0;
  int64_t input_bytes = 0;  ///< payload bytes these rows came from
};

}  // namespace firn::record
