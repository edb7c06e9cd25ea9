#pragma once

#include <memory>

#include "firn/decode/decoder.h"
#include "firn/decode/inferred_schema.h"

namespace firn::decode {

/// What the columns of a new table are.
struct RawFormat {
  bool key_is_text = false;  ///< `string` rather than `binary`
  bool value_is_text = false;
};

/// Decoder that takes keys and values as they are: into the columns `key` and `value` (or whatever columns
/// have those as their `from:`), binary as bytes, string as UTF-8 text (else a bad record). A table without
/// `key` does not get it, which is counted as an unknown field. As the decoder of a key: the bytes into
/// BoundSchema::scalar_column.
///
/// kInvalidArgument: the table has no column for the value, or one of another type.
Result<std::unique_ptr<Decoder>> MakeRawDecoder(const BoundSchema& bound);

/// The columns `key` and `value`, whatever the records hold.
InferredSchema RawSchema(const RawFormat& format);

}  // namespace firn::decode
