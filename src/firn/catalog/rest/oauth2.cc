#include "firn/catalog/rest/oauth2.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <mutex>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "firn/base/bytes.h"
#include "firn/base/url.h"
#include "firn/catalog/rest/routes.h"
#include "firn/obs/log.h"

namespace firn::catalog::rest {

namespace {

constexpr int64_t kDefaultLifeMs = 3'600'000;
constexpr int64_t kMaxRefreshWindowMs = 300'000;
constexpr int64_t kNever = std::numeric_limits<int64_t>::max();
constexpr std::string_view kDefaultServer = "v1/oauth/tokens";
constexpr std::string_view kBearer = "Bearer ";

struct Token {
  std::string text;
  int64_t refresh_at_ms = kNever;
  int64_t ends_at_ms = kNever;
};

Token TokenUntil(std::string text, int64_t now_ms, int64_t ends_at_ms) {
  const int64_t window_ms = std::clamp<int64_t>((ends_at_ms - now_ms) / 10, 0, kMaxRefreshWindowMs);
  return {std::move(text), ends_at_ms - window_ms, ends_at_ms};
}

/// The form that buys a token; empty without a credential.
std::string FormOf(const RestSettings& settings) {
  const std::string credential = settings.Property("credential");
  if (credential.empty()) return {};
  std::vector<std::pair<std::string, std::string>> form = {{"grant_type", "client_credentials"}};
  const size_t colon = credential.find(':');
  if (colon != std::string::npos) form.emplace_back("client_id", credential.substr(0, colon));
  form.emplace_back("client_secret", colon == std::string::npos ? credential : credential.substr(colon + 1));
  form.emplace_back("scope", settings.Property("scope", "catalog"));
  for (const char* optional : {"audience", "resource"}) {
    if (auto value = settings.Property(optional); !value.empty())
      form.emplace_back(optional, std::move(value));
  }
  return FormEncodePairs(form);
}

int64_t LifeOf(const RestSettings& settings) {
  const std::string text = settings.Property("token-expires-in-ms");
  int64_t life_ms = 0;
  std::from_chars(text.data(), text.data() + text.size(), life_ms);
  return life_ms > 0 ? life_ms : kDefaultLifeMs;
}

class OAuth2 final : public Auth {
 public:
  OAuth2(const RestSettings& settings, const AuthDeps& deps)
      : server_(AbsoluteUrl(settings.uri, settings.Property("oauth2-server-uri", kDefaultServer))),
        form_(FormOf(settings)),
        headers_(server_.starts_with(settings.uri + "/") ? settings.headers : iceberg::Properties{}),
        default_life_ms_(LifeOf(settings)),
        http_(*deps.http),
        clock_(*deps.clock) {
    if (const std::string token = settings.Property("token"); !token.empty()) {
      token_ = TokenUntil(token, clock_.NowMs(), ExpiryOfJwtMs(token).value_or(kNever));
    }
  }

  Status Authenticate(http::HttpRequest& request) override {
    FIRN_ASSIGN(const std::string token, CurrentToken());
    request.headers.emplace_back("Authorization", std::string(kBearer) + token);
    return Ok();
  }

  bool Refused(const http::HttpRequest& request) override {
    if (form_.empty()) return false;
    const std::lock_guard lock(mutex_);
    for (const auto& [name, value] : request.headers) {
      // Another thread may have replaced the token since this request was made.
      if (name == "Authorization" && value == std::string(kBearer) + token_.text) token_ = {};
    }
    return true;
  }

 private:
  Result<std::string> CurrentToken() {
    const std::lock_guard lock(mutex_);
    const int64_t now_ms = clock_.NowMs();
    const bool usable = !token_.text.empty() && now_ms < token_.ends_at_ms;
    if (form_.empty() || (usable && now_ms < token_.refresh_at_ms)) return token_.text;
    Result<Token> fresh = Buy();
    if (fresh.ok()) {
      token_ = *std::move(fresh);
    } else if (usable) {
      obs::Log(obs::Level::kWarning, "token of the catalog could not be renewed, the old one is used on",
               {{"error", fresh.error()}});
      token_.refresh_at_ms = std::min(token_.ends_at_ms, now_ms + kMaxRefreshWindowMs / 10);
    } else {
      return std::move(fresh).error();
    }
    return token_.text;
  }

  Result<Token> Buy() {
    http::HttpRequest request{.method = "POST", .url = server_, .body = form_};
    request.headers = {{"Content-Type", "application/x-www-form-urlencoded"}, {"Accept", "application/json"}};
    for (const auto& [name, value] : headers_) request.headers.emplace_back(name, value);
    const std::string context = "token for the catalog";
    FIRN_ASSIGN_CTX(const http::HttpResponse response, Sent(request), context);
    if (response.status / 100 != 2) return Refusal(response).WithContext(context);
    auto answer = ParseTokenAnswer(response.body);
    if (!answer.ok()) {
      return Error(ErrorKind::kUnavailable, fmt::format("{} answered {} with {} that is no token", server_,
                                                        response.status, response.header("content-type")))
          .WithRemedy("Check oauth2-server-uri.")
          .WithContext(context);
    }
    return TokenOf(*std::move(answer));
  }

  /// Buying twice costs nothing, so a request whose answer is lost is as good as one that was not sent.
  Result<http::HttpResponse> Sent(const http::HttpRequest& request) {
    auto response = http_.Send(request);
    if (!response.ok()) return Error(ErrorKind::kUnavailable, response.error().ToString());
    return response;
  }

  Error Refusal(const http::HttpResponse& response) const {
    const std::string words = ParseTokenError(response.body).value_or("");
    const bool later = response.status == 429 || response.status == 408 || response.status >= 500;
    return Error(later ? ErrorKind::kUnavailable : ErrorKind::kPermissionDenied,
                 fmt::format("{} answered {}{}{}", server_, response.status, words.empty() ? "" : " ",
                             Excerpt(words, 300)))
        .WithHttpStatus(response.status)
        .WithRemedy(later ? "" : "Check credential, scope and oauth2-server-uri of the catalog.");
  }

  Token TokenOf(TokenAnswer answer) const {
    constexpr int64_t kMaxLifeS = int64_t{10} * 365 * 86'400;
    const int64_t now_ms = clock_.NowMs();
    int64_t ends_at_ms = now_ms + default_life_ms_;
    if (answer.expires_in_s.value_or(0) > 0) {
      ends_at_ms = now_ms + std::min(*answer.expires_in_s, kMaxLifeS) * 1000;
    } else if (const auto expiry_ms = ExpiryOfJwtMs(answer.access_token)) {
      ends_at_ms = *expiry_ms;
    }
    return TokenUntil(std::move(answer.access_token), now_ms, ends_at_ms);
  }

  const std::string server_;
  const std::string form_;             ///< holds the secret
  const iceberg::Properties headers_;  ///< the catalog's own, not for servers of others
  const int64_t default_life_ms_;
  http::HttpClient& http_;
  runtime::Clock& clock_;
  std::mutex mutex_;
  Token token_;
};

void WarnOfDefaultServer(const RestSettings& settings) {
  if (settings.properties.contains("oauth2-server-uri") || !settings.properties.contains("credential"))
    return;
  obs::Log(
      obs::Level::kInfo,
      "oauth2-server-uri is not set: the token is asked for at the catalog, which newer servers do not offer",
      {{"url", AbsoluteUrl(settings.uri, std::string(kDefaultServer))}});
}

}  // namespace

Result<std::unique_ptr<Auth>> MakeOAuth2(const RestSettings& settings, const AuthDeps& deps) {
  if (settings.Property("credential").empty() && settings.Property("token").empty()) {
    return Error(ErrorKind::kInvalidArgument, "OAuth2 without credential and token")
        .WithRemedy("Set credential: id:secret, or token.");
  }
  WarnOfDefaultServer(settings);
  return std::unique_ptr<Auth>(std::make_unique<OAuth2>(settings, deps));
}

}  // namespace firn::catalog::rest
