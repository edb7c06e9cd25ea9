#pragma once

#include <optional>

#include "firn/decode/inferred_type.h"
#include "firn/decode/json/walker.h"

namespace firn::decode {

/// Deepest nesting that becomes a type; what is deeper is a conflict.
inline constexpr int kMaxInferredDepth = 64;

/// Steps over one value, validates it like Walker::SkipValue, and tells its type. Empty when it is malformed.
std::optional<InferredType> InferValue(Walker& walker, int depth = 0);

}  // namespace firn::decode
