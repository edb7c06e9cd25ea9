#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace firn {

/// Levenshtein distance in bytes; a swap of neighbours counts 1.
size_t EditDistance(std::string_view a, std::string_view b);

/// The known name that a mistyped one most likely means; empty when none is near (about a third of its
/// length). Letter case and the difference between `-` and `_` cost nothing.
std::optional<std::string> NearestName(std::string_view name, std::span<const std::string> known);

}  // namespace firn
