#include "firn/iceberg/scan/arrow_schema.h"

#include <arrow/extension_type.h>
#include <arrow/type.h>
#include <arrow/util/key_value_metadata.h>

#include <charconv>
#include <string>
#include <utility>
#include <vector>

#include "firn/iceberg/scan/arrow_error.h"

namespace firn::iceberg {

namespace {

constexpr char kUtc[] = "UTC";

std::shared_ptr<const arrow::KeyValueMetadata> IdMetadata(int32_t id) {
  return arrow::key_value_metadata({kFieldIdKey}, {std::to_string(id)});
}

Result<std::vector<std::shared_ptr<arrow::Field>>> ToArrowFields(const std::vector<NestedField>& fields) {
  std::vector<std::shared_ptr<arrow::Field>> result;
  result.reserve(fields.size());
  for (const NestedField& field : fields) {
    FIRN_ASSIGN(auto arrow_field, ToArrowField(field));
    result.push_back(std::move(arrow_field));
  }
  return result;
}

Result<std::shared_ptr<arrow::DataType>> ToArrowNested(const Type& type) {
  FIRN_ASSIGN(auto children, ToArrowFields(type.fields()));
  switch (type.id()) {
    case TypeId::kList:
      return arrow::list(children[0]->WithName("element"));
    case TypeId::kMap:
      return std::static_pointer_cast<arrow::DataType>(std::make_shared<arrow::MapType>(
          children[0]->WithName("key")->WithNullable(false), children[1]->WithName("value")));
    default:
      return arrow::struct_(children);
  }
}

Error NoArrowType(const Type& type) {
  return {ErrorKind::kUnsupported, "type " + type.ToString() + " cannot be read or written yet"};
}

}  // namespace

Result<std::shared_ptr<arrow::DataType>> ToArrowType(const Type& type) {
  switch (type.id()) {
    case TypeId::kBoolean:
      return arrow::boolean();
    case TypeId::kInt:
      return arrow::int32();
    case TypeId::kLong:
      return arrow::int64();
    case TypeId::kFloat:
      return arrow::float32();
    case TypeId::kDouble:
      return arrow::float64();
    case TypeId::kDecimal:
      return arrow::decimal128(type.precision(), type.scale());
    case TypeId::kDate:
      return arrow::date32();
    case TypeId::kTime:
      return arrow::time64(arrow::TimeUnit::MICRO);
    case TypeId::kTimestamp:
      return arrow::timestamp(arrow::TimeUnit::MICRO);
    case TypeId::kTimestampTz:
      return arrow::timestamp(arrow::TimeUnit::MICRO, kUtc);
    case TypeId::kTimestampNs:
      return arrow::timestamp(arrow::TimeUnit::NANO);
    case TypeId::kTimestampTzNs:
      return arrow::timestamp(arrow::TimeUnit::NANO, kUtc);
    case TypeId::kString:
      return arrow::utf8();
    case TypeId::kBinary:
      return arrow::binary();
    case TypeId::kUuid:
      return arrow::fixed_size_binary(16);
    case TypeId::kFixed:
      return arrow::fixed_size_binary(type.length());
    case TypeId::kUnknown:
      return arrow::null();
    case TypeId::kStruct:
    case TypeId::kList:
    case TypeId::kMap:
      return ToArrowNested(type);
    case TypeId::kVariant:
    case TypeId::kGeometry:
    case TypeId::kGeography:
      return NoArrowType(type);
  }
  return NoArrowType(type);
}

Result<std::shared_ptr<arrow::Field>> ToArrowField(const NestedField& field) {
  FIRN_ASSIGN_CTX(auto type, ToArrowType(*field.type), "column '" + field.name + "'");
  return arrow::field(field.name, std::move(type), !field.required, IdMetadata(field.id));
}

Result<std::shared_ptr<arrow::Schema>> ToArrowSchema(const Schema& schema) {
  FIRN_ASSIGN(auto fields, ToArrowFields(schema.fields()));
  return arrow::schema(std::move(fields));
}

namespace {

Result<TypePtr> FromArrowTimestamp(const arrow::TimestampType& type) {
  const bool utc = !type.timezone().empty();
  switch (type.unit()) {
    case arrow::TimeUnit::NANO:
      return Type::Primitive(utc ? TypeId::kTimestampTzNs : TypeId::kTimestampNs);
    default:
      return Type::Primitive(utc ? TypeId::kTimestampTz : TypeId::kTimestamp);
  }
}

Result<TypePtr> FromArrowTime(const arrow::DataType& type) {
  if (static_cast<const arrow::TimeType&>(type).unit() == arrow::TimeUnit::NANO) {
    return Error(ErrorKind::kUnsupported, "a time of day in nanoseconds has no Iceberg type");
  }
  return Type::Primitive(TypeId::kTime);
}

Result<TypePtr> FromArrowDecimal(const arrow::DataType& type) {
  const auto& decimal = static_cast<const arrow::DecimalType&>(type);
  if (decimal.precision() > 38 || decimal.scale() < 0 || decimal.scale() > decimal.precision()) {
    return Error(ErrorKind::kUnsupported, type.ToString() + " does not fit Iceberg's decimal(38, 38)");
  }
  return Type::Decimal(decimal.precision(), decimal.scale());
}

Result<TypePtr> FromArrowStruct(const arrow::DataType& type) {
  std::vector<NestedField> fields;
  for (const auto& child : type.fields()) {
    FIRN_ASSIGN(auto field, FromArrowField(*child));
    fields.push_back(std::move(field));
  }
  return Type::Struct(std::move(fields));
}

Result<TypePtr> FromArrowList(const arrow::DataType& type) {
  FIRN_ASSIGN(NestedField element, FromArrowField(*type.field(0)));
  return Type::List(element.id, element.required, element.type);
}

Result<TypePtr> FromArrowMap(const arrow::DataType& type) {
  const auto& map = static_cast<const arrow::MapType&>(type);
  FIRN_ASSIGN(NestedField key, FromArrowField(*map.key_field()));
  FIRN_ASSIGN(NestedField value, FromArrowField(*map.item_field()));
  return Type::Map(key.id, key.type, value.id, value.required, value.type);
}

}  // namespace

Result<TypePtr> FromArrowType(const arrow::DataType& type) {
  switch (type.id()) {
    case arrow::Type::NA:
      return Type::Primitive(TypeId::kUnknown);
    case arrow::Type::BOOL:
      return Type::Primitive(TypeId::kBoolean);
    case arrow::Type::INT8:
    case arrow::Type::UINT8:
    case arrow::Type::INT16:
    case arrow::Type::UINT16:
    case arrow::Type::INT32:
      return Type::Primitive(TypeId::kInt);
    case arrow::Type::UINT32:
    case arrow::Type::INT64:
      return Type::Primitive(TypeId::kLong);
    case arrow::Type::UINT64:
      return Type::Decimal(20, 0);
    case arrow::Type::HALF_FLOAT:
    case arrow::Type::FLOAT:
      return Type::Primitive(TypeId::kFloat);
    case arrow::Type::DOUBLE:
      return Type::Primitive(TypeId::kDouble);
    case arrow::Type::DECIMAL32:
    case arrow::Type::DECIMAL64:
    case arrow::Type::DECIMAL128:
    case arrow::Type::DECIMAL256:
      return FromArrowDecimal(type);
    case arrow::Type::DATE32:
    case arrow::Type::DATE64:
      return Type::Primitive(TypeId::kDate);
    case arrow::Type::TIME32:
    case arrow::Type::TIME64:
      return FromArrowTime(type);
    case arrow::Type::TIMESTAMP:
      return FromArrowTimestamp(static_cast<const arrow::TimestampType&>(type));
    case arrow::Type::STRING:
    case arrow::Type::LARGE_STRING:
    case arrow::Type::STRING_VIEW:
      return Type::Primitive(TypeId::kString);
    case arrow::Type::BINARY:
    case arrow::Type::LARGE_BINARY:
    case arrow::Type::BINARY_VIEW:
      return Type::Primitive(TypeId::kBinary);
    case arrow::Type::FIXED_SIZE_BINARY:
      return Type::Fixed(static_cast<const arrow::FixedSizeBinaryType&>(type).byte_width());
    case arrow::Type::DICTIONARY:
      return FromArrowType(*static_cast<const arrow::DictionaryType&>(type).value_type());
    case arrow::Type::EXTENSION:
      if (static_cast<const arrow::ExtensionType&>(type).extension_name() == "arrow.uuid") {
        return Type::Primitive(TypeId::kUuid);
      }
      return FromArrowType(*static_cast<const arrow::ExtensionType&>(type).storage_type());
    case arrow::Type::STRUCT:
      return FromArrowStruct(type);
    case arrow::Type::LIST:
    case arrow::Type::LARGE_LIST:
    case arrow::Type::FIXED_SIZE_LIST:
      return FromArrowList(type);
    case arrow::Type::MAP:
      return FromArrowMap(type);
    default:
      return Error(ErrorKind::kUnsupported, "Arrow type " + type.ToString() + " has no Iceberg type");
  }
}

Result<NestedField> FromArrowField(const arrow::Field& field) {
  FIRN_ASSIGN_CTX(auto type, FromArrowType(*field.type()), "column '" + field.name() + "'");
  NestedField result;
  result.id = FieldIdOf(field).value_or(0);
  result.name = field.name();
  result.required = !field.nullable();
  result.type = std::move(type);
  return result;
}

Result<SchemaPtr> FromArrowSchema(const arrow::Schema& schema) {
  std::vector<NestedField> fields;
  for (const auto& arrow_field : schema.fields()) {
    FIRN_ASSIGN(auto field, FromArrowField(*arrow_field));
    fields.push_back(std::move(field));
  }
  return std::make_shared<const Schema>(0, std::move(fields));
}

std::optional<int32_t> FieldIdOf(const arrow::Field& field) {
  if (field.metadata() == nullptr) return std::nullopt;
  const int index = field.metadata()->FindKey(kFieldIdKey);
  if (index < 0) return std::nullopt;
  const std::string& text = field.metadata()->value(index);
  int32_t id = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), id);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return id;
}

}  // namespace firn::iceberg
