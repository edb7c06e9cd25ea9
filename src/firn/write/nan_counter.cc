#include "firn/write/nan_counter.h"

#include <arrow/array.h>
#include <arrow/record_batch.h>

#include <cmath>
#include <utility>

#include "firn/iceberg/scan/arrow_error.h"

namespace firn::write {

namespace {

using iceberg::NestedField;
using iceberg::Type;
using iceberg::TypeId;

bool IsFloat(const Type& type) { return type.id() == TypeId::kFloat || type.id() == TypeId::kDouble; }

bool HoldsFloat(const Type& type) {
  if (IsFloat(type)) return true;
  for (const NestedField& child : type.fields()) {
    if (HoldsFloat(*child.type)) return true;
  }
  return false;
}

template <typename Float>
int64_t CountNans(const arrow::Array& column) {
  const auto* values = column.data()->GetValues<Float>(1);
  int64_t nans = 0;
  for (int64_t i = 0; i < column.length(); ++i) nans += static_cast<int64_t>(std::isnan(values[i]));
  if (nans == 0 || column.null_count() == 0) return nans;
  for (int64_t i = 0; i < column.length(); ++i) {  // what lies under a null is no value
    if (std::isnan(values[i]) && column.IsNull(i)) --nans;
  }
  return nans;
}

}  // namespace

NanCounter::NanCounter(iceberg::SchemaPtr schema, arrow::MemoryPool* pool)
    : schema_(std::move(schema)), pool_(pool) {
  iceberg::VisitFields(*schema_->as_struct(), [this](const NestedField& field) {
    if (IsFloat(*field.type)) counts_[field.id] = 0;
  });
  for (size_t i = 0; i < schema_->fields().size(); ++i) {
    if (HoldsFloat(*schema_->fields()[i].type)) columns_.push_back(static_cast<int>(i));
  }
}

Status NanCounter::Add(const arrow::RecordBatch& rows) {
  for (const int column : columns_) {
    FIRN_TRY(AddColumn(schema_->fields()[static_cast<size_t>(column)], rows.column(column)));
  }
  return Ok();
}

Status NanCounter::AddColumn(const NestedField& field, const ArrayPtr& column) {
  switch (field.type->id()) {
    case TypeId::kFloat:
      counts_[field.id] += CountNans<float>(*column);
      return Ok();
    case TypeId::kDouble:
      counts_[field.id] += CountNans<double>(*column);
      return Ok();
    case TypeId::kStruct:
      return AddStruct(*field.type, column);
    case TypeId::kList:
      return AddList(*field.type, column);
    case TypeId::kMap:
      return AddMap(*field.type, column);
    default:
      return Ok();
  }
}

Status NanCounter::AddStruct(const Type& type, const ArrayPtr& column) {
  const auto& array = static_cast<const arrow::StructArray&>(*column);
  for (size_t i = 0; i < type.fields().size(); ++i) {
    if (!HoldsFloat(*type.fields()[i].type)) continue;
    FIRN_ARROW_ASSIGN(const ArrayPtr child, array.GetFlattenedField(static_cast<int>(i), pool_));
    FIRN_TRY(AddColumn(type.fields()[i], child));
  }
  return Ok();
}

Status NanCounter::AddList(const Type& type, const ArrayPtr& column) {
  FIRN_ARROW_ASSIGN(const ArrayPtr elements, static_cast<const arrow::ListArray&>(*column).Flatten(pool_));
  return AddColumn(type.element(), elements);
}

Status NanCounter::AddMap(const Type& type, const ArrayPtr& column) {
  FIRN_ARROW_ASSIGN(const ArrayPtr entries, static_cast<const arrow::MapArray&>(*column).Flatten(pool_));
  const auto& pairs = static_cast<const arrow::StructArray&>(*entries);
  for (int i = 0; i < 2; ++i) {
    FIRN_ARROW_ASSIGN(const ArrayPtr child, pairs.GetFlattenedField(i, pool_));
    FIRN_TRY(AddColumn(type.fields()[static_cast<size_t>(i)], child));
  }
  return Ok();
}

}  // namespace firn::write
