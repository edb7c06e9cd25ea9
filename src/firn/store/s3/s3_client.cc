#include "firn/store/s3/s3_client.h"

#include <algorithm>
#include <charconv>

#include "firn/base/url.h"
#include "firn/obs/log.h"
#include "firn/store/s3/answers.h"
#include "firn/store/s3/errors.h"

namespace firn::store::s3 {

namespace {

constexpr int64_t kMaxRetryAfterMs = 60'000;
constexpr int64_t kBaseTimeoutMs = 60'000;
constexpr int kConflictStatus = 409;
constexpr int64_t kSlowestBytesPerMs = 64;  // 64 kB/s; what stands still ends earlier

int64_t RetryAfterMs(const http::HttpResponse& answer) {
  const std::string_view text = answer.header("retry-after");
  int64_t seconds = 0;
  std::from_chars(text.data(), text.data() + text.size(), seconds);  // a date instead of a number: 0
  return std::clamp<int64_t>(seconds, 0, kMaxRetryAfterMs / 1000) * 1000;
}

/// A request whose answer did not come may be repeated: all of ours are safe to. A certificate that is not
/// trusted, or an answer that cannot be kept, will be the same again.
Error OfTransport(Error error, const Call& call) {
  const ErrorKind kind = error.kind();
  const bool final = kind == ErrorKind::kInvalidArgument || kind == ErrorKind::kPermissionDenied ||
                     kind == ErrorKind::kResourceExhausted || kind == ErrorKind::kUnsupported ||
                     kind == ErrorKind::kInternal;
  if (!final) error = std::move(error).WithRetry(RetryHint::kYes);
  return std::move(error).WithContext("cannot " + std::string(call.action) + ' ' + call.location.ToString());
}

/// Whether the server may have done what was asked for although it does not say so: no answer, a success with
/// an error inside, or an error of the server that is not S3's word for "not now".
bool MayHaveDoneIt(const Result<http::HttpResponse>& answer) {
  if (!answer.ok()) {
    const ErrorKind kind = answer.error().kind();
    const bool never_sent = kind == ErrorKind::kUnavailable || kind == ErrorKind::kInvalidArgument ||
                            kind == ErrorKind::kPermissionDenied;
    return !never_sent;
  }
  constexpr int kNotImplemented = 501;
  constexpr int kSlowDown = 503;
  const int status = answer->status;
  return status / 100 == 2 || (status >= 500 && status != kNotImplemented && status != kSlowDown);
}

/// Says that a store does not answer as it should: nothing at first, then twice a minute.
class Patience {
 public:
  explicit Patience(runtime::Clock& clock)
      : clock_(clock), next_warning_ns_(clock.MonotonicNs() + kQuietNs) {}

  void Tell(const Error& error, int attempts, int64_t pause_ms) {
    const bool warn = clock_.MonotonicNs() >= next_warning_ns_;
    const obs::Level level = warn ? obs::Level::kWarning : obs::Level::kDebug;
    if (warn) next_warning_ns_ = clock_.MonotonicNs() + kBetweenNs;
    if (!obs::LogEnabled(level)) return;
    obs::Log(level, "S3 is asked again", {{"error", error}, {"attempts", attempts}, {"pause_ms", pause_ms}});
  }

 private:
  static constexpr int64_t kQuietNs = 5'000'000'000;
  static constexpr int64_t kBetweenNs = 30'000'000'000;

  runtime::Clock& clock_;
  int64_t next_warning_ns_;
};

}  // namespace

runtime::RetryPolicy DefaultRetryPolicy() {
  return {.max_attempts = 1000,
          .initial_backoff_ms = 200,
          .max_backoff_ms = 20'000,
          .multiplier = 2.0,
          .max_elapsed_ms = 10 * 60'000,
          .min_backoff_share = 0.0};
}

struct S3Client::Attempt {
  Result<http::HttpResponse> answer;
  std::string access_key_id = {};
  int64_t retry_after_ms = 0;
};

S3Client::S3Client(S3Config config, Endpoint endpoint, ClientDeps deps)
    : config_(std::move(config)), endpoint_(std::move(endpoint)), deps_(std::move(deps)) {
  FIRN_CHECK(deps_.http && deps_.signer && deps_.clock != nullptr && deps_.ids != nullptr,
             "an S3 client has all its dependencies");
}

http::HttpHeaders S3Client::ObjectHeaders() const {
  http::HttpHeaders headers;
  if (config_.encryption == Encryption::kS3) headers.emplace_back("x-amz-server-side-encryption", "AES256");
  if (config_.encryption == Encryption::kKms) headers.emplace_back("x-amz-server-side-encryption", "aws:kms");
  if (config_.encryption == Encryption::kDsseKms)
    headers.emplace_back("x-amz-server-side-encryption", "aws:kms:dsse");
  if (!config_.kms_key_id.empty() && headers.size() == 1 && config_.encryption != Encryption::kS3)
    headers.emplace_back("x-amz-server-side-encryption-aws-kms-key-id", config_.kms_key_id);
  if (!config_.storage_class.empty()) headers.emplace_back("x-amz-storage-class", config_.storage_class);
  return headers;
}

Unsigned S3Client::Prepare(const Call& call) const {
  Address address = AddressOf(endpoint_, call.location);
  std::string query;
  for (const auto& [name, value] : call.query)
    query += (query.empty() ? "?" : "&") + PercentEncode(name) + '=' + PercentEncode(value);
  return {call.method,          endpoint_.scheme, std::move(address.host),
          address.path + query, call.headers,     call.body};
}

int64_t S3Client::TimeoutMs(const Call& call) const {
  return kBaseTimeoutMs + (static_cast<int64_t>(call.body.size()) + call.expected_bytes) / kSlowestBytesPerMs;
}

S3Client::Attempt S3Client::TryOnce(const Call& call) {
  if (call.on_try) call.on_try();
  Result<Signed> prepared = deps_.signer->Sign(Prepare(call));
  if (!prepared.ok()) {
    return {std::move(prepared).error().WithContext("cannot " + std::string(call.action) + ' ' +
                                                    call.location.ToString())};
  }
  http::HttpRequest request{.method = call.method,
                            .url = std::move(prepared->url),
                            .headers = std::move(prepared->headers),
                            .body = call.body,
                            .timeout_ms = TimeoutMs(call),
                            .at_most_once = call.maybe_done != nullptr,
                            .on_body = call.on_body};
  Result<http::HttpResponse> answer = deps_.http->Send(request);
  if (call.maybe_done != nullptr && MayHaveDoneIt(answer)) *call.maybe_done = true;
  if (!answer.ok()) return {OfTransport(std::move(answer).error(), call), prepared->access_key_id};
  const bool failed = answer->status / 100 != 2 || (call.error_in_success && ParseServiceError(answer->body));
  if (!failed) return {std::move(answer), prepared->access_key_id};
  const std::string location = call.location.ToString();
  const ErrorContext context{call.action, location, config_.region, deps_.clock->NowMs()};
  Error error = ErrorOfAnswer(context, *answer);
  if (call.conflict_is_final && answer->status == kConflictStatus)
    error = std::move(error).WithRetry(RetryHint::kNo);
  return {std::move(error), prepared->access_key_id, RetryAfterMs(*answer)};
}

Result<http::HttpResponse> S3Client::Send(const Call& call) {
  runtime::RetryState retry(deps_.retry, *deps_.clock, *deps_.ids);
  Patience patience(*deps_.clock);
  bool renewed = false;
  while (true) {
    Attempt attempt = TryOnce(call);
    if (attempt.answer.ok()) return std::move(attempt.answer);
    const Error& error = attempt.answer.error();
    if (!renewed && SaysStaleKeys(error) && deps_.signer->Reject(attempt.access_key_id)) {
      renewed = true;
      continue;
    }
    const std::optional<int64_t> backoff_ms = retry.Next(error);
    if (!backoff_ms || deps_.stop.stop_requested()) return std::move(attempt.answer);
    const int64_t pause_ms = std::max(*backoff_ms, attempt.retry_after_ms);
    patience.Tell(error, retry.attempts(), pause_ms);
    if (!deps_.clock->SleepUnlessStopped(pause_ms, deps_.stop)) return std::move(attempt.answer);
  }
}

void S3Client::NoConditionalPut() {
  if (!conditional_put_.exchange(false)) return;
  obs::Log(obs::Level::kWarning,
           "this S3 cannot refuse to overwrite an object (If-None-Match); a look before each write has to do",
           {{"endpoint", endpoint_.host}});
}

void S3Client::NoConditionalComplete() {
  if (!conditional_complete_.exchange(false)) return;
  obs::Log(
      obs::Level::kWarning,
      "this S3 cannot refuse to overwrite an object at the end of a multipart upload (If-None-Match); a look "
      "before each has to do",
      {{"endpoint", endpoint_.host}});
}

}  // namespace firn::store::s3
