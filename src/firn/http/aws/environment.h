#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "firn/base/result.h"
#include "firn/http/client/http_client.h"
#include "firn/runtime/clock.h"
#include "firn/runtime/ids.h"

namespace firn::http::aws {

/// Where credentials are looked for: what a test replaces. The functions are called from any thread.
struct AwsDeps {
  /// Empty when the variable is not set, or set to nothing.
  std::function<std::optional<std::string>(const std::string& name)> variable;
  std::function<Result<std::string>(const std::string& path)> read_file;
  /// Standard output of a shell command; kIo with its exit code when it fails.
  std::function<Result<std::string>(const std::string& command)> run;
  std::shared_ptr<HttpClient> http;      ///< for STS
  std::shared_ptr<HttpClient> metadata;  ///< for addresses of this machine: short timeouts and no proxy
  runtime::Clock* clock = nullptr;
  runtime::IdSource* ids = nullptr;
};

/// The process's environment, files and shell.
AwsDeps SystemAwsDeps(std::shared_ptr<HttpClient> http, runtime::Clock& clock, runtime::IdSource& ids);

}  // namespace firn::http::aws
