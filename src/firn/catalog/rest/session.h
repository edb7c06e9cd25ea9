#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "firn/base/result.h"
#include "firn/catalog/rest/auth.h"
#include "firn/catalog/rest/settings.h"
#include "firn/http/client/http_client.h"
#include "firn/runtime/clock.h"
#include "firn/runtime/ids.h"
#include "firn/runtime/retry.h"

namespace firn::catalog::rest {

/// Whether and when a request may be sent again.
enum class Repeat : uint8_t {
  kRead,    ///< changes nothing: after anything that may pass
  kChange,  ///< only where it was definitely not carried out: not sent, 429, 503 with Retry-After
  kCommit,  ///< never, and on a connection of its own; the committer decides
};

struct Call {
  std::string_view method = "GET";
  std::string url;
  std::string body = {};
  http::HttpHeaders headers = {};
  Repeat repeat = Repeat::kRead;
  std::string Name() const;  ///< for messages: method and address
};

struct SessionDeps {
  http::HttpClient* http = nullptr;
  runtime::Clock* clock = nullptr;
  runtime::IdSource* ids = nullptr;
};

/// Requests to one catalog: headers, authentication (renewed once when a request is refused with 401, which
/// says that it was not carried out), retries with back-off. Thread-safe.
class Session {
 public:
  Session(iceberg::Properties headers, std::shared_ptr<Auth> auth, runtime::RetryPolicy policy,
          SessionDeps deps);

  /// The answer of one try, whatever its status. kUnavailable and kPermissionDenied: nothing was sent.
  /// kTimeout, kIo and the rest: it may have been carried out.
  Result<http::HttpResponse> Exchange(const Call& call);
  /// A success (2xx), or the error that stays after all tries.
  Result<http::HttpResponse> Send(const Call& call);
  /// Headers that authenticate a request which another client sends (signing requests of a store).
  Result<iceberg::Properties> AuthHeaders(const std::string& url);

 private:
  http::HttpRequest Prepare(const Call& call) const;
  Status Authenticate(http::HttpRequest& request);
  Result<http::HttpResponse> Try(const Call& call, int64_t& retry_after_ms);

  iceberg::Properties headers_;
  std::shared_ptr<Auth> auth_;
  runtime::RetryPolicy policy_;
  SessionDeps deps_;
};

}  // namespace firn::catalog::rest
