#pragma once

#include <nlohmann/json_fwd.hpp>

#include "firn/iceberg/model/update.h"

namespace firn::iceberg {

// The REST specification's JSON of a commit (`TableUpdate`, `TableRequirement`).

/// `format_version` is that of the table: a snapshot is written differently in 1, 2 and 3.
nlohmann::json ToJson(const Update& update, int format_version);
nlohmann::json ToJson(const Requirement& requirement);

}  // namespace firn::iceberg
