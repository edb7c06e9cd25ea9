#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "firn/base/result.h"

namespace firn::http {

/// Where to listen: `127.0.0.1:8321`, `[::1]:8321`, `localhost:8321`; port 0 takes any free one.
struct ListenAddress {
  std::string host;
  uint16_t port = 0;
};
Result<ListenAddress> ParseListenAddress(std::string_view text);

struct Request {
  std::string method;  ///< "GET" or "HEAD"
  std::string path;    ///< decoded, without the query
  std::string query;   ///< as it was sent, without `?`
};

struct Response {
  int status = 200;
  std::string content_type = "text/plain; charset=utf-8";
  std::string body;
};

/// Runs on the server's thread: it must be quick, must not wait and must not throw.
using Handler = std::function<Response(const Request&)>;

struct ServerOptions {
  ListenAddress address;
  size_t max_connections = 64;  ///< further ones are closed at once
  int64_t timeout_ms = 10'000;  ///< for reading a request, writing an answer, and between two requests
  uint32_t max_header_bytes = 16 << 10;
  uint64_t max_body_bytes = 64 << 10;
};

/// A small HTTP/1.1 server for `/metrics`, `/health/*` and `/status`: GET and HEAD, exact paths, keep-alive,
/// one thread of its own. Listens when Start returns; the destructor closes all connections and joins.
/// Unknown paths get 404, other methods 405.
class Server {
 public:
  /// kInvalidArgument for an address that does not resolve, kAlreadyExists for a port that is taken,
  /// kPermissionDenied, kIo.
  static Result<std::unique_ptr<Server>> Start(ServerOptions options,
                                               std::map<std::string, Handler> handlers);

  virtual ~Server() = default;
  virtual uint16_t port() const = 0;  ///< the one that was taken, where 0 was asked for
  /// "http://127.0.0.1:8321"
  virtual std::string url() const = 0;
};

}  // namespace firn::http
