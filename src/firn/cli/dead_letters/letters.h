#pragma once

#include <functional>
#include <optional>
#include <string>

#include "firn/cli/pipeline_access.h"
#include "firn/write/dead_letter_reader.h"

namespace firn::cli {

/// The pipeline's dead-letter table; empty when none was ever set aside.
Result<std::optional<iceberg::LoadedTable>> LoadLetters(Context& context, const ChosenPipeline& chosen);

/// Gives every letter (no mark), and whether it waits for a replay.
Status ForEachLetter(const iceberg::LoadedTable& table, bool payload,
                     const std::function<Status(const write::StoredLetter&, bool waits)>& take);

}  // namespace firn::cli
