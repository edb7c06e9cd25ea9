#pragma once

#include <string_view>

namespace firn {

/// What this program is; all text lives as long as the process and needs no allocation to read.
std::string_view Version();   ///< "0.1.0"
std::string_view GitHash();   ///< of the tree it was built from, or "unknown"
std::string_view Compiler();  ///< "GNU 12.2.0"
std::string_view BuildType();
/// GNU build id of the running executable in hex (names its debug file); "unknown" when it was linked without
/// one.
std::string_view BuildId();

}  // namespace firn
