#include "firn/store/s3/remote_signer.h"

#include <mutex>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "firn/http/sigv4/sigv4.h"

namespace firn::store::s3 {

namespace {

using nlohmann::json;

constexpr int64_t kKeptMs = 30'000;
constexpr size_t kMaxKept = 1000;

json HeadersJson(const http::HttpHeaders& headers, const std::string& host) {
  json out = {{"Host", json::array({host})}};
  for (const auto& [name, value] : headers) out[name].push_back(value);
  return out;
}

Error Refused(const std::string& url, const http::HttpResponse& answer) {
  const json body = json::parse(answer.body, nullptr, /*allow_exceptions=*/false);
  const json message = body.is_object() ? body.value(json::json_pointer("/error/message"), json()) : json();
  const std::string said = message.is_string() ? message.get<std::string>() : "no reason given";
  const bool later = answer.status >= 500 || answer.status == 429;
  return Error(later ? ErrorKind::kUnavailable : ErrorKind::kPermissionDenied,
               fmt::format("the catalog did not sign the request: {} (HTTP {} of {})", said, answer.status,
                           url))
      .WithHttpStatus(answer.status);
}

/// A list of values, or one. What libcurl makes itself is left to it.
void AddHeader(const std::string& name, const json& values, http::HttpHeaders* out) {
  for (const char* own : {"Host", "host", "Content-Length", "content-length", "Expect", "Connection"})
    if (name == own) return;
  if (values.is_string()) out->emplace_back(name, values.get<std::string>());
  if (!values.is_array()) return;
  for (const json& value : values)
    if (value.is_string()) out->emplace_back(name, value.get<std::string>());
}

Result<Signed> ParseAnswer(const std::string& text) {
  const json body = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!body.is_object() || !body.contains("uri") || !body["uri"].is_string() || !body.contains("headers") ||
      !body["headers"].is_object()) {
    return Error(ErrorKind::kCorrupt, "the catalog's answer to a sign request has no uri and headers");
  }
  Signed out;
  out.url = body["uri"].get<std::string>();
  for (const auto& [name, values] : body["headers"].items()) AddHeader(name, values, &out.headers);
  return out;
}

class RemoteSigner final : public RequestSigner {
 public:
  RemoteSigner(RemoteSignerOptions options, std::shared_ptr<http::HttpClient> http, runtime::Clock& clock)
      : options_(std::move(options)), http_(std::move(http)), clock_(clock) {}

  Result<Signed> Sign(const Unsigned& request) override {
    const bool reads = request.method == "GET" || request.method == "HEAD";
    std::string key = request.method + ' ' + request.host + request.target;
    for (const auto& [name, value] : request.headers) key += '\n' + name + ':' + value;
    if (reads) {
      if (auto kept = Kept(key)) return *std::move(kept);
    }
    FIRN_ASSIGN(const http::HttpResponse answer, Ask(request));
    FIRN_ASSIGN(Signed out, ParseAnswer(answer.body));
    if (reads && answer.header("cache-control").find("private") != std::string_view::npos)
      Keep(std::move(key), out);
    return out;
  }

  bool Reject(const std::string& /*access_key_id*/) override {
    const std::lock_guard lock(mutex_);
    kept_.clear();
    return true;
  }

 private:
  Result<http::HttpResponse> Ask(const Unsigned& request) {
    json body = {{"region", options_.region},
                 {"uri", request.scheme + "://" + request.host + request.target},
                 {"method", request.method},
                 {"headers", HeadersJson(request.headers, request.host)}};
    if (request.target.ends_with("?delete=")) body["body"] = std::string(request.body);
    const std::string text = body.dump(-1, ' ', false, json::error_handler_t::replace);
    http::HttpRequest ask{.method = "POST", .url = options_.url, .body = text};
    ask.headers = {{"content-type", "application/json"}};
    if (options_.headers) {
      FIRN_ASSIGN(const auto headers, options_.headers());
      for (const auto& [name, value] : headers) ask.headers.emplace_back(name, value);
    }
    Result<http::HttpResponse> answer = http_->Send(ask);
    if (!answer.ok()) return std::move(answer).error().WithRetry(RetryHint::kYes).WithContext("signing");
    if (answer->status != 200) return Refused(options_.url, *answer);
    return answer;
  }

  std::optional<Signed> Kept(const std::string& key) {
    const std::lock_guard lock(mutex_);
    const auto found = kept_.find(key);
    if (found == kept_.end() || found->second.first <= clock_.NowMs()) return std::nullopt;
    return found->second.second;
  }

  void Keep(std::string key, const Signed& answer) {
    const std::lock_guard lock(mutex_);
    if (kept_.size() >= kMaxKept) kept_.clear();
    kept_[std::move(key)] = {clock_.NowMs() + kKeptMs, answer};
  }

  const RemoteSignerOptions options_;
  const std::shared_ptr<http::HttpClient> http_;
  runtime::Clock& clock_;
  std::mutex mutex_;
  std::map<std::string, std::pair<int64_t, Signed>> kept_;  ///< until when, what
};

}  // namespace

std::unique_ptr<RequestSigner> MakeRemoteSigner(RemoteSignerOptions options,
                                                std::shared_ptr<http::HttpClient> http,
                                                runtime::Clock& clock) {
  return std::make_unique<RemoteSigner>(std::move(options), std::move(http), clock);
}

}  // namespace firn::store::s3
