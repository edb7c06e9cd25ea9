#include "firn/decode/parquet/arrow_cell.h"

#include <arrow/api.h>
#include <arrow/extension_type.h>
#include <arrow/util/float16.h>
#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "firn/base/bytes.h"
#include "firn/base/time.h"
#include "firn/decode/number.h"
#include "firn/decode/reasons.h"

namespace firn::decode {

using iceberg::TypeId;

namespace {

template <typename ArrayT>
auto ValueAt(const arrow::Array& array, int64_t row) {
  return static_cast<const ArrayT&>(array).Value(row);
}

CellOutcome Wrong(std::string_view reason, std::string_view expected) {
  return {.reason = reason, .expected = expected};
}

CellOutcome Mismatch(const Column& column) { return Wrong(reason::kTypeMismatch, ExpectedJson(column)); }

std::optional<std::string_view> BytesAt(const arrow::Array& array, int64_t row) {
  switch (array.type_id()) {
    case arrow::Type::STRING:
    case arrow::Type::BINARY:
      return static_cast<const arrow::BinaryArray&>(array).GetView(row);
    case arrow::Type::LARGE_STRING:
    case arrow::Type::LARGE_BINARY:
      return static_cast<const arrow::LargeBinaryArray&>(array).GetView(row);
    case arrow::Type::STRING_VIEW:
    case arrow::Type::BINARY_VIEW:
      return static_cast<const arrow::BinaryViewArray&>(array).GetView(row);
    case arrow::Type::FIXED_SIZE_BINARY:
      return static_cast<const arrow::FixedSizeBinaryArray&>(array).GetView(row);
    default:
      return std::nullopt;
  }
}

bool IsText(const arrow::Array& array) {
  return array.type_id() == arrow::Type::STRING || array.type_id() == arrow::Type::LARGE_STRING ||
         array.type_id() == arrow::Type::STRING_VIEW;
}

std::optional<double> FloatingAt(const arrow::Array& array, int64_t row) {
  switch (array.type_id()) {
    case arrow::Type::HALF_FLOAT:
      return static_cast<double>(
          arrow::util::Float16::FromBits(ValueAt<arrow::HalfFloatArray>(array, row)).ToFloat());
    case arrow::Type::FLOAT:
      return static_cast<double>(ValueAt<arrow::FloatArray>(array, row));
    case arrow::Type::DOUBLE:
      return ValueAt<arrow::DoubleArray>(array, row);
    default:
      return std::nullopt;
  }
}

/// The digits of a number that is no floating one; empty for other types.
std::string DigitsAt(const arrow::Array& array, int64_t row) {
  switch (array.type_id()) {
    case arrow::Type::INT8:
      return fmt::to_string(static_cast<int>(ValueAt<arrow::Int8Array>(array, row)));
    case arrow::Type::INT16:
      return fmt::to_string(ValueAt<arrow::Int16Array>(array, row));
    case arrow::Type::INT32:
      return fmt::to_string(ValueAt<arrow::Int32Array>(array, row));
    case arrow::Type::INT64:
      return fmt::to_string(ValueAt<arrow::Int64Array>(array, row));
    case arrow::Type::UINT8:
      return fmt::to_string(static_cast<int>(ValueAt<arrow::UInt8Array>(array, row)));
    case arrow::Type::UINT16:
      return fmt::to_string(ValueAt<arrow::UInt16Array>(array, row));
    case arrow::Type::UINT32:
      return fmt::to_string(ValueAt<arrow::UInt32Array>(array, row));
    case arrow::Type::UINT64:
      return fmt::to_string(ValueAt<arrow::UInt64Array>(array, row));
    case arrow::Type::DECIMAL32:
      return static_cast<const arrow::Decimal32Array&>(array).FormatValue(row);
    case arrow::Type::DECIMAL64:
      return static_cast<const arrow::Decimal64Array&>(array).FormatValue(row);
    case arrow::Type::DECIMAL128:
      return static_cast<const arrow::Decimal128Array&>(array).FormatValue(row);
    case arrow::Type::DECIMAL256:
      return static_cast<const arrow::Decimal256Array&>(array).FormatValue(row);
    default:
      return {};
  }
}

CellOutcome AppendFloating(Column& column, double value) {
  if (column.type_id() == TypeId::kDouble) {
    column.AppendFixed(value);
    return {};
  }
  if (column.type_id() == TypeId::kFloat) {
    const auto narrow = static_cast<float>(value);
    if (std::isinf(narrow) && !std::isinf(value))
      return {
          .reason = reason::kOutOfRange, .expected = "a number in the range of float", .fits_wider = true};
    column.AppendFixed(narrow);
    return {};
  }
  if (!std::isfinite(value)) return Wrong(reason::kOutOfRange, "a finite number");
  const std::string digits = fmt::format("{}", value);
  NumberText number;
  ScanNumber(reinterpret_cast<const uint8_t*>(digits.c_str()), &number);
  return AppendNumber(column, number, column.binding().epoch_digits);
}

CellOutcome AppendNumberCell(Column& column, const arrow::Array& array, int64_t row) {
  if (const auto floating = FloatingAt(array, row)) return AppendFloating(column, *floating);
  const std::string digits = DigitsAt(array, row);
  NumberText number;
  if (digits.empty() || !ScanNumber(reinterpret_cast<const uint8_t*>(digits.c_str()), &number))
    return Mismatch(column);
  return AppendNumber(column, number, column.binding().epoch_digits);
}

CellOutcome AppendBytesCell(Column& column, const arrow::Array& array, int64_t row) {
  const std::optional<std::string_view> bytes = BytesAt(array, row);
  if (!bytes) return Mismatch(column);
  if (IsText(array) && column.binding().bytes_encoding != BytesEncoding::kDefault)
    return AppendText(column, std::string(*bytes));
  const auto size = static_cast<int64_t>(bytes->size());
  switch (column.type_id()) {
    case TypeId::kString:
      if (!IsValidUtf8(*bytes)) return Wrong(reason::kInvalidUtf8, "UTF-8 text");
      column.AppendBytes(bytes->data(), size);
      return {};
    case TypeId::kBinary:
      column.AppendBytes(bytes->data(), size);
      return {};
    case TypeId::kUuid:
      if (IsText(array)) return AppendText(column, std::string(*bytes));
      if (size != 16) return Wrong(reason::kBadUuid, "the 16 bytes of a UUID");
      column.AppendFixedBytes(bytes->data(), size);
      return {};
    default:
      if (size != column.type().length())
        return Wrong(reason::kOutOfRange, "as many bytes as the column's type has");
      column.AppendFixedBytes(bytes->data(), size);
      return {};
  }
}

/// Units of 10^-digits of a second.
int DigitsOf(arrow::TimeUnit::type unit) {
  switch (unit) {
    case arrow::TimeUnit::SECOND:
      return 0;
    case arrow::TimeUnit::MILLI:
      return 3;
    case arrow::TimeUnit::MICRO:
      return 6;
    case arrow::TimeUnit::NANO:
      return 9;
  }
  return 0;
}

CellOutcome AppendScaled(Column& column, int64_t value, int from_digits, int to_digits) {
  Int128 scaled = value;
  for (; from_digits < to_digits; ++from_digits) scaled *= 10;
  for (; from_digits > to_digits; --from_digits) {
    if (scaled % 10 != 0) return Wrong(reason::kInexact, "no digits below the column's precision");
    scaled /= 10;
  }
  if (scaled < std::numeric_limits<int64_t>::min() || scaled > std::numeric_limits<int64_t>::max())
    return Wrong(reason::kOutOfRange, "a time that the column's type can hold");
  column.AppendFixed(static_cast<int64_t>(scaled));
  return {};
}

CellOutcome AppendTimestampCell(Column& column, const arrow::Array& array, int64_t row, bool is_int96) {
  const auto& type = static_cast<const arrow::TimestampType&>(*array.type());
  const TypeId id = column.type_id();
  const bool zoned = id == TypeId::kTimestampTz || id == TypeId::kTimestampTzNs;
  if (!is_int96 && zoned == type.timezone().empty()) {
    return Wrong(reason::kBadTimestamp,
                 zoned ? "an instant (adjusted to UTC); a column for local timestamps is timestamp"
                       : "a local timestamp (not adjusted to UTC); a column for instants is timestamptz");
  }
  const bool nanos = id == TypeId::kTimestampNs || id == TypeId::kTimestampTzNs;
  return AppendScaled(column, ValueAt<arrow::TimestampArray>(array, row), DigitsOf(type.unit()),
                      nanos ? 9 : 6);
}

CellOutcome AppendTimeCell(Column& column, const arrow::Array& array, int64_t row) {
  const auto unit = static_cast<const arrow::TimeType&>(*array.type()).unit();
  const int64_t value = array.type_id() == arrow::Type::TIME32
                            ? int64_t{ValueAt<arrow::Time32Array>(array, row)}
                            : ValueAt<arrow::Time64Array>(array, row);
  return AppendScaled(column, value, DigitsOf(unit), 6);
}

CellOutcome AppendDateCell(Column& column, const arrow::Array& array, int64_t row) {
  if (array.type_id() == arrow::Type::DATE32) {
    column.AppendFixed(ValueAt<arrow::Date32Array>(array, row));
    return {};
  }
  constexpr int64_t kMsPerDay = kSecondsPerDay * 1000;
  const int64_t ms = ValueAt<arrow::Date64Array>(array, row);
  if (ms % kMsPerDay != 0) return Wrong(reason::kInexact, "midnight UTC of a day");
  const int64_t days = ms / kMsPerDay;
  if (days < std::numeric_limits<int32_t>::min() || days > std::numeric_limits<int32_t>::max())
    return Wrong(reason::kOutOfRange, "a date that the column's type can hold");
  column.AppendFixed(static_cast<int32_t>(days));
  return {};
}

CellOutcome AppendTemporal(Column& column, const arrow::Array& array, int64_t row, bool is_int96) {
  const arrow::Type::type stored = array.type_id();
  const TypeId id = column.type_id();
  if (id == TypeId::kDate && (stored == arrow::Type::DATE32 || stored == arrow::Type::DATE64))
    return AppendDateCell(column, array, row);
  if (id == TypeId::kTime && (stored == arrow::Type::TIME32 || stored == arrow::Type::TIME64))
    return AppendTimeCell(column, array, row);
  const bool is_timestamp = id != TypeId::kDate && id != TypeId::kTime;
  if (is_timestamp && stored == arrow::Type::TIMESTAMP)
    return AppendTimestampCell(column, array, row, is_int96);
  if (IsText(array)) return AppendText(column, std::string(*BytesAt(array, row)));
  return AppendNumberCell(column, array, row);
}

}  // namespace

CellOutcome AppendArrowCell(Column& column, const arrow::Array& array, int64_t row, bool is_int96) {
  if (array.type_id() == arrow::Type::EXTENSION) {
    return AppendArrowCell(column, *static_cast<const arrow::ExtensionArray&>(array).storage(), row,
                           is_int96);
  }
  if (array.type_id() == arrow::Type::DICTIONARY) {
    const auto& dictionary = static_cast<const arrow::DictionaryArray&>(array);
    const int64_t index = dictionary.GetValueIndex(row);
    if (!dictionary.dictionary()->IsNull(index))
      return AppendArrowCell(column, *dictionary.dictionary(), index, is_int96);
    if (column.required()) return Wrong(reason::kNullRequired, "a value, as the column is required,");
    column.AppendNull();
    return {};
  }
  switch (column.type_id()) {
    case TypeId::kBoolean:
      if (array.type_id() != arrow::Type::BOOL) return Mismatch(column);
      column.AppendFixed(static_cast<uint8_t>(ValueAt<arrow::BooleanArray>(array, row)));
      return {};
    case TypeId::kString:
    case TypeId::kBinary:
    case TypeId::kUuid:
    case TypeId::kFixed:
      return AppendBytesCell(column, array, row);
    case TypeId::kDate:
    case TypeId::kTime:
    case TypeId::kTimestamp:
    case TypeId::kTimestampTz:
    case TypeId::kTimestampNs:
    case TypeId::kTimestampTzNs:
      return AppendTemporal(column, array, row, is_int96);
    case TypeId::kDecimal:
      if (IsText(array)) return AppendText(column, std::string(*BytesAt(array, row)));
      return AppendNumberCell(column, array, row);
    case TypeId::kInt:
    case TypeId::kLong:
    case TypeId::kFloat:
    case TypeId::kDouble:
      return AppendNumberCell(column, array, row);
    default:
      return Mismatch(column);
  }
}

}  // namespace firn::decode
