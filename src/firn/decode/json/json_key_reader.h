#pragma once

#include <memory>
#include <string>
#include <vector>

#include "firn/decode/key_reader.h"

namespace firn::decode {

/// Key reader of values that are one JSON object each.
Result<std::unique_ptr<KeyReader>> MakeJsonKeyReader(const std::vector<std::string>& paths);

}  // namespace firn::decode
