#include <charconv>

#include "firn/base/bytes.h"
#include "firn/http/server/server.h"

namespace firn::http {

Result<ListenAddress> ParseListenAddress(std::string_view text) {
  const Error bad(ErrorKind::kInvalidArgument,
                  "\"" + Excerpt(text, 80) +
                      "\" is not an address to listen at: host:port, like 127.0.0.1:8321 or [::1]:8321");
  const size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return bad;
  std::string_view host = text.substr(0, colon);
  const std::string_view port = text.substr(colon + 1);
  if (host.starts_with('[') && host.ends_with(']')) {
    host = host.substr(1, host.size() - 2);
  } else if (host.find(':') != std::string_view::npos) {
    return bad;
  }
  ListenAddress address{std::string(host), 0};
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), address.port);
  if (host.empty() || error != std::errc() || end != port.data() + port.size()) return bad;
  return address;
}

}  // namespace firn::http
