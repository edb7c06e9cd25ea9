#pragma once

#include <memory>

#include "firn/decode/decoder.h"

namespace firn::decode {

/// Decoder for values that are one JSON object each (UTF-8, RFC 8259), straight into Arrow columns.
///
/// Which JSON value fits which column, and what is a bad record, is docs/types.md. Errors: kInvalidArgument
/// when mappings contradict the schema or each other, kUnsupported for column types that JSON cannot fill.
/// Decode fails only with kResourceExhausted.
Result<std::unique_ptr<Decoder>> MakeJsonDecoder(const BoundSchema& bound);

}  // namespace firn::decode
