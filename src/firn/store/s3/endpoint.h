#pragma once

#include <string>
#include <string_view>

#include "firn/base/result.h"
#include "firn/store/s3/location.h"

namespace firn::store::s3 {

/// Where the requests of a bucket go.
struct Endpoint {
  std::string scheme = "https";
  std::string host;       ///< with the port where it is not the scheme's own, as the Host header has it
  std::string base_path;  ///< begins with a slash and ends without one, or is empty
  bool path_style = false;

  bool encrypted() const { return scheme == "https"; }
};

/// `http://host:port[/path]`; empty: AWS's of the region. Path style is taken without being asked for where a
/// bucket cannot be part of the host: IP addresses and localhost.
Result<Endpoint> ParseEndpoint(std::string_view text, std::string_view region, bool path_style);

/// One bucket or object at an endpoint.
struct Address {
  std::string host;
  std::string path;  ///< percent-encoded
};
Address AddressOf(const Endpoint& endpoint, const S3Location& location);

}  // namespace firn::store::s3
