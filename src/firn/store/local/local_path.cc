#include "firn/store/local/local_path.h"

#include <filesystem>

#include <fmt/format.h>

namespace firn::store {

namespace {

constexpr std::string_view kScheme = "file:";
constexpr std::string_view kAuthority = "file://";
constexpr std::string_view kLocalhost = "file://localhost/";

/// Length of what stands before the path.
size_t SchemeLength(std::string_view location) {
  if (location.starts_with(kLocalhost)) return kLocalhost.size() - 1;
  if (location.starts_with(kAuthority)) return kAuthority.size();
  if (location.starts_with(kScheme)) return kScheme.size();
  return 0;
}

}  // namespace

Result<LocalLocation> ParseLocalLocation(std::string_view location) {
  size_t length = SchemeLength(location);
  auto path = location.substr(length);
  if (!path.starts_with('/')) {
    return Error(ErrorKind::kInvalidArgument, fmt::format("'{}' is not a local location", location))
        .WithRemedy("Use an absolute path or file:///path.");
  }
  if (path.find('\0') != std::string_view::npos) {
    return Error(ErrorKind::kInvalidArgument, "a local location holds a zero byte");
  }
  return LocalLocation{std::string(location.substr(0, length)), std::string(path)};
}

bool IsLocalLocation(std::string_view location) {
  return location.starts_with('/') || location.starts_with(kScheme);
}

std::string ToFileUri(std::string_view path_or_location) {
  std::filesystem::path path(path_or_location.substr(SchemeLength(path_or_location)));
  std::error_code failed;
  auto absolute = std::filesystem::absolute(path, failed);
  std::string text = (failed ? path : absolute).lexically_normal().string();
  while (text.size() > 1 && text.ends_with('/')) text.pop_back();
  return std::string(kAuthority) + text;
}

}  // namespace firn::store
