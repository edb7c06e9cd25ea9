#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace firn::decode {

/// The fields that a KeyReader is asked for, as a tree of their names.
struct WantedField {
  std::string name;
  std::optional<size_t> field;     ///< index of the path that ends here
  std::vector<WantedField> below;  ///< members of an object that are asked for

  /// Null where nothing below has this name.
  const WantedField* Find(std::string_view key) const;
};

/// `paths`: dotted for nested fields.
WantedField TreeOf(const std::vector<std::string>& paths);

}  // namespace firn::decode
