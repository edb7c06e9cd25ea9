#include "firn/http/aws/environment.h"

#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <system_error>

#include "firn/http/aws/shell.h"

namespace firn::http::aws {

namespace {

std::optional<std::string> SystemVariable(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  if (value == nullptr || *value == '\0') return std::nullopt;
  return std::string(value);
}

Result<std::string> ReadSystemFile(const std::string& path) {
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (!file || !(text << file.rdbuf())) {
    const int code = errno;
    const ErrorKind kind = code == EACCES ? ErrorKind::kPermissionDenied : ErrorKind::kNotFound;
    return Error(kind, "cannot read " + path + ": " + std::generic_category().message(code));
  }
  return std::move(text).str();
}

}  // namespace

AwsDeps SystemAwsDeps(std::shared_ptr<HttpClient> http, runtime::Clock& clock, runtime::IdSource& ids) {
  AwsDeps deps;
  deps.variable = SystemVariable;
  deps.read_file = ReadSystemFile;
  deps.run = [](const std::string& command) { return RunInShell(command, 60'000); };
  deps.http = std::move(http);
  deps.metadata = MakeHttpClient({.connect_timeout_ms = 1000, .timeout_ms = 5000, .use_proxy = false});
  deps.clock = &clock;
  deps.ids = &ids;
  return deps;
}

}  // namespace firn::http::aws
