#include "firn/cli/log_options.h"

#include <map>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "firn/obs/log.h"

namespace firn::cli {

void DeclareLogOptions(CLI::App& app, LogOptions& options) {
  app.add_option("--log-format", options.format, "Log lines on stderr: text (default) or json")
      ->type_name("FORMAT");
  app.add_option("--log-level", options.level, "debug, info (default), warning or error")->type_name("LEVEL");
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
