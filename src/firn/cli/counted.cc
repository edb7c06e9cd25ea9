#include "firn/cli/counted.h"

#include <fmt/format.h>

#include "firn/base/units.h"

namespace firn::cli {

std::string Counted(int64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", HumanCount(count), noun, count == 1 ? "" : "s");
}

}  // namespace firn::cli
