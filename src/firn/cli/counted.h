#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace firn::cli {

/// `1 row`, `1,234 rows`.
std::string Counted(int64_t count, std::string_view noun);

}  // namespace firn::cli
