#pragma once

#include <arrow/type_fwd.h>

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "firn/base/result.h"
#include "firn/iceberg/model/schema.h"

namespace firn::write {

/// Counts NaN values of float and double columns at any depth while rows pass by: the one metric that a
/// Parquet footer does not give.
class NanCounter {
 public:
  NanCounter(iceberg::SchemaPtr schema, arrow::MemoryPool* pool);

  /// `rows` has the columns of the schema.
  Status Add(const arrow::RecordBatch& rows);
  /// By field id; every float and double column has an entry.
  const std::map<int32_t, int64_t>& counts() const { return counts_; }

 private:
  using ArrayPtr = std::shared_ptr<arrow::Array>;

  Status AddColumn(const iceberg::NestedField& field, const ArrayPtr& column);
  Status AddStruct(const iceberg::Type& type, const ArrayPtr& column);
  Status AddList(const iceberg::Type& type, const ArrayPtr& column);
  Status AddMap(const iceberg::Type& type, const ArrayPtr& column);

  iceberg::SchemaPtr schema_;
  std::vector<int> columns_;  ///< top-level columns with a float or double somewhere
  arrow::MemoryPool* pool_;
  std::map<int32_t, int64_t> counts_;
};

}  // namespace firn::write
