#pragma once

#include <cstdint>

#include "firn/base/result.h"
#include "firn/iceberg/model/type.h"

namespace firn::decode {

class Column;

/// How text stands for bytes (RFC 4648). kDefault: base64 where a format has only text for bytes (JSON, CSV);
/// text of formats that have bytes beside it (Avro, Parquet) is taken as its own bytes.
enum class BytesEncoding : uint8_t { kDefault, kBase64, kHex };

/// A binary or fixed type, or one that has such a type in it: what an encoding may be declared for.
bool HoldsBytes(const iceberg::Type& type);

/// Binds the encoding to a top-level column and everything in it. kInvalidArgument for a column without
/// bytes.
Status BindBytesEncoding(Column& column, BytesEncoding encoding);

}  // namespace firn::decode
