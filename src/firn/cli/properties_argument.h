#pragma once

#include <map>
#include <string>
#include <vector>

#include "firn/base/result.h"

namespace firn::cli {

/// Arguments `KEY=VALUE`; the value may hold `=` and be empty. kInvalidArgument for one without a key and for
/// a key that is given twice.
Result<std::map<std::string, std::string>> ParseProperties(const std::vector<std::string>& arguments);

}  // namespace firn::cli
