#include "firn/catalog/rest/session.h"

#include <strings.h>

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "firn/catalog/rest/error.h"
#include "firn/obs/log.h"
#include "firn/runtime/fault_point.h"

namespace firn::catalog::rest {

namespace {

constexpr int kServiceUnavailable = 503;

/// Whether the outcome of a try may be followed by another one. The error says how it went; `status` is that
/// of the answer, 0 without one.
bool MayRepeat(Repeat repeat, const Error& error, bool has_retry_after) {
  const int status = error.http_status();
  switch (repeat) {
    case Repeat::kCommit:
      return false;
    case Repeat::kChange:
      if (status == 0) return error.kind() == ErrorKind::kUnavailable;
      return status == 429 || (status == kServiceUnavailable && has_retry_after);
    case Repeat::kRead:
      return error.retry() == RetryHint::kYes || (status == 0 && error.kind() == ErrorKind::kIo);
  }
  return false;
}

Error WithHint(Error error, bool may_repeat) {
  return std::move(error).WithRetry(may_repeat ? RetryHint::kYes : RetryHint::kNo);
}

#ifdef FIRN_FAULT_POINTS
Status CommitSent() {
  FIRN_FAULT_POINT(commit_request_sent);
  return Ok();
}
#endif

}  // namespace

std::string Call::Name() const { return fmt::format("{} {}", method, url); }

Session::Session(iceberg::Properties headers, std::shared_ptr<Auth> auth, runtime::RetryPolicy policy,
                 SessionDeps deps)
    : headers_(std::move(headers)), auth_(std::move(auth)), policy_(policy), deps_(deps) {}

http::HttpRequest Session::Prepare(const Call& call) const {
  http::HttpRequest request{.method = std::string(call.method),
                            .url = call.url,
                            .headers = call.headers,
                            .body = call.body,
                            .at_most_once = call.repeat == Repeat::kCommit};
#ifdef FIRN_FAULT_POINTS
  if (request.at_most_once) request.on_sent = CommitSent;
#endif
  request.headers.emplace_back("Accept", "application/json");
  if (!call.body.empty()) request.headers.emplace_back("Content-Type", "application/json");
  for (const auto& [name, value] : headers_) {
    const auto same = [&wanted = name](const auto& header) {
      return ::strcasecmp(header.first.c_str(), wanted.c_str()) == 0;
    };
    std::erase_if(request.headers, same);  // what the user configured wins over what we would send
    request.headers.emplace_back(name, value);
  }
  return request;
}

Status Session::Authenticate(http::HttpRequest& request) {
  Status authenticated = auth_->Authenticate(request);
  if (authenticated.ok()) return authenticated;
  const ErrorKind kind = authenticated.error().kind();
  if (kind == ErrorKind::kPermissionDenied || kind == ErrorKind::kInvalidArgument) return authenticated;
  return Error(ErrorKind::kUnavailable,
               authenticated.error().ToString());  // whatever it was: nothing was sent
}

Result<http::HttpResponse> Session::Exchange(const Call& call) {
  http::HttpRequest request = Prepare(call);
  FIRN_TRY(Authenticate(request));
  auto response = deps_.http->Send(request);
  if (!response.ok() || !IsUnauthorized(response->status) || !auth_->Refused(request)) return response;
  http::HttpRequest again = Prepare(call);
  FIRN_TRY(Authenticate(again));
  return deps_.http->Send(again);
}

Result<http::HttpResponse> Session::Try(const Call& call, int64_t& retry_after_ms) {
  retry_after_ms = 0;
  auto response = Exchange(call);
  if (!response.ok()) return std::move(response).error().WithContext(call.Name());
  if (response->status / 100 == 2) return response;
  retry_after_ms = RetryAfterMs(*response, deps_.clock->NowMs());
  return ErrorOfAnswer(*response, call.Name());
}

Result<http::HttpResponse> Session::Send(const Call& call) {
  runtime::RetryState state(policy_, *deps_.clock, *deps_.ids);
  for (;;) {
    int64_t retry_after_ms = 0;
    auto response = Try(call, retry_after_ms);
    if (response.ok()) return response;
    const bool may_repeat = MayRepeat(call.repeat, response.error(), retry_after_ms > 0);
    const auto pause_ms = state.Next(WithHint(response.error(), may_repeat));
    if (!pause_ms) return response;
    const int64_t wait_ms = std::max(*pause_ms, std::min(retry_after_ms, policy_.max_elapsed_ms));
    obs::Log(obs::Level::kInfo, "catalog request is tried again",
             {{"error", response.error()}, {"wait_ms", wait_ms}});
    deps_.clock->SleepMs(wait_ms);
  }
}

Result<iceberg::Properties> Session::AuthHeaders(const std::string& url) {
  http::HttpRequest request = Prepare({.method = "POST", .url = url});
  request.headers.clear();
  FIRN_TRY(Authenticate(request));
  iceberg::Properties headers = headers_;
  for (const auto& [name, value] : request.headers) headers[name] = value;
  return headers;
}

}  // namespace firn::catalog::rest
