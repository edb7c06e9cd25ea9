#include "firn/iceberg/scan/row_filter.h"

#include <arrow/array.h>
#include <arrow/buffer.h>
#include <arrow/record_batch.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>

#include "firn/iceberg/scan/arrow_error.h"
#include "firn/iceberg/scan/arrow_literal.h"
#include "firn/iceberg/scan/column_path.h"
#include "firn/iceberg/scan/take.h"

namespace firn::iceberg {

namespace {

/// The operators that compare with one value.
bool IsComparison(PredicateOp op) { return op >= PredicateOp::kEq && op <= PredicateOp::kGtEq; }

template <typename T, typename Compare>
void CompareAll(const arrow::Array& column, T value, Compare compare, RowMask& mask) {
  const auto* values = column.data()->GetValues<T>(1);
  for (size_t i = 0; i < mask.size(); ++i) mask[i] = static_cast<uint8_t>(compare(values[i], value));
}

template <typename T>
void TestNumbers(const BoundPredicate& predicate, const arrow::Array& column, RowMask& mask) {
  const T value = predicate.literals[0].get<T>();
  switch (predicate.op) {
    case PredicateOp::kEq:
      return CompareAll(column, value, std::equal_to<T>(), mask);
    case PredicateOp::kNotEq:
      return CompareAll(column, value, std::not_equal_to<T>(), mask);
    case PredicateOp::kLt:
      return CompareAll(column, value, std::less<T>(), mask);
    case PredicateOp::kLtEq:
      return CompareAll(column, value, std::less_equal<T>(), mask);
    case PredicateOp::kGt:
      return CompareAll(column, value, std::greater<T>(), mask);
    default:
      return CompareAll(column, value, std::greater_equal<T>(), mask);
  }
}

/// Whole-column comparison for integers, dates and times; false where the general way is needed.
bool TestFast(const BoundPredicate& predicate, const arrow::Array& column, RowMask& mask) {
  if (!IsComparison(predicate.op) || predicate.literals.size() != 1) return false;
  if (std::holds_alternative<int32_t>(predicate.literals[0].value())) {
    TestNumbers<int32_t>(predicate, column, mask);
  } else if (std::holds_alternative<int64_t>(predicate.literals[0].value())) {
    TestNumbers<int64_t>(predicate, column, mask);
  } else {
    return false;
  }
  if (column.null_count() > 0) {
    for (size_t i = 0; i < mask.size(); ++i)
      mask[i] &= static_cast<uint8_t>(column.IsValid(static_cast<int64_t>(i)));
  }
  return true;
}

}  // namespace

Result<RowFilter> RowFilter::Make(FilterPtr filter, const Schema& schema) {
  RowFilter result;
  for (const int32_t id : filter->FieldIds()) {
    const auto path = FindColumnPath(schema, id);
    if (!path.has_value()) {
      return Error(ErrorKind::kUnsupported,
                   "a filter on '" + schema.FullName(id) + "' inside a list or map cannot be evaluated");
    }
    result.paths_[id] = *path;
  }
  result.filter_ = std::move(filter);
  return result;
}

Result<RowMask> RowFilter::Evaluate(const arrow::RecordBatch& rows, arrow::MemoryPool* pool) const {
  return Evaluate(*filter_, rows, pool);
}

Result<RowMask> RowFilter::Evaluate(const Filter& filter, const arrow::RecordBatch& rows,
                                    arrow::MemoryPool* pool) const {
  switch (filter.kind()) {
    case Filter::Kind::kTrue:
    case Filter::Kind::kFalse:
      return RowMask(static_cast<size_t>(rows.num_rows()), filter.kind() == Filter::Kind::kTrue ? 1 : 0);
    case Filter::Kind::kPredicate:
      return Test(filter.predicate(), rows, pool);
    case Filter::Kind::kAnd:
    case Filter::Kind::kOr:
      break;
  }
  FIRN_ASSIGN(RowMask left, Evaluate(*filter.left(), rows, pool));
  FIRN_ASSIGN(const RowMask right, Evaluate(*filter.right(), rows, pool));
  const bool both = filter.kind() == Filter::Kind::kAnd;
  for (size_t i = 0; i < left.size(); ++i) {
    left[i] = both ? static_cast<uint8_t>(left[i] & right[i]) : static_cast<uint8_t>(left[i] | right[i]);
  }
  return left;
}

Result<RowMask> RowFilter::Test(const BoundPredicate& predicate, const arrow::RecordBatch& rows,
                                arrow::MemoryPool* pool) const {
  FIRN_ASSIGN(const auto column, ColumnAt(rows, paths_.at(predicate.field_id), pool));
  RowMask mask(static_cast<size_t>(rows.num_rows()));
  if (TestFast(predicate, *column, mask)) return mask;
  for (size_t i = 0; i < mask.size(); ++i) {
    mask[i] =
        static_cast<uint8_t>(predicate.Test(LiteralAt(*column, static_cast<int64_t>(i), predicate.type)));
  }
  return mask;
}

Result<std::shared_ptr<arrow::RecordBatch>> KeepRows(const std::shared_ptr<arrow::RecordBatch>& rows,
                                                     const RowMask& mask, arrow::MemoryPool* pool) {
  const auto kept = std::count(mask.begin(), mask.end(), uint8_t{1});
  if (static_cast<size_t>(kept) == mask.size()) return rows;
  if (kept == 0) return rows->Slice(0, 0);
  FIRN_ARROW_ASSIGN(auto buffer, arrow::AllocateBuffer(kept * int64_t{sizeof(int32_t)}, pool));
  auto* out = reinterpret_cast<int32_t*>(buffer->mutable_data());
  for (size_t i = 0; i < mask.size(); ++i) {
    if (mask[i] != 0) *out++ = static_cast<int32_t>(i);
  }
  const auto indices = std::make_shared<arrow::Int32Array>(kept, std::move(buffer));
  return Take(rows, indices, pool);
}

}  // namespace firn::iceberg
