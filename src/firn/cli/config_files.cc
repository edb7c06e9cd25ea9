#include "firn/cli/config_files.h"

#include "firn/cli/arguments.h"

#include <cstdlib>

#include <unistd.h>

namespace firn::cli {

namespace {
constexpr char kVariable[] = "FIRN_CONFIG";
constexpr char kSystemFile[] = "/etc/firn/firn.yaml";
}  // namespace

Result<std::vector<std::string>> ConfigFiles(const std::vector<std::string>& given) {
  if (!given.empty()) return given;
  const char* from_environment = std::getenv(kVariable);
  if (from_environment != nullptr && *from_environment != '\0')
    return std::vector<std::string>{from_environment};
  if (::access(kSystemFile, F_OK) == 0) return std::vector<std::string>{kSystemFile};
  return Error(ErrorKind::kInvalidArgument, "no pipeline file is given")
      .WithRemedy("Name one (-c FILE), set $FIRN_CONFIG, or write /etc/firn/firn.yaml.");
}

void FileArguments::Declare(Arguments& arguments) {
  arguments.Option("FILE", by_place_,
                   "Pipeline files; several merge (default: $FIRN_CONFIG, /etc/firn/firn.yaml)");
  arguments.Option("-c,--config", by_option_, "The same as FILE").Value("FILE").Repeated();
}

std::vector<std::string> FileArguments::given() const {
  std::vector<std::string> given = by_place_;
  given.insert(given.end(), by_option_.begin(), by_option_.end());
  return given;
}

}  // namespace firn::cli
