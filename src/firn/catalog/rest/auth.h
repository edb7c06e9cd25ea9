#pragma once

#include <functional>
#include <memory>
#include <string>

#include "firn/base/result.h"
#include "firn/catalog/rest/settings.h"
#include "firn/http/client/http_client.h"
#include "firn/http/sigv4/sigv4.h"
#include "firn/runtime/clock.h"

namespace firn::catalog::rest {

/// Where the keys of a signature come from when none are configured: the AWS default chain.
using AwsCredentialsSource = std::function<Result<http::sigv4::Credentials>()>;

struct AuthDeps {
  http::HttpClient* http = nullptr;
  runtime::Clock* clock = nullptr;
  AwsCredentialsSource aws_credentials;  ///< may be empty
};

/// Authenticates requests. Thread-safe.
class Auth {
 public:
  virtual ~Auth() = default;
  /// Adds headers to a request that has all others. Errors are about getting a token or keys: nothing of the
  /// request was sent; a retry hint where the server of the tokens is not well.
  virtual Status Authenticate(http::HttpRequest& request) = 0;
  /// The server refused the request with 401. True when the next one will be authenticated anew.
  virtual bool Refused(const http::HttpRequest& request) = 0;
};

/// kInvalidArgument when the settings contradict each other.
Result<std::unique_ptr<Auth>> MakeAuth(const RestSettings& settings, const AuthDeps& deps);

}  // namespace firn::catalog::rest
