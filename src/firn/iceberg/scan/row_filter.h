#pragma once

#include <arrow/type_fwd.h>

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "firn/base/result.h"
#include "firn/iceberg/model/expression.h"
#include "firn/iceberg/model/schema.h"

namespace firn::iceberg {

/// One byte a row: 1 stays, 0 goes.
using RowMask = std::vector<uint8_t>;

/// Evaluates a bound filter on batches of a schema, predicate by predicate over whole columns.
class RowFilter {
 public:
  /// kUnsupported where the filter reads a field inside a list or map.
  static Result<RowFilter> Make(FilterPtr filter, const Schema& schema);

  Result<RowMask> Evaluate(const arrow::RecordBatch& rows, arrow::MemoryPool* pool) const;

 private:
  Result<RowMask> Evaluate(const Filter& filter, const arrow::RecordBatch& rows,
                           arrow::MemoryPool* pool) const;
  Result<RowMask> Test(const BoundPredicate& predicate, const arrow::RecordBatch& rows,
                       arrow::MemoryPool* pool) const;

  FilterPtr filter_;
  std::map<int32_t, std::vector<int>> paths_;
};

/// The rows that stay; the same batch where all do.
Result<std::shared_ptr<arrow::RecordBatch>> KeepRows(const std::shared_ptr<arrow::RecordBatch>& rows,
                                                     const RowMask& mask, arrow::MemoryPool* pool);

}  // namespace firn::iceberg
