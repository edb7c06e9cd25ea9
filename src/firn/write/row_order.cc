#include "firn/write/row_order.h"

#include <arrow/array.h>
#include <arrow/buffer.h>
#include <arrow/record_batch.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <string_view>
#include <utility>
#include <variant>

#include "firn/iceberg/scan/arrow_error.h"
#include "firn/iceberg/scan/arrow_literal.h"
#include "firn/iceberg/scan/take.h"

namespace firn::write {

namespace {

/// One sort column with every value mapped so that plain comparison gives the format's ascending order.
struct SortKey {
  std::variant<std::vector<int64_t>, std::vector<Int128>, std::vector<std::string_view>> values;
  std::vector<uint8_t> ranks;  ///< order of null against value: 0 < 1 < 2; empty when there are no nulls
  bool descending = false;
  std::shared_ptr<arrow::Array> owner;  ///< what the views point into
};

/// Bits of a float as an integer that sorts -NaN < -Inf < .. < -0 < 0 < .. < Inf < NaN.
template <typename Float, typename Bits>
int64_t OrderedFloat(Float value) {
  const Bits bits = std::bit_cast<Bits>(value);
  return bits < 0 ? static_cast<Bits>(bits ^ std::numeric_limits<Bits>::max()) : bits;
}

template <typename Value, typename At>
std::vector<Value> Collect(const arrow::Array& column, At at) {
  std::vector<Value> values(static_cast<size_t>(column.length()));
  for (size_t i = 0; i < values.size(); ++i) values[i] = at(static_cast<int64_t>(i));
  return values;
}

template <typename BinaryArray>
std::vector<std::string_view> Views(const arrow::Array& column) {
  const auto& binary = static_cast<const BinaryArray&>(column);
  return Collect<std::string_view>(column,
                                   [&](int64_t row) { return std::string_view(binary.GetView(row)); });
}

void SetValues(const arrow::Array& column, SortKey& key) {
  switch (column.type_id()) {
    case arrow::Type::BOOL: {
      const auto& booleans = static_cast<const arrow::BooleanArray&>(column);
      key.values = Collect<int64_t>(column, [&](int64_t row) { return int64_t{booleans.Value(row)}; });
      return;
    }
    case arrow::Type::INT32:
    case arrow::Type::DATE32: {
      const auto* raw = column.data()->GetValues<int32_t>(1);
      key.values = Collect<int64_t>(column, [=](int64_t row) { return int64_t{raw[row]}; });
      return;
    }
    case arrow::Type::FLOAT: {
      const auto* raw = column.data()->GetValues<float>(1);
      key.values =
          Collect<int64_t>(column, [=](int64_t row) { return OrderedFloat<float, int32_t>(raw[row]); });
      return;
    }
    case arrow::Type::DOUBLE: {
      const auto* raw = column.data()->GetValues<double>(1);
      key.values =
          Collect<int64_t>(column, [=](int64_t row) { return OrderedFloat<double, int64_t>(raw[row]); });
      return;
    }
    case arrow::Type::DECIMAL128: {
      const auto* raw = static_cast<const arrow::FixedSizeBinaryArray&>(column).raw_values();
      key.values = Collect<Int128>(column, [=](int64_t row) { return iceberg::DecimalAt(raw, row); });
      return;
    }
    case arrow::Type::STRING:
    case arrow::Type::BINARY:
      key.values = Views<arrow::BinaryArray>(column);
      return;
    case arrow::Type::FIXED_SIZE_BINARY:
      key.values = Views<arrow::FixedSizeBinaryArray>(column);
      return;
    case arrow::Type::NA:
      key.values = std::vector<int64_t>(static_cast<size_t>(column.length()), 0);
      return;
    default: {
      const auto* raw = column.data()->GetValues<int64_t>(1);
      key.values = Collect<int64_t>(column, [=](int64_t row) { return raw[row]; });
      return;
    }
  }
}

SortKey MakeKey(std::shared_ptr<arrow::Array> column, iceberg::SortDirection direction,
                iceberg::NullOrder nulls) {
  SortKey key;
  key.descending = direction == iceberg::SortDirection::kDesc;
  SetValues(*column, key);
  if (column->null_count() > 0) {
    const uint8_t null_rank = nulls == iceberg::NullOrder::kFirst ? 0 : 2;
    key.ranks.assign(static_cast<size_t>(column->length()), 1);
    for (size_t i = 0; i < key.ranks.size(); ++i) {
      if (column->IsNull(static_cast<int64_t>(i))) key.ranks[i] = null_rank;
    }
  }
  key.owner = std::move(column);
  return key;
}

template <typename Value>
int CompareValues(const std::vector<Value>& values, size_t a, size_t b) {
  if (values[a] < values[b]) return -1;
  return values[b] < values[a] ? 1 : 0;
}

int Compare(const SortKey& key, size_t a, size_t b) {
  if (!key.ranks.empty() && (key.ranks[a] != 1 || key.ranks[b] != 1)) {
    return static_cast<int>(key.ranks[a]) - static_cast<int>(key.ranks[b]);
  }
  const int order = std::visit([&](const auto& values) { return CompareValues(values, a, b); }, key.values);
  return key.descending ? -order : order;
}

struct KeyLess {
  const std::vector<SortKey>& keys;
  bool operator()(int32_t a, int32_t b) const {
    for (const SortKey& key : keys) {
      const int order = Compare(key, static_cast<size_t>(a), static_cast<size_t>(b));
      if (order != 0) return order < 0;
    }
    return false;
  }
};

}  // namespace

Result<RowOrder> RowOrder::Make(const iceberg::SortOrder& order, const iceberg::Schema& schema) {
  RowOrder result;
  for (const iceberg::SortField& field : order.fields) {
    FIRN_ASSIGN_CTX(auto kernel, TransformKernel::Make(field.transform, field.source_id, schema),
                    "sort order");
    result.fields_.push_back({std::move(kernel), field.direction, field.null_order});
  }
  return result;
}

Result<std::shared_ptr<arrow::Array>> RowOrder::Indices(const arrow::RecordBatch& rows,
                                                        arrow::MemoryPool* pool) const {
  std::vector<SortKey> keys;
  for (const Field& field : fields_) {
    FIRN_ASSIGN(auto column, field.kernel.Apply(rows, pool));
    keys.push_back(MakeKey(std::move(column), field.direction, field.null_order));
  }
  FIRN_ARROW_ASSIGN(auto buffer, arrow::AllocateBuffer(rows.num_rows() * int64_t{sizeof(int32_t)}, pool));
  auto* begin = reinterpret_cast<int32_t*>(buffer->mutable_data());
  std::iota(begin, begin + rows.num_rows(), 0);
  const KeyLess less{keys};
  if (!std::is_sorted(begin, begin + rows.num_rows(), less))
    std::stable_sort(begin, begin + rows.num_rows(), less);
  return std::make_shared<arrow::Int32Array>(rows.num_rows(), std::move(buffer));
}

Result<std::shared_ptr<arrow::RecordBatch>> RowOrder::Sort(const std::shared_ptr<arrow::RecordBatch>& rows,
                                                           arrow::MemoryPool* pool) const {
  FIRN_ASSIGN(const auto indices, Indices(*rows, pool));
  const auto* raw = static_cast<const arrow::Int32Array&>(*indices).raw_values();
  if (std::is_sorted(raw, raw + rows->num_rows())) return rows;
  return iceberg::Take(rows, indices, pool);
}

}  // namespace firn::write
