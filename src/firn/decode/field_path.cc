#include "firn/decode/field_path.h"

#include <algorithm>

namespace firn::decode {

std::vector<std::string> SplitFieldPath(std::string_view from) {
  std::vector<std::string> parts(1);
  for (size_t i = 0; i < from.size(); ++i) {
    if (from[i] == '\\' && i + 1 < from.size()) {
      parts.back() += from[++i];
    } else if (from[i] == '.') {
      parts.emplace_back();
    } else {
      parts.back() += from[i];
    }
  }
  const bool broken = std::any_of(parts.begin(), parts.end(), [](const auto& part) { return part.empty(); });
  return broken ? std::vector<std::string>() : parts;
}

}  // namespace firn::decode
