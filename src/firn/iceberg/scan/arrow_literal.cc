#include "firn/iceberg/scan/arrow_literal.h"

#include <arrow/array.h>
#include <arrow/array/util.h>
#include <arrow/scalar.h>
#include <arrow/type.h>

#include <cstring>
#include <string>
#include <utility>

#include "firn/base/check.h"
#include "firn/iceberg/scan/arrow_error.h"
#include "firn/iceberg/scan/arrow_schema.h"

namespace firn::iceberg {

namespace {

template <typename T>
T ValueAt(const arrow::Array& array, int64_t row) {
  return array.data()->GetValues<T>(1)[row];
}

std::string BytesAt(const arrow::Array& array, int64_t row) {
  if (array.type_id() == arrow::Type::FIXED_SIZE_BINARY) {
    return std::string(static_cast<const arrow::FixedSizeBinaryArray&>(array).GetView(row));
  }
  return std::string(static_cast<const arrow::BinaryArray&>(array).GetView(row));
}

Literal::Storage StorageAt(const arrow::Array& array, int64_t row, TypeId type) {
  switch (type) {
    case TypeId::kBoolean:
      return static_cast<const arrow::BooleanArray&>(array).Value(row);
    case TypeId::kInt:
    case TypeId::kDate:
      return ValueAt<int32_t>(array, row);
    case TypeId::kFloat:
      return ValueAt<float>(array, row);
    case TypeId::kDouble:
      return ValueAt<double>(array, row);
    case TypeId::kDecimal:
      return DecimalAt(static_cast<const arrow::FixedSizeBinaryArray&>(array).raw_values(), row);
    case TypeId::kString:
    case TypeId::kBinary:
    case TypeId::kUuid:
    case TypeId::kFixed:
      return BytesAt(array, row);
    default:
      return ValueAt<int64_t>(array, row);
  }
}

std::shared_ptr<arrow::Buffer> BytesOf(const Literal& literal) {
  return arrow::Buffer::FromString(literal.get<std::string>());
}

std::shared_ptr<arrow::Scalar> DecimalScalar(const Literal& literal, std::shared_ptr<arrow::DataType> type) {
  const auto value = literal.get<Int128>();
  const arrow::Decimal128 decimal(static_cast<int64_t>(value >> 64), static_cast<uint64_t>(value));
  return std::make_shared<arrow::Decimal128Scalar>(decimal, std::move(type));
}

std::shared_ptr<arrow::Scalar> ScalarOf(const Literal& literal,
                                        const std::shared_ptr<arrow::DataType>& type) {
  switch (literal.type()->id()) {
    case TypeId::kBoolean:
      return std::make_shared<arrow::BooleanScalar>(literal.get<bool>());
    case TypeId::kInt:
      return std::make_shared<arrow::Int32Scalar>(literal.get<int32_t>());
    case TypeId::kDate:
      return std::make_shared<arrow::Date32Scalar>(literal.get<int32_t>());
    case TypeId::kLong:
      return std::make_shared<arrow::Int64Scalar>(literal.get<int64_t>());
    case TypeId::kFloat:
      return std::make_shared<arrow::FloatScalar>(literal.get<float>());
    case TypeId::kDouble:
      return std::make_shared<arrow::DoubleScalar>(literal.get<double>());
    case TypeId::kDecimal:
      return DecimalScalar(literal, type);
    case TypeId::kTime:
      return std::make_shared<arrow::Time64Scalar>(literal.get<int64_t>(), type);
    case TypeId::kTimestamp:
    case TypeId::kTimestampTz:
    case TypeId::kTimestampNs:
    case TypeId::kTimestampTzNs:
      return std::make_shared<arrow::TimestampScalar>(literal.get<int64_t>(), type);
    case TypeId::kString:
      return std::make_shared<arrow::StringScalar>(BytesOf(literal));
    case TypeId::kBinary:
      return std::make_shared<arrow::BinaryScalar>(BytesOf(literal));
    default:
      return std::make_shared<arrow::FixedSizeBinaryScalar>(BytesOf(literal), type);
  }
}

}  // namespace

Int128 DecimalAt(const uint8_t* values, int64_t row) {
  Int128 value;
  std::memcpy(&value, values + row * 16, 16);  // Arrow and we are little-endian
  return value;
}

Literal LiteralAt(const arrow::Array& array, int64_t row, const TypePtr& type) {
  if (array.IsNull(row)) return Literal::Null(type);
  return {type, StorageAt(array, row, type->id())};
}

Result<std::shared_ptr<arrow::Array>> ConstantArray(const Literal& literal, int64_t length,
                                                    arrow::MemoryPool* pool) {
  FIRN_ASSIGN(auto type, ToArrowType(*literal.type()));
  if (literal.is_null()) {
    FIRN_ARROW_ASSIGN(auto nulls, arrow::MakeArrayOfNull(type, length, pool));
    return nulls;
  }
  FIRN_ARROW_ASSIGN(auto array, arrow::MakeArrayFromScalar(*ScalarOf(literal, type), length, pool));
  return array;
}

}  // namespace firn::iceberg
