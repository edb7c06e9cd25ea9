#include "firn/write/partition_router.h"

#include <arrow/array.h>
#include <arrow/buffer.h>
#include <arrow/record_batch.h>

#include <bit>
#include <cmath>
#include <limits>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "firn/iceberg/scan/arrow_error.h"
#include "firn/iceberg/scan/arrow_literal.h"
#include "firn/iceberg/scan/take.h"
#include "firn/write/dense_ids.h"
#include "firn/write/row_order.h"

namespace firn::write {

namespace {

using ArrayPtr = std::shared_ptr<arrow::Array>;

/// Bits that are equal exactly where the format calls two floats the same partition: one NaN, two zeros.
template <typename Float, typename Bits>
uint64_t FloatKey(Float value) {
  return std::bit_cast<Bits>(std::isnan(value) ? std::numeric_limits<Float>::quiet_NaN() : value);
}

}  // namespace

/// Distinct values of one partition field and their ids; 0 is null.
class PartitionRouter::ValueIds {
 public:
  explicit ValueIds(iceberg::TypePtr type) : type_(std::move(type)) { Clear(); }

  void Clear() {
    literals_.assign(1, iceberg::Literal::Null(type_));
    numbers_.Clear();
    bytes_.clear();
  }
  const iceberg::Literal& literal(uint32_t id) const { return literals_[id]; }

  /// Writes the id of each row of `column` to `ids`.
  void Assign(const arrow::Array& column, std::vector<uint32_t>& ids) {
    switch (column.type_id()) {
      case arrow::Type::NA:
        ids.assign(ids.size(), 0);
        return;
      case arrow::Type::BOOL:
        return AssignNumbers(column, ids, [&](int64_t row) {
          return static_cast<uint64_t>(static_cast<const arrow::BooleanArray&>(column).Value(row));
        });
      case arrow::Type::INT32:
      case arrow::Type::DATE32: {
        const auto* values = column.data()->GetValues<uint32_t>(1);
        return AssignNumbers(column, ids, [=](int64_t row) { return uint64_t{values[row]}; });
      }
      case arrow::Type::FLOAT: {
        const auto* values = column.data()->GetValues<float>(1);
        return AssignNumbers(column, ids,
                             [=](int64_t row) { return FloatKey<float, uint32_t>(values[row]); });
      }
      case arrow::Type::DOUBLE: {
        const auto* values = column.data()->GetValues<double>(1);
        return AssignNumbers(column, ids,
                             [=](int64_t row) { return FloatKey<double, uint64_t>(values[row]); });
      }
      case arrow::Type::STRING:
      case arrow::Type::BINARY:
        return AssignBytes(static_cast<const arrow::BinaryArray&>(column), ids);
      case arrow::Type::FIXED_SIZE_BINARY:
      case arrow::Type::DECIMAL128:
        return AssignBytes(static_cast<const arrow::FixedSizeBinaryArray&>(column), ids);
      default: {
        const auto* values = column.data()->GetValues<uint64_t>(1);
        return AssignNumbers(column, ids, [=](int64_t row) { return values[row]; });
      }
    }
  }

 private:
  template <typename KeyAt>
  void AssignNumbers(const arrow::Array& column, std::vector<uint32_t>& ids, KeyAt key_at) {
    const bool nullable = column.null_count() > 0;
    uint64_t last_key = 0;
    uint32_t last_id = 0;  // 0: none yet
    for (int64_t row = 0; row < column.length(); ++row) {
      if (nullable && column.IsNull(row)) {
        ids[static_cast<size_t>(row)] = 0;
        continue;
      }
      const uint64_t key = key_at(row);
      if (last_id == 0 || key != last_key) {
        last_key = key;
        last_id = numbers_.IdOf(key) + 1;
        if (last_id == literals_.size()) literals_.push_back(iceberg::LiteralAt(column, row, type_));
      }
      ids[static_cast<size_t>(row)] = last_id;
    }
  }

  template <typename BinaryArray>
  void AssignBytes(const BinaryArray& column, std::vector<uint32_t>& ids) {
    const bool nullable = column.null_count() > 0;
    std::string_view last;
    uint32_t last_id = 0;
    for (int64_t row = 0; row < column.length(); ++row) {
      if (nullable && column.IsNull(row)) {
        ids[static_cast<size_t>(row)] = 0;
        continue;
      }
      const std::string_view value = column.GetView(row);
      if (last_id == 0 || value != last) {
        last = value;
        last_id = BytesId(value, column, row);
      }
      ids[static_cast<size_t>(row)] = last_id;
    }
  }

  uint32_t BytesId(std::string_view value, const arrow::Array& column, int64_t row) {
    const auto found = bytes_.find(value);
    if (found != bytes_.end()) return found->second;
    const auto id = static_cast<uint32_t>(literals_.size());
    bytes_.emplace(std::string(value), id);
    literals_.push_back(iceberg::LiteralAt(column, row, type_));
    return id;
  }

  struct BytesHash {
    using is_transparent = void;
    size_t operator()(std::string_view value) const { return std::hash<std::string_view>()(value); }
  };

  iceberg::TypePtr type_;
  std::vector<iceberg::Literal> literals_;
  DenseIds numbers_;
  std::unordered_map<std::string, uint32_t, BytesHash, std::equal_to<>> bytes_;
};

class PartitionRouter::PairIds {
 public:
  /// left[i] becomes the id of (left[i], right[i]).
  void Combine(std::vector<uint32_t>& left, const std::vector<uint32_t>& right) {
    uint64_t last_key = 0;
    uint32_t last_id = UINT32_MAX;
    for (size_t i = 0; i < left.size(); ++i) {
      const uint64_t key = uint64_t{left[i]} << 32U | right[i];
      if (last_id == UINT32_MAX || key != last_key) {
        last_key = key;
        last_id = ids_.IdOf(key);
      }
      left[i] = last_id;
    }
  }
  uint32_t left(uint32_t id) const { return static_cast<uint32_t>(ids_.key(id) >> 32U); }
  uint32_t right(uint32_t id) const { return static_cast<uint32_t>(ids_.key(id)); }
  size_t size() const { return ids_.size(); }
  void Clear() { ids_.Clear(); }

 private:
  DenseIds ids_;
};

PartitionRouter::PartitionRouter() = default;
PartitionRouter::~PartitionRouter() = default;
PartitionRouter::PartitionRouter(PartitionRouter&&) noexcept = default;
PartitionRouter& PartitionRouter::operator=(PartitionRouter&&) noexcept = default;

Result<PartitionRouter> PartitionRouter::Make(const iceberg::PartitionSpec& spec,
                                              const iceberg::Schema& schema) {
  PartitionRouter router;
  for (const iceberg::PartitionField& field : spec.fields) {
    FIRN_ASSIGN_CTX(auto kernel, TransformKernel::Make(field.transform, field.source_id, schema),
                    "partition field '" + field.name + "'");
    if (kernel.result_type()->id() == iceberg::TypeId::kFixed &&
        field.transform.kind() != iceberg::TransformKind::kVoid) {
      return Error(ErrorKind::kUnsupported, "partition field '" + field.name + "' holds values of type " +
                                                kernel.result_type()->ToString() +
                                                ", which engines encode in different ways")
          .WithRemedy("Partition by bucket(N, column) instead.");
    }
    router.values_.push_back(std::make_unique<ValueIds>(kernel.result_type()));
    router.pairs_.push_back(std::make_unique<PairIds>());
    router.kernels_.push_back(std::move(kernel));
  }
  return router;
}

void PartitionRouter::Clear() {
  for (auto& values : values_) values->Clear();
  for (auto& pairs : pairs_) pairs->Clear();
  partitions_.clear();
  counts_.clear();
}

Status PartitionRouter::AssignIds(const arrow::RecordBatch& rows, arrow::MemoryPool* pool) {
  const auto length = static_cast<size_t>(rows.num_rows());
  ids_.assign(length, 0);
  std::vector<uint32_t> field_ids(length);
  for (size_t i = 0; i < kernels_.size(); ++i) {
    FIRN_ASSIGN(const ArrayPtr column, kernels_[i].Apply(rows, pool));
    values_[i]->Assign(*column, field_ids);
    pairs_[i]->Combine(ids_, field_ids);
  }
  AddNewPartitions();
  return Ok();
}

void PartitionRouter::AddNewPartitions() {
  const size_t known = pairs_.empty() ? 1 : pairs_.back()->size();
  for (size_t id = partitions_.size(); id < known; ++id) {
    std::vector<iceberg::Literal> reversed;
    auto tuple = static_cast<uint32_t>(id);
    for (size_t field = pairs_.size(); field-- > 0;) {
      reversed.push_back(values_[field]->literal(pairs_[field]->right(tuple)));
      tuple = pairs_[field]->left(tuple);
    }
    partitions_.push_back({{reversed.rbegin(), reversed.rend()}});
  }
  counts_.resize(partitions_.size(), 0);
}

std::vector<Segment> PartitionRouter::CountSegments() {
  std::vector<Segment> segments;
  for (const uint32_t id : ids_) {
    if (counts_[id]++ == 0) segments.push_back({.partition = id});
  }
  int64_t begin = 0;
  for (Segment& segment : segments) {
    segment.begin = begin;
    segment.length = counts_[segment.partition];
    begin += segment.length;
  }
  return segments;
}

bool PartitionRouter::IsGrouped(size_t partitions) const {
  size_t runs = 1;
  for (size_t i = 1; i < ids_.size(); ++i) runs += static_cast<size_t>(ids_[i] != ids_[i - 1]);
  return runs == partitions;
}

Result<std::shared_ptr<arrow::RecordBatch>> PartitionRouter::Reorder(
    const std::shared_ptr<arrow::RecordBatch>& rows, const std::vector<Segment>& segments,
    arrow::MemoryPool* pool) {
  for (const Segment& segment : segments) counts_[segment.partition] = segment.begin;  // next free place
  FIRN_ARROW_ASSIGN(auto buffer, arrow::AllocateBuffer(rows->num_rows() * int64_t{sizeof(int32_t)}, pool));
  auto* order = reinterpret_cast<int32_t*>(buffer->mutable_data());
  for (size_t row = 0; row < ids_.size(); ++row) order[counts_[ids_[row]]++] = static_cast<int32_t>(row);
  const auto indices = std::make_shared<arrow::Int32Array>(rows->num_rows(), std::move(buffer));
  return iceberg::Take(rows, indices, pool);
}

Result<RoutedBatch> PartitionRouter::Route(const std::shared_ptr<arrow::RecordBatch>& rows,
                                           arrow::MemoryPool* pool) {
  if (kernels_.empty()) {
    AddNewPartitions();
    return RoutedBatch{.rows = rows, .segments = {{.partition = 0, .begin = 0, .length = rows->num_rows()}}};
  }
  FIRN_TRY(AssignIds(*rows, pool));
  RoutedBatch routed{.rows = rows, .segments = CountSegments()};
  Result<std::shared_ptr<arrow::RecordBatch>> ordered = rows;
  if (!IsGrouped(routed.segments.size())) ordered = Reorder(rows, routed.segments, pool);
  for (const Segment& segment : routed.segments) counts_[segment.partition] = 0;
  FIRN_ASSIGN(routed.rows, std::move(ordered));
  return routed;
}

}  // namespace firn::write
