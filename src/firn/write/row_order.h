#pragma once

#include <arrow/type_fwd.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "firn/base/result.h"
#include "firn/iceberg/model/sort_order.h"
#include "firn/write/transform_kernel.h"

namespace firn::write {

/// Sorts rows by a table's sort order: transformed keys, direction and null order of each field, floats in
/// the format's total order; stable.
class RowOrder {
 public:
  static Result<RowOrder> Make(const iceberg::SortOrder& order, const iceberg::Schema& schema);

  /// Row indices in order (Int32Array).
  Result<std::shared_ptr<arrow::Array>> Indices(const arrow::RecordBatch& rows,
                                                arrow::MemoryPool* pool) const;
  /// The rows in order; the same batch where it is ordered already.
  Result<std::shared_ptr<arrow::RecordBatch>> Sort(const std::shared_ptr<arrow::RecordBatch>& rows,
                                                   arrow::MemoryPool* pool) const;

 private:
  struct Field {
    TransformKernel kernel;
    iceberg::SortDirection direction;
    iceberg::NullOrder null_order;
  };

  std::vector<Field> fields_;
};

}  // namespace firn::write
