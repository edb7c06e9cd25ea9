#include "firn/cli/log_options.h"

#include <map>

#include <fmt/format.h>

#include "firn/cli/arguments.h"
#include "firn/obs/log.h"

namespace firn::cli {

void DeclareLogOptions(Arguments& arguments, LogOptions& options) {
  arguments.Option("--log-format", options.format, "Log lines on stderr: text (default) or json")
      .Value("FORMAT");
  arguments.Option("--log-level", options.level, "debug, info (default), warning or error").Value("LEVEL");
}

Status ConfigureLogging(const LogOptions& options) {
  static const std::map<std::string, obs::Level> levels = {{"debug", obs::Level::kDebug},
                                                           {"info", obs::Level::kInfo},
                                                           {"warning", obs::Level::kWarning},
                                                           {"error", obs::Level::kError}};
  const auto level = levels.find(options.level);
  if (level == levels.end()) {
    return Error(ErrorKind::kInvalidArgument,
                 fmt::format("--log-level '{}' is not debug, info, warning or error", options.level));
  }
  if (options.format != "text" && options.format != "json") {
    return Error(ErrorKind::kInvalidArgument,
                 fmt::format("--log-format '{}' is not text or json", options.format));
  }
  obs::ConfigureLogging(
      {level->second, options.format == "json" ? obs::LogFormat::kJson : obs::LogFormat::kText});
  return Ok();
}

}  // namespace firn::cli
