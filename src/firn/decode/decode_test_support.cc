#include "firn/decode/decode_test_support.h"

#include <arrow/array.h>
#include <arrow/record_batch.h>
#include <arrow/scalar.h>

namespace firn::decode::testing {

namespace {

nlohmann::json MapToJson(const arrow::MapArray& map, int64_t row) {
  nlohmann::json object = nlohmann::json::object();
  for (int64_t i = map.value_offset(row); i < map.value_offset(row + 1); ++i) {
    const nlohmann::json key = ToJson(*map.keys(), i);
    object[key.is_string() ? key.get<std::string>() : key.dump()] = ToJson(*map.items(), i);
  }
  return object;
}

nlohmann::json ListToJson(const arrow::ListArray& list, int64_t row) {
  nlohmann::json elements = nlohmann::json::array();
  for (int64_t i = list.value_offset(row); i < list.value_offset(row + 1); ++i)
    elements.push_back(ToJson(*list.values(), i));
  return elements;
}

nlohmann::json StructToJson(const arrow::StructArray& array, int64_t row) {
  nlohmann::json object = nlohmann::json::object();
  for (int i = 0; i < array.num_fields(); ++i)
    object[array.type()->field(i)->name()] = ToJson(*array.field(i), row);
  return object;
}

}  // namespace

nlohmann::json ToJson(const arrow::Array& array, int64_t row) {
  if (array.IsNull(row)) return nullptr;
  switch (array.type_id()) {
    case arrow::Type::STRUCT:
      return StructToJson(static_cast<const arrow::StructArray&>(array), row);
    case arrow::Type::MAP:
      return MapToJson(static_cast<const arrow::MapArray&>(array), row);
    case arrow::Type::LIST:
      return ListToJson(static_cast<const arrow::ListArray&>(array), row);
    case arrow::Type::BOOL:
      return static_cast<const arrow::BooleanArray&>(array).Value(row);
    case arrow::Type::INT32:
      return static_cast<const arrow::Int32Array&>(array).Value(row);
    case arrow::Type::INT64:
      return static_cast<const arrow::Int64Array&>(array).Value(row);
    case arrow::Type::FLOAT:
      return static_cast<const arrow::FloatArray&>(array).Value(row);
    case arrow::Type::DOUBLE:
      return static_cast<const arrow::DoubleArray&>(array).Value(row);
    case arrow::Type::STRING:
      return static_cast<const arrow::StringArray&>(array).GetString(row);
    default:
      return (*array.GetScalar(row))->ToString();
  }
}

std::vector<std::string> Rows(const DecodeResult& result) {
  std::vector<std::string> rows;
  if (result.batch.rows == nullptr) return rows;
  const auto valid = result.batch.rows->ValidateFull();
  EXPECT_TRUE(valid.ok()) << valid.ToString();
  for (int64_t row = 0; row < result.batch.rows->num_rows(); ++row) {
    nlohmann::json object = nlohmann::json::object();
    for (int i = 0; i < result.batch.rows->num_columns(); ++i) {
      object[result.batch.rows->column_name(i)] = ToJson(*result.batch.rows->column(i), row);
    }
    rows.push_back(object.dump());
  }
  return rows;
}

}  // namespace firn::decode::testing
