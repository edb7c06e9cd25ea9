#pragma once

#include <arrow/type_fwd.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "firn/base/result.h"
#include "firn/iceberg/model/schema.h"
#include "firn/iceberg/model/transform.h"

namespace firn::write {

/// One transform over one column of a table, a whole array at a time; same results as Transform::Apply on
/// each value.
class TransformKernel {
 public:
  /// Resolves the column; kUnsupported for an unknown transform or one that does not take the type. A void
  /// transform may name a column that is gone.
  static Result<TransformKernel> Make(const iceberg::Transform& transform, int32_t source_id,
                                      const iceberg::Schema& schema);

  const iceberg::TypePtr& result_type() const { return result_type_; }
  /// The transformed column; `batch` has the columns of the schema, in its order.
  Result<std::shared_ptr<arrow::Array>> Apply(const arrow::RecordBatch& batch, arrow::MemoryPool* pool) const;
  /// The same on the source column itself.
  Result<std::shared_ptr<arrow::Array>> ApplyTo(const std::shared_ptr<arrow::Array>& source,
                                                arrow::MemoryPool* pool) const;

 private:
  TransformKernel(const iceberg::Transform& transform, iceberg::TypePtr source_type,
                  iceberg::TypePtr result_type, std::vector<int> path);

  iceberg::Transform transform_;
  iceberg::TypePtr source_type_;
  iceberg::TypePtr result_type_;
  std::vector<int> path_;  ///< column index, then struct field indices; empty: the column is gone (void only)
};

}  // namespace firn::write
