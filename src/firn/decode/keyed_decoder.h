#pragma once

#include <functional>
#include <memory>
#include <string>

#include "firn/decode/decoder.h"

namespace firn::decode {

using MakeDecoder = std::function<Result<std::unique_ptr<Decoder>>(const BoundSchema&)>;

/// Formats of the two halves of a record.
struct KeyedFormat {
  MakeDecoder make_key;
  MakeDecoder make_value;
  std::string column = "key";  ///< takes keys that are one plain value
  std::string prefix;          ///< before the names of a key's fields
};

/// Decodes keys beside values. A key's fields are columns at the top of the table, under their own name (with
/// the prefix); where key and value both fill a column the value wins, unless it is null. A record becomes a
/// row when both halves are good; a null key gives nulls, a null value is a tombstone whatever the key is.
/// What either half needs of the schema is asked for together, and the batch is cut at the first record that
/// needs any of it. Required columns may come from either half.
Result<std::unique_ptr<Decoder>> MakeKeyedDecoder(const KeyedFormat& format, const BoundSchema& bound);

}  // namespace firn::decode
