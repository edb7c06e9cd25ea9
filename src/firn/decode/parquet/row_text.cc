#include "firn/decode/parquet/row_text.h"

#include <arrow/api.h>
#include <arrow/extension_type.h>
#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "firn/base/bytes.h"
#include "firn/base/time.h"

namespace firn::decode {

namespace {

using Json = nlohmann::ordered_json;

Json TextOf(const arrow::Array& array, int64_t row) {
  const auto scalar = array.GetScalar(row);
  return scalar.ok() ? (*scalar)->ToString() : std::string("?");
}

Json Bytes(std::string_view bytes, bool is_text) {
  return is_text && IsValidUtf8(bytes) ? std::string(bytes) : Base64Encode(bytes);
}

Json Floating(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "Infinity" : "-Infinity";
  return value;
}

Json StructToJson(const arrow::StructArray& array, int64_t row) {
  Json object = Json::object();
  for (int i = 0; i < array.num_fields(); ++i)
    object[array.type()->field(i)->name()] = CellToJson(*array.field(i), row);
  return object;
}

template <typename List>
Json ListToJson(const List& list, int64_t row) {
  Json values = Json::array();
  for (int64_t i = list.value_offset(row); i < list.value_offset(row + 1); ++i)
    values.push_back(CellToJson(*list.values(), i));
  return values;
}

Json MapToJson(const arrow::MapArray& map, int64_t row) {
  Json entries = Json::array();
  for (int64_t i = map.value_offset(row); i < map.value_offset(row + 1); ++i)
    entries.push_back(Json::array({CellToJson(*map.keys(), i), CellToJson(*map.items(), i)}));
  return entries;
}

Json TimestampToJson(const arrow::TimestampArray& array, int64_t row) {
  const auto& type = static_cast<const arrow::TimestampType&>(*array.type());
  const ZoneSuffix suffix = type.timezone().empty() ? ZoneSuffix::kNone : ZoneSuffix::kZ;
  if (type.unit() == arrow::TimeUnit::MICRO) return FormatTimestampMicros(array.Value(row), suffix);
  if (type.unit() == arrow::TimeUnit::NANO) return FormatTimestampNanos(array.Value(row), suffix);
  return TextOf(array, row);
}

template <typename ArrayT>
auto ValueAt(const arrow::Array& array, int64_t row) {
  return static_cast<const ArrayT&>(array).Value(row);
}

}  // namespace

Json CellToJson(const arrow::Array& array, int64_t row) {
  if (array.IsNull(row)) return nullptr;
  switch (array.type_id()) {
    case arrow::Type::BOOL:
      return ValueAt<arrow::BooleanArray>(array, row);
    case arrow::Type::INT8:
      return ValueAt<arrow::Int8Array>(array, row);
    case arrow::Type::INT16:
      return ValueAt<arrow::Int16Array>(array, row);
    case arrow::Type::INT32:
      return ValueAt<arrow::Int32Array>(array, row);
    case arrow::Type::INT64:
      return ValueAt<arrow::Int64Array>(array, row);
    case arrow::Type::UINT8:
      return ValueAt<arrow::UInt8Array>(array, row);
    case arrow::Type::UINT16:
      return ValueAt<arrow::UInt16Array>(array, row);
    case arrow::Type::UINT32:
      return ValueAt<arrow::UInt32Array>(array, row);
    case arrow::Type::UINT64:
      return ValueAt<arrow::UInt64Array>(array, row);
    case arrow::Type::FLOAT:
      return Floating(static_cast<double>(ValueAt<arrow::FloatArray>(array, row)));
    case arrow::Type::DOUBLE:
      return Floating(ValueAt<arrow::DoubleArray>(array, row));
    case arrow::Type::STRING:
      return Bytes(static_cast<const arrow::StringArray&>(array).GetView(row), true);
    case arrow::Type::LARGE_STRING:
      return Bytes(static_cast<const arrow::LargeStringArray&>(array).GetView(row), true);
    case arrow::Type::BINARY:
      return Bytes(static_cast<const arrow::BinaryArray&>(array).GetView(row), false);
    case arrow::Type::LARGE_BINARY:
      return Bytes(static_cast<const arrow::LargeBinaryArray&>(array).GetView(row), false);
    case arrow::Type::FIXED_SIZE_BINARY:
      return Bytes(static_cast<const arrow::FixedSizeBinaryArray&>(array).GetView(row), false);
    case arrow::Type::DATE32:
      return FormatDate(ValueAt<arrow::Date32Array>(array, row));
    case arrow::Type::TIMESTAMP:
      return TimestampToJson(static_cast<const arrow::TimestampArray&>(array), row);
    case arrow::Type::STRUCT:
      return StructToJson(static_cast<const arrow::StructArray&>(array), row);
    case arrow::Type::LIST:
      return ListToJson(static_cast<const arrow::ListArray&>(array), row);
    case arrow::Type::LARGE_LIST:
      return ListToJson(static_cast<const arrow::LargeListArray&>(array), row);
    case arrow::Type::MAP:
      return MapToJson(static_cast<const arrow::MapArray&>(array), row);
    case arrow::Type::DICTIONARY: {
      const auto& dictionary = static_cast<const arrow::DictionaryArray&>(array);
      return CellToJson(*dictionary.dictionary(), dictionary.GetValueIndex(row));
    }
    case arrow::Type::EXTENSION:
      return CellToJson(*static_cast<const arrow::ExtensionArray&>(array).storage(), row);
    default:
      return TextOf(array, row);
  }
}

std::string RowToJson(const arrow::RecordBatch& rows, int64_t row) {
  Json object = Json::object();
  for (int i = 0; i < rows.num_columns(); ++i) object[rows.column_name(i)] = CellToJson(*rows.column(i), row);
  return object.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace firn::decode
