#include "firn/store/s3/location.h"

#include <algorithm>

#include "firn/base/bytes.h"

namespace firn::store::s3 {

namespace {

std::string_view SchemeOf(std::string_view location) {
  for (const std::string_view scheme : {"s3", "s3a", "s3n"}) {
    if (location.starts_with(scheme) && location.substr(scheme.size()).starts_with("://")) return scheme;
  }
  return {};
}

}  // namespace

bool IsS3Location(std::string_view location) { return !SchemeOf(location).empty(); }

Result<S3Location> ParseS3Location(std::string_view location) {
  S3Location out;
  out.scheme = SchemeOf(location);
  if (out.scheme.empty()) {
    return Error(ErrorKind::kInvalidArgument, "'" + Excerpt(location) + "' is no s3:// location");
  }
  const std::string_view rest = location.substr(out.scheme.size() + 3);
  const size_t slash = std::min(rest.find('/'), rest.size());
  out.bucket = rest.substr(0, slash);
  out.key = rest.substr(std::min(slash + 1, rest.size()));
  if (out.bucket.empty() || out.bucket.find_first_of(" ?#@:%\\") != std::string::npos) {
    return Error(ErrorKind::kInvalidArgument, "'" + Excerpt(location) + "' names no bucket")
        .WithRemedy("Write s3://bucket/path.");
  }
  return out;
}

}  // namespace firn::store::s3
