#pragma once

#include <string>

#include "firn/base/result.h"

namespace CLI {  // NOLINT(readability-identifier-naming): the name is the library's
class App;
}

namespace firn::cli {

/// `--log-format` and `--log-level`, understood by every command. Logs go to stderr.
struct LogOptions {
  std::string format = "text";
  std::string level = "info";
};

void DeclareLogOptions(CLI::App& app, LogOptions& options);
Status ConfigureLogging(const LogOptions& options);

}  // namespace firn::cli
