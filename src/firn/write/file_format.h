#pragma once

#include <arrow/type_fwd.h>
#include <parquet/properties.h>
#include <parquet/schema.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "firn/base/result.h"
#include "firn/iceberg/model/table_metadata.h"

namespace firn::write {

/// How a table's data files are written: its schema and properties, read once for a writer's life.
struct FileFormat {
  iceberg::SchemaPtr schema;  ///< without the columns that are not stored
  std::vector<int> columns;   ///< where each of them stands in a batch of the whole table schema
  std::shared_ptr<arrow::Schema> arrow_schema;
  std::shared_ptr<parquet::schema::GroupNode> parquet_schema;
  std::shared_ptr<parquet::WriterProperties> properties;
  std::shared_ptr<const arrow::KeyValueMetadata> key_value_metadata;
  int64_t target_file_size_bytes = 0;
  int64_t row_group_size_bytes = 0;
};

/// kUnsupported for what Firn does not write, kInvalidArgument with key and value for properties that cannot
/// be read.
Result<FileFormat> MakeFileFormat(const iceberg::TableMetadata& table, arrow::MemoryPool* pool);

}  // namespace firn::write
