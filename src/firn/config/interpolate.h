#pragma once

#include <string>
#include <string_view>

#include "firn/base/result.h"
#include "firn/config/load.h"

namespace firn::config {

/// Replaces `${...}` and `$$` in one value (load.h). `folder` is what a relative `${file:PATH}` is relative
/// to.
Result<std::string> Interpolate(std::string_view text, const std::string& folder,
                                const Environment& environment);

}  // namespace firn::config
