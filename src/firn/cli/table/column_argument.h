#pragma once

#include <string_view>

#include "firn/base/result.h"
#include "firn/pipeline/config.h"

namespace firn::cli {

/// `name type`, `name type required`, `"name with spaces" type`: a column of `firn table create`. The type is
/// not parsed here.
Result<pipeline::ColumnConfig> ParseColumnArgument(std::string_view text);

}  // namespace firn::cli
