#pragma once

#include <string>
#include <vector>

#include "firn/base/result.h"

namespace firn::cli {

/// The pipeline files of a call: what was given, else `$FIRN_CONFIG`, else /etc/firn/firn.yaml.
/// kInvalidArgument with the three ways when there is none of them.
Result<std::vector<std::string>> ConfigFiles(const std::vector<std::string>& given);

}  // namespace firn::cli
