#pragma once

#include <nlohmann/json_fwd.hpp>

#include "firn/cli/output.h"

namespace firn::cli {

/// Two-space JSON and a line break; text that is no UTF-8 is replaced, never an exception.
void PrintJson(Output& out, const nlohmann::json& json);

}  // namespace firn::cli
