#include "firn/iceberg/scan/row_json.h"

#include <arrow/api.h>
#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "firn/base/bytes.h"
#include "firn/base/time.h"

namespace firn::iceberg {

namespace {

using Json = nlohmann::ordered_json;

Json ToJson(const arrow::Array& array, int64_t row, const Type& type);

template <typename ArrayT>
auto ValueAt(const arrow::Array& array, int64_t row) {
  return static_cast<const ArrayT&>(array).Value(row);
}

std::string_view BytesAt(const arrow::Array& array, int64_t row) {
  return static_cast<const arrow::BinaryArray&>(array).GetView(row);
}

std::string_view FixedAt(const arrow::Array& array, int64_t row) {
  return static_cast<const arrow::FixedSizeBinaryArray&>(array).GetView(row);
}

Json Finite(double value, const std::string& text) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "Infinity" : "-Infinity";
  return std::strtod(text.c_str(),
                     nullptr);  // a float prints as its own shortest digits, not as those of the double
}

Json Floating(const arrow::Array& array, int64_t row, TypeId type) {
  if (type == TypeId::kFloat) {
    const float value = ValueAt<arrow::FloatArray>(array, row);
    return Finite(static_cast<double>(value), fmt::format("{}", value));
  }
  const double value = ValueAt<arrow::DoubleArray>(array, row);
  return Finite(value, fmt::format("{}", value));
}

std::string UuidText(std::string_view bytes) {
  const std::string hex = HexEncode(bytes);
  return fmt::format("{}-{}-{}-{}-{}", hex.substr(0, 8), hex.substr(8, 4), hex.substr(12, 4),
                     hex.substr(16, 4), hex.substr(20));
}

std::string TimeText(const arrow::Array& array, int64_t row, TypeId type) {
  switch (type) {
    case TypeId::kDate:
      return FormatDate(ValueAt<arrow::Date32Array>(array, row));
    case TypeId::kTime:
      return FormatTime(ValueAt<arrow::Time64Array>(array, row));
    case TypeId::kTimestamp:
      return FormatTimestampMicros(ValueAt<arrow::TimestampArray>(array, row), ZoneSuffix::kNone);
    case TypeId::kTimestampTz:
      return FormatTimestampMicros(ValueAt<arrow::TimestampArray>(array, row), ZoneSuffix::kZ);
    case TypeId::kTimestampNs:
      return FormatTimestampNanos(ValueAt<arrow::TimestampArray>(array, row), ZoneSuffix::kNone);
    default:
      return FormatTimestampNanos(ValueAt<arrow::TimestampArray>(array, row), ZoneSuffix::kZ);
  }
}

Json StructToJson(const arrow::Array& array, int64_t row, const Type& type) {
  const auto& fields = static_cast<const arrow::StructArray&>(array);
  Json object = Json::object();
  for (size_t i = 0; i < type.fields().size(); ++i) {
    object[type.fields()[i].name] = ToJson(*fields.field(static_cast<int>(i)), row, *type.fields()[i].type);
  }
  return object;
}

Json ListToJson(const arrow::Array& array, int64_t row, const Type& type) {
  const auto& list = static_cast<const arrow::ListArray&>(array);
  Json values = Json::array();
  for (int64_t i = list.value_offset(row); i < list.value_offset(row + 1); ++i) {
    values.push_back(ToJson(*list.values(), i, *type.element().type));
  }
  return values;
}

Json MapToJson(const arrow::Array& array, int64_t row, const Type& type) {
  const auto& map = static_cast<const arrow::MapArray&>(array);
  const bool text_keys = type.key().type->id() == TypeId::kString;
  Json entries = text_keys ? Json::object() : Json::array();
  for (int64_t i = map.value_offset(row); i < map.value_offset(row + 1); ++i) {
    Json key = ToJson(*map.keys(), i, *type.key().type);
    Json value = ToJson(*map.items(), i, *type.value().type);
    if (text_keys) {
      entries[key.get<std::string>()] = std::move(value);
    } else {
      entries.push_back(Json::array({std::move(key), std::move(value)}));
    }
  }
  return entries;
}

Json ToJson(const arrow::Array& array, int64_t row, const Type& type) {
  if (array.type_id() == arrow::Type::NA || array.IsNull(row)) return nullptr;
  switch (type.id()) {
    case TypeId::kBoolean:
      return ValueAt<arrow::BooleanArray>(array, row);
    case TypeId::kInt:
      return ValueAt<arrow::Int32Array>(array, row);
    case TypeId::kLong:
      return ValueAt<arrow::Int64Array>(array, row);
    case TypeId::kFloat:
    case TypeId::kDouble:
      return Floating(array, row, type.id());
    case TypeId::kDecimal:
      return static_cast<const arrow::Decimal128Array&>(array).FormatValue(row);
    case TypeId::kDate:
    case TypeId::kTime:
    case TypeId::kTimestamp:
    case TypeId::kTimestampTz:
    case TypeId::kTimestampNs:
    case TypeId::kTimestampTzNs:
      return TimeText(array, row, type.id());
    case TypeId::kString:
      return std::string(BytesAt(array, row));
    case TypeId::kBinary:
      return Base64Encode(BytesAt(array, row));
    case TypeId::kFixed:
      return Base64Encode(FixedAt(array, row));
    case TypeId::kUuid:
      return UuidText(FixedAt(array, row));
    case TypeId::kStruct:
      return StructToJson(array, row, type);
    case TypeId::kList:
      return ListToJson(array, row, type);
    case TypeId::kMap:
      return MapToJson(array, row, type);
    case TypeId::kVariant:
    case TypeId::kUnknown:
    case TypeId::kGeometry:
    case TypeId::kGeography:
      return nullptr;  // a scan of such columns is refused, but for `unknown`, which is always null
  }
  return nullptr;
}

}  // namespace

Result<std::vector<Json>> RowsToJson(const arrow::RecordBatch& rows, const Schema& schema) {
  const std::vector<NestedField>& fields = schema.fields();
  if (static_cast<size_t>(rows.num_columns()) != fields.size()) {
    return Error(ErrorKind::kInternal,
                 fmt::format("{} columns do not fit a schema of {}", rows.num_columns(), fields.size()));
  }
  std::vector<Json> objects(static_cast<size_t>(rows.num_rows()), Json::object());
  for (size_t column = 0; column < fields.size(); ++column) {
    const arrow::Array& array = *rows.column(static_cast<int>(column));
    for (size_t row = 0; row < objects.size(); ++row) {
      objects[row][fields[column].name] = ToJson(array, static_cast<int64_t>(row), *fields[column].type);
    }
  }
  return objects;
}

}  // namespace firn::iceberg
