#pragma once

#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "firn/base/result.h"
#include "firn/pipeline/status.h"

namespace firn::cli {

/// The body of `/status`. Keys are stable: other programs read them.
nlohmann::json StatusToJson(const std::vector<pipeline::PipelineStatus>& statuses, int64_t started_ms,
                            int64_t now_ms);

/// The text of `firn status` out of such a body (of this or a newer version: unknown keys are passed over).
Result<std::string> StatusText(const nlohmann::json& body, bool terminal);

}  // namespace firn::cli
