#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace firn::decode {

/// ColumnMapping::from taken apart: `a.b` -> a, b; `a\.b` -> "a.b"; empty when a part is empty.
std::vector<std::string> SplitFieldPath(std::string_view from);

}  // namespace firn::decode
