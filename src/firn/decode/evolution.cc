#include "firn/decode/evolution.h"

#include <arrow/memory_pool.h>
#include <fmt/format.h>

#include <algorithm>

namespace firn::decode {

using iceberg::NestedField;
using iceberg::Type;
using iceberg::TypeId;

std::string WhyNotAddable(const BoundSchema& bound, int32_t parent_id,
                          const std::vector<NestedField>& siblings, std::string_view name) {
  if (bound.evolution == Evolution::kNone) return "no column takes it";
  if (name.empty()) return "it has no name";
  if (parent_id == 0 && iceberg::IsReservedColumnName(name)) return "Iceberg reserves the name";
  if (parent_id == 0 && (name == kRescuedColumn || name == kKafkaColumn)) return "Firn uses the name itself";
  for (const NestedField& sibling : siblings) {
    if (sibling.name == name) return "a column of this name is read from another field";
    if (EqualsIgnoringCase(sibling.name, name))
      return fmt::format("it differs only in case from '{}'", sibling.name);
  }
  for (const record::RefusedChange& refused : bound.refused) {
    if (refused.field_id == parent_id && refused.name == name) return refused.why;
  }
  return {};
}

bool MayWiden(const BoundSchema& bound, int32_t field_id) {
  if (bound.evolution != Evolution::kAddAndWiden) return false;
  return std::none_of(bound.refused.begin(), bound.refused.end(), [&](const record::RefusedChange& refused) {
    return refused.name.empty() && refused.field_id == field_id;
  });
}

iceberg::TypePtr WiderType(const Column& column, const CellOutcome& outcome) {
  switch (column.type_id()) {
    case TypeId::kInt:
      return Type::Primitive(TypeId::kLong);
    case TypeId::kFloat:
      return Type::Primitive(TypeId::kDouble);
    default:
      return Type::Decimal(static_cast<int32_t>(outcome.decimal_digits), column.type().scale());
  }
}

int EpochDigits(TimeUnit unit) {
  switch (unit) {
    case TimeUnit::kNone:
      return -1;
    case TimeUnit::kSeconds:
      return 0;
    case TimeUnit::kMillis:
      return 3;
    case TimeUnit::kMicros:
      return 6;
    case TimeUnit::kNanos:
      return 9;
  }
  return -1;
}

bool IsTimeLike(TypeId id) {
  switch (id) {
    case TypeId::kDate:
    case TypeId::kTime:
    case TypeId::kTimestamp:
    case TypeId::kTimestampTz:
    case TypeId::kTimestampNs:
    case TypeId::kTimestampTzNs:
      return true;
    default:
      return false;
  }
}

std::string EscapePath(std::string_view name) {
  std::string path;
  for (const char c : name) {
    if (c == '.' || c == '\\') path += '\\';
    path += c;
  }
  return path;
}

Error NoRescuedColumn() {
  return Error(ErrorKind::kInvalidArgument,
               fmt::format("unknown fields are to be rescued, but the table has no column '{}'",
                           kRescuedColumn))
      .WithRemedy(fmt::format("Add an optional string column '{}', or choose another unknown_fields.",
                              kRescuedColumn));
}

Status CheckRescuedColumn(const NestedField& field) {
  if (field.type->id() == TypeId::kString && !field.required) return Ok();
  return Error(ErrorKind::kInvalidArgument,
               fmt::format("column '{}': must be an optional string to rescue fields into", field.name));
}

void UseDefaultPool(BoundSchema* bound) {
  if (bound->pool == nullptr) bound->pool = arrow::default_memory_pool();
}

}  // namespace firn::decode
