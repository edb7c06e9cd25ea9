#include <cstddef>
#include <cstdint>
#include <string_view>

#include "firn/iceberg/model/expression.h"

namespace {

using firn::iceberg::NestedField;
using firn::iceberg::Schema;
using firn::iceberg::Type;
using firn::iceberg::TypeId;

NestedField Column(int32_t id, const char* name, firn::iceberg::TypePtr type) {
  NestedField field;
  field.id = id;
  field.name = name;
  field.type = std::move(type);
  return field;
}

const Schema& TestSchema() {
  static const Schema kSchema(
      0,
      {Column(1, "i", Type::Primitive(TypeId::kInt)), Column(2, "l", Type::Primitive(TypeId::kLong)),
       Column(3, "s", Type::Primitive(TypeId::kString)), Column(4, "d", Type::Decimal(9, 2)),
       Column(5, "f", Type::Primitive(TypeId::kDouble)),
       Column(6, "t", Type::Primitive(TypeId::kTimestampTz)),
       Column(7, "b", Type::Primitive(TypeId::kBoolean)), Column(8, "x", Type::Primitive(TypeId::kBinary))});
  return kSchema;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto filter = firn::iceberg::ParseFilter(text, TestSchema());
  if (!filter.ok()) return 0;
  const auto ids = (*filter)->FieldIds();
  (*filter)->Evaluate(
      [](const auto& predicate) { return predicate.Test(firn::iceberg::Literal::Null(predicate.type)); });
  firn::iceberg::FileMetrics metrics;
  metrics.record_count = 1;
  firn::iceberg::MayMatchMetrics(**filter, metrics);
  return 0;
}
