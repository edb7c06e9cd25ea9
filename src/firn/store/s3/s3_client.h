#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "firn/base/result.h"
#include "firn/http/client/http_client.h"
#include "firn/runtime/clock.h"
#include "firn/runtime/ids.h"
#include "firn/runtime/retry.h"
#include "firn/store/s3/config.h"
#include "firn/store/s3/endpoint.h"
#include "firn/store/s3/location.h"
#include "firn/store/s3/signer.h"

namespace firn::store::s3 {

/// One request of S3's REST API.
struct Call {
  std::string_view action;  ///< for messages: "write", "read" ...
  std::string method = "GET";
  S3Location location;
  std::vector<std::pair<std::string, std::string>> query = {};  ///< not encoded
  http::HttpHeaders headers = {};
  std::string_view body = {};  ///< lives until Send returned
  /// Gets the body of a success, from its beginning on every try; `on_try` is told before each.
  std::function<Status(std::string_view)> on_body = {};
  std::function<void()> on_try = {};
  int64_t expected_bytes = 0;      ///< of the answer, for the time it may take
  bool error_in_success = false;   ///< an answer 200 may hold an Error document (CompleteMultipartUpload)
  bool conflict_is_final = false;  ///< 409 says that another request won, which is what the caller asks for
  bool* maybe_done = nullptr;      ///< set when a try had no answer, or one that does not say what was done;
                                   ///< the tries then have connections of their own
};

/// What the client is made of; outlives it.
struct ClientDeps {
  std::shared_ptr<http::HttpClient> http;
  std::unique_ptr<RequestSigner> signer;
  runtime::Clock* clock = nullptr;
  runtime::IdSource* ids = nullptr;
  runtime::RetryPolicy retry;
  std::stop_token stop = {};  ///< requested: a failed request is not tried again
};

/// How long and how often a throttled or failing store is asked again: full jitter, ten minutes.
runtime::RetryPolicy DefaultRetryPolicy();

/// Sends signed requests to one S3. Tries again on 429, 5xx, timeouts and lost connections, with full-jitter
/// exponential back-off or as long as `Retry-After` says; once more with fresh keys when the old ones have
/// ended; never on other answers of 4xx. Thread-safe.
class S3Client {
 public:
  S3Client(S3Config config, Endpoint endpoint, ClientDeps deps);

  /// The answer of a success (2xx), or why there is none.
  Result<http::HttpResponse> Send(const Call& call);

  const S3Config& config() const { return config_; }
  runtime::IdSource& ids() { return *deps_.ids; }
  /// Headers of every new object: encryption and storage class.
  http::HttpHeaders ObjectHeaders() const;

  /// Whether `If-None-Match` is understood on this kind of request; assumed until the server says otherwise.
  bool conditional_put() const { return conditional_put_; }
  bool conditional_complete() const { return conditional_complete_; }
  void NoConditionalPut();
  void NoConditionalComplete();

 private:
  struct Attempt;
  Attempt TryOnce(const Call& call);
  Unsigned Prepare(const Call& call) const;
  int64_t TimeoutMs(const Call& call) const;

  const S3Config config_;
  const Endpoint endpoint_;
  ClientDeps deps_;
  std::atomic<bool> conditional_put_ = true;
  std::atomic<bool> conditional_complete_ = true;
};

}  // namespace firn::store::s3
