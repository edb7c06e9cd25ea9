#include "firn/base/check.h"

#include <cstdlib>
#include <string>

#include "firn/base/fatal.h"

namespace firn {

void FailCheck(const char* file, int line, std::string_view condition, std::string_view text) {
  std::string cause = "check failed at ";
  cause.append(file).append(":").append(std::to_string(line));
  cause.append(": ").append(condition).append(": ").append(text);
  PrintFatalReport(cause);
  std::abort();
}

}  // namespace firn
