#include "firn/cli/properties_argument.h"

#include <fmt/format.h>

namespace firn::cli {

Result<std::map<std::string, std::string>> ParseProperties(const std::vector<std::string>& arguments) {
  std::map<std::string, std::string> properties;
  for (const std::string& text : arguments) {
    const size_t equals = text.find('=');
    if (equals == 0 || equals == std::string::npos)
      return Error(ErrorKind::kInvalidArgument, fmt::format("'{}' is not KEY=VALUE", text));
    const std::string key = text.substr(0, equals);
    if (!properties.emplace(key, text.substr(equals + 1)).second)
      return Error(ErrorKind::kInvalidArgument, fmt::format("'{}' is given twice", key));
  }
  return properties;
}

}  // namespace firn::cli
