#pragma once

#include <string>

#include "firn/base/result.h"

namespace firn::cli {

class Arguments;

/// `--log-format` and `--log-level`, understood by every command. Logs go to stderr.
struct LogOptions {
  std::string format = "text";
  std::string level = "info";
};

void DeclareLogOptions(Arguments& arguments, LogOptions& options);
Status ConfigureLogging(const LogOptions& options);

}  // namespace firn::cli
