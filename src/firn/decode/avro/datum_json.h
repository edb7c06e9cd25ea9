#pragma once

#include <string>

#include "firn/avro/cursor.h"
#include "firn/avro/schema.h"

namespace firn::decode {

/// Appends one value as JSON text, by walking its type: numbers and text as they are, bytes as base64, enums
/// as their symbol, of unions the value alone; NaN and infinities as text. Of logical types only decimals,
/// dates, times and timestamps look different from their base type: as numbers and ISO-8601 text. False when
/// the bytes do not follow the type; the cursor tells why.
bool WriteDatumJson(const avro::Node& node, avro::Cursor* cursor, std::string* out);

}  // namespace firn::decode
