#include "firn/decode/bytes_encoding.h"

#include <fmt/format.h>

#include <algorithm>

#include "firn/decode/column.h"

namespace firn::decode {

using iceberg::TypeId;

namespace {

bool IsBytes(TypeId id) { return id == TypeId::kBinary || id == TypeId::kFixed; }

void BindAll(Column& column, BytesEncoding encoding) {
  if (IsBytes(column.type_id())) column.binding().bytes_encoding = encoding;
  for (const auto& child : column.children()) BindAll(*child, encoding);
}

}  // namespace

bool HoldsBytes(const iceberg::Type& type) {
  if (IsBytes(type.id())) return true;
  return std::ranges::any_of(type.fields(), [](const auto& field) { return HoldsBytes(*field.type); });
}

Status BindBytesEncoding(Column& column, BytesEncoding encoding) {
  if (encoding == BytesEncoding::kDefault) return Ok();
  if (!HoldsBytes(column.type())) {
    return Error(ErrorKind::kInvalidArgument,
                 fmt::format("column '{}': an encoding is for binary and fixed, not for {}",
                             column.field().name, column.type().ToString()));
  }
  BindAll(column, encoding);
  return Ok();
}

}  // namespace firn::decode
