#include "firn/decode/column_mapping.h"

#include <fmt/format.h>

#include "firn/decode/bytes_encoding.h"
#include "firn/decode/evolution.h"

namespace firn::decode {

Error BadMapping(const iceberg::NestedField& field, std::string_view why) {
  return {ErrorKind::kInvalidArgument, fmt::format("column '{}': {}", field.name, why)};
}

Status BindMapping(Column& column, const ColumnMapping& mapping) {
  FIRN_TRY(BindBytesEncoding(column, mapping.bytes_encoding));
  if (mapping.epoch_unit == TimeUnit::kNone) return Ok();
  if (!IsTimeLike(column.type_id())) {
    return BadMapping(column.field(),
                      fmt::format("a unit is for dates and times, not for {}", column.type().ToString()));
  }
  column.binding().epoch_digits = EpochDigits(mapping.epoch_unit);
  return Ok();
}

}  // namespace firn::decode
