#include "firn/iceberg/scan/take.h"

#include <arrow/array.h>
#include <arrow/compute/api_vector.h>
#include <arrow/compute/exec.h>
#include <arrow/datum.h>
#include <arrow/record_batch.h>

#include "firn/iceberg/scan/arrow_error.h"

namespace firn::iceberg {

namespace {

Result<arrow::Datum> TakeFrom(const arrow::Datum& values, const std::shared_ptr<arrow::Array>& indices,
                              arrow::MemoryPool* pool) {
  arrow::compute::ExecContext context(pool);
  context.set_use_threads(false);
  FIRN_ARROW_ASSIGN(arrow::Datum taken,
                    arrow::compute::Take(values, arrow::Datum(indices),
                                         arrow::compute::TakeOptions::NoBoundsCheck(), &context));
  return taken;
}

}  // namespace

Result<std::shared_ptr<arrow::Array>> Take(const std::shared_ptr<arrow::Array>& cells,
                                           const std::shared_ptr<arrow::Array>& indices,
                                           arrow::MemoryPool* pool) {
  FIRN_ASSIGN(const arrow::Datum taken, TakeFrom(arrow::Datum(cells), indices, pool));
  return taken.make_array();
}

Result<std::shared_ptr<arrow::RecordBatch>> Take(const std::shared_ptr<arrow::RecordBatch>& rows,
                                                 const std::shared_ptr<arrow::Array>& indices,
                                                 arrow::MemoryPool* pool) {
  FIRN_ASSIGN(const arrow::Datum taken, TakeFrom(arrow::Datum(rows), indices, pool));
  return taken.record_batch();
}

}  // namespace firn::iceberg
