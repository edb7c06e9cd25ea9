#pragma once

#include <optional>
#include <string>
#include <vector>

#include "firn/decode/decode_test_support.h"
#include "firn/decode/json/json_decoder.h"

namespace firn::decode::testing {

/// Decodes all of it with a fresh decoder.
inline DecodeResult DecodeAll(const BoundSchema& bound,
                              const std::vector<std::optional<std::string>>& values) {
  return DecodeWith(MakeJsonDecoder(bound), MakeRaw(values));
}

}  // namespace firn::decode::testing
