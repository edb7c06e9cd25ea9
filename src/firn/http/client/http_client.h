#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "firn/base/result.h"

namespace firn::http {

struct HttpClientOptions {
  int64_t connect_timeout_ms = 5'000;
  int64_t timeout_ms = 30'000;  ///< of a whole exchange
  int64_t stall_timeout_ms =
      0;  ///< an exchange in which nothing moves for so long ends (whole seconds); 0: no bound
  int64_t max_body_bytes = int64_t{64} << 20;
  std::string ca_file = {};  ///< PEM bundle; empty: the system's
  bool use_proxy = true;     ///< false: http_proxy and its kin in the environment are not looked at
  std::string user_agent = "firn";
};

struct HttpResponse {
  int status = 0;
  std::vector<std::pair<std::string, std::string>> headers;  ///< of the final answer, names in lower case
  std::string body;
  /// The first header of this name (lower case); empty when there is none.
  std::string_view header(std::string_view name) const;
};

using HttpHeaders = std::vector<std::pair<std::string, std::string>>;

struct HttpRequest {
  std::string method = "GET";
  std::string url;
  HttpHeaders headers = {};
  std::string_view body = {};  ///< must live until Send returned
  int64_t timeout_ms = 0;      ///< of this exchange; 0: the client's
  /// On a connection of its own. A request on one that was kept open may be sent a second time when the
  /// server closes it without an answer: right for what can be repeated, wrong for a commit.
  bool at_most_once = false;
  /// Takes the body of a 2xx answer piece by piece in the place of HttpResponse::body; an error ends the
  /// exchange.
  std::function<Status(std::string_view)> on_body = {};
  /// Called once, when a request with a body has left as a whole. An error ends the exchange with kIo: the
  /// server has the request.
  std::function<Status()> on_sent = {};
};

/// Plain requests over HTTP and HTTPS (certificates are verified). Thread-safe. Redirects are not followed.
/// Any answer is a value, whatever its status. Errors: kInvalidArgument (no URL), kPermissionDenied (a
/// certificate that is not trusted), kUnavailable (no connection: nothing was sent), kTimeout and kIo (the
/// request may have reached the server), kResourceExhausted (a body above the limit; the request has reached
/// the server).
class HttpClient {
 public:
  virtual ~HttpClient() = default;
  virtual Result<HttpResponse> Send(const HttpRequest& request) = 0;
  Result<HttpResponse> Get(const std::string& url) { return Send({.url = url}); }
};

std::unique_ptr<HttpClient> MakeHttpClient(HttpClientOptions options);
/// libcurl's version and its TLS library, for `firn version`.
std::string CurlVersion();

}  // namespace firn::http
