#include "firn/store/s3/endpoint.h"

#include <algorithm>

#include <fmt/format.h>

#include "firn/base/bytes.h"
#include "firn/base/url.h"

namespace firn::store::s3 {

namespace {

bool NeedsPathStyle(std::string_view host) {
  const std::string_view name = host.substr(0, host.rfind(':'));
  if (host.starts_with('[') || name == "localhost") return true;
  return !name.empty() && name.find_first_not_of("0123456789.") == std::string_view::npos;
}

/// A name that can be one label of a host under a wildcard certificate.
bool IsHostLabel(std::string_view bucket) {
  const auto fits = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; };
  return bucket.size() <= 63 && std::ranges::all_of(bucket, fits);
}

std::string EncodedPath(std::string_view key) {
  std::string out;
  size_t begin = 0;
  while (true) {
    const size_t end = std::min(key.find('/', begin), key.size());
    out += PercentEncode(key.substr(begin, end - begin));
    if (end == key.size()) return out;
    out += '/';
    begin = end + 1;
  }
}

Endpoint AwsEndpoint(std::string_view region, bool path_style) {
  const std::string_view domain = region.starts_with("cn-") ? "amazonaws.com.cn" : "amazonaws.com";
  return {"https", fmt::format("s3.{}.{}", region, domain), "", path_style};
}

}  // namespace

Result<Endpoint> ParseEndpoint(std::string_view text, std::string_view region, bool path_style) {
  if (text.empty()) return AwsEndpoint(region, path_style);
  Endpoint endpoint;
  const size_t colon = text.find("://");
  endpoint.scheme = colon == std::string_view::npos ? "" : text.substr(0, colon);
  std::string_view rest = text.substr(colon == std::string_view::npos ? 0 : colon + 3);
  const size_t slash = std::min(rest.find('/'), rest.size());
  endpoint.host = rest.substr(0, slash);
  endpoint.base_path = rest.substr(slash);
  while (endpoint.base_path.ends_with('/')) endpoint.base_path.pop_back();
  const bool known = endpoint.scheme == "http" || endpoint.scheme == "https";
  if (!known || endpoint.host.empty() || rest.find_first_of("?#@ ") != std::string_view::npos) {
    return Error(ErrorKind::kInvalidArgument, fmt::format("s3 endpoint '{}' is no address", Excerpt(text)))
        .WithRemedy("Write it as http://host:port or https://host.");
  }
  const std::string_view own_port = endpoint.encrypted() ? ":443" : ":80";
  if (endpoint.host.ends_with(own_port)) endpoint.host.resize(endpoint.host.size() - own_port.size());
  endpoint.path_style = path_style || NeedsPathStyle(endpoint.host);
  return endpoint;
}

Address AddressOf(const Endpoint& endpoint, const S3Location& location) {
  const std::string key = EncodedPath(location.key);
  if (endpoint.path_style || !IsHostLabel(location.bucket)) {
    const std::string slash = location.key.empty() ? "" : "/";
    return {endpoint.host, endpoint.base_path + "/" + PercentEncode(location.bucket) + slash + key};
  }
  return {location.bucket + "." + endpoint.host, endpoint.base_path + "/" + key};
}

}  // namespace firn::store::s3
