#pragma once

#include <string>
#include <vector>

#include "firn/config/type.h"

namespace firn::config {

/// A Markdown table of keys, for docs/configuration.md: | Key | Type | Default | Allowed | Meaning |. Paths
/// lose `prefix` and its dot, so that a section can stand for `pipelines.<name>`.
std::string RenderReferenceTable(const std::vector<FieldDoc>& fields, const std::string& prefix = {});

}  // namespace firn::config
