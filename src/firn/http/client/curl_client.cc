#include <algorithm>
#include <cctype>
#include <mutex>
#include <optional>
#include <string_view>

#include <curl/curl.h>
#include <fmt/format.h>

#include "firn/http/client/http_client.h"

namespace firn::http {

namespace {

struct EasyDeleter {
  void operator()(CURL* handle) const { curl_easy_cleanup(handle); }
};
using Easy = std::unique_ptr<CURL, EasyDeleter>;

struct ListDeleter {
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};
using HeaderList = std::unique_ptr<curl_slist, ListDeleter>;

/// One exchange: where libcurl's callbacks put what arrives.
struct Exchange {
  CURL* handle = nullptr;
  const HttpRequest* request = nullptr;
  HttpResponse response;
  std::optional<Error> refused;  ///< what on_body or on_sent said
  size_t max_body_bytes = 0;
  bool too_large = false;
  bool sent = false;  ///< on_sent was called
};

int StatusOf(CURL* handle) {
  long status = 0;
  curl_easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &status);
  return static_cast<int>(status);
}

size_t TakeBody(const char* data, size_t size, size_t count, void* target) {
  auto& exchange = *static_cast<Exchange*>(target);
  const size_t bytes = size * count;
  if (exchange.request->on_body && StatusOf(exchange.handle) / 100 == 2) {
    if (Status taken = exchange.request->on_body({data, bytes}); !taken.ok()) {
      exchange.refused = taken.error();
      return 0;
    }
    return bytes;
  }
  if (exchange.response.body.size() + bytes > exchange.max_body_bytes) {
    exchange.too_large = true;
    return 0;
  }
  exchange.response.body.append(data, bytes);
  return bytes;
}

int TellWhenSent(void* target, curl_off_t /*down_total*/, curl_off_t /*down_now*/, curl_off_t up_total,
                 curl_off_t up_now) {
  auto& exchange = *static_cast<Exchange*>(target);
  if (exchange.sent || up_total == 0 || up_now < up_total) return 0;
  exchange.sent = true;
  const Status told = exchange.request->on_sent();
  if (told.ok()) return 0;
  exchange.refused = Error(ErrorKind::kIo, told.error().ToString());
  return 1;
}

std::string_view Trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r\n") - begin + 1);
}

size_t TakeHeader(const char* data, size_t size, size_t count, void* target) {
  auto& exchange = *static_cast<Exchange*>(target);
  const std::string_view line(data, size * count);
  if (line.starts_with("HTTP/")) exchange.response.headers.clear();  // an interim answer (100) came before
  const size_t colon = line.find(':');
  if (colon != std::string_view::npos) {
    std::string name(line.substr(0, colon));
    std::transform(name.begin(), name.end(), name.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    exchange.response.headers.emplace_back(std::move(name), std::string(Trimmed(line.substr(colon + 1))));
  }
  return line.size();
}

/// Whether something of the request has left, over all connections that were tried for it.
bool WasSent(CURL* handle) {
  long bytes = 0;
  curl_easy_getinfo(handle, CURLINFO_REQUEST_SIZE, &bytes);
  return bytes > 0;
}

ErrorKind KindOf(CURLcode code, bool was_sent) {
  if (code == CURLE_URL_MALFORMAT || code == CURLE_UNSUPPORTED_PROTOCOL) return ErrorKind::kInvalidArgument;
  if (code == CURLE_PEER_FAILED_VERIFICATION || code == CURLE_SSL_CACERT_BADFILE)
    return ErrorKind::kPermissionDenied;
  if (!was_sent) return ErrorKind::kUnavailable;
  return code == CURLE_OPERATION_TIMEDOUT ? ErrorKind::kTimeout : ErrorKind::kIo;
}

class CurlClient final : public HttpClient {
 public:
  explicit CurlClient(HttpClientOptions options) : options_(std::move(options)) {
    static std::once_flag once;
    std::call_once(once, [] { curl_global_init(CURL_GLOBAL_DEFAULT); });
  }

  Result<HttpResponse> Send(const HttpRequest& request) override {
    Easy handle = Take();
    if (!handle) return Error(ErrorKind::kInternal, "libcurl gives no handle");
    Exchange exchange;
    exchange.handle = handle.get();
    exchange.request = &request;
    exchange.max_body_bytes = static_cast<size_t>(options_.max_body_bytes);
    char detail[CURL_ERROR_SIZE] = "";
    Prepare(exchange, detail);
    const HeaderList headers = PrepareRequest(handle.get(), request);
    const CURLcode code = curl_easy_perform(handle.get());
    const int status = StatusOf(handle.get());
    const bool was_sent = WasSent(handle.get());
    GiveBack(std::move(handle));
    if (exchange.refused) return *std::move(exchange.refused);
    if (exchange.too_large) {
      return Error(ErrorKind::kResourceExhausted,
                   fmt::format("the answer of {} is above {} bytes", request.url, options_.max_body_bytes));
    }
    if (code != CURLE_OK)
      return Error(KindOf(code, was_sent),
                   fmt::format("{}: {}", request.url, detail[0] != '\0' ? detail : curl_easy_strerror(code)));
    exchange.response.status = status;
    return std::move(exchange.response);
  }

 private:
  static constexpr size_t kMaxIdleHandles = 64;

  /// Handles keep their connections open between requests.
  Easy Take() {
    const std::lock_guard lock(mutex_);
    if (idle_.empty()) return Easy(curl_easy_init());
    Easy handle = std::move(idle_.back());
    idle_.pop_back();
    return handle;
  }

  void GiveBack(Easy handle) {
    curl_easy_reset(handle.get());
    const std::lock_guard lock(mutex_);
    if (idle_.size() < kMaxIdleHandles) idle_.push_back(std::move(handle));
  }

  void Prepare(Exchange& exchange, char* detail) const {
    CURL* handle = exchange.handle;
    const int64_t timeout_ms =
        exchange.request->timeout_ms > 0 ? exchange.request->timeout_ms : options_.timeout_ms;
    curl_easy_setopt(handle, CURLOPT_URL, exchange.request->url.c_str());
    curl_easy_setopt(handle, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(handle, CURLOPT_PATH_AS_IS, 1L);
    curl_easy_setopt(handle, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(handle, CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(options_.connect_timeout_ms));
    curl_easy_setopt(handle, CURLOPT_TIMEOUT_MS, static_cast<long>(timeout_ms));
    if (options_.stall_timeout_ms > 0) {
      curl_easy_setopt(handle, CURLOPT_LOW_SPEED_LIMIT, 1L);
      curl_easy_setopt(handle, CURLOPT_LOW_SPEED_TIME,
                       static_cast<long>((options_.stall_timeout_ms + 999) / 1000));
    }
    curl_easy_setopt(handle, CURLOPT_USERAGENT, options_.user_agent.c_str());
    curl_easy_setopt(handle, CURLOPT_ERRORBUFFER, detail);
    curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, &TakeBody);
    curl_easy_setopt(handle, CURLOPT_WRITEDATA, &exchange);
    curl_easy_setopt(handle, CURLOPT_HEADERFUNCTION, &TakeHeader);
    curl_easy_setopt(handle, CURLOPT_HEADERDATA, &exchange);
    if (exchange.request->at_most_once) {
      curl_easy_setopt(handle, CURLOPT_FRESH_CONNECT, 1L);
      curl_easy_setopt(handle, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
    }
    if (exchange.request->on_sent) {
      curl_easy_setopt(handle, CURLOPT_NOPROGRESS, 0L);
      curl_easy_setopt(handle, CURLOPT_XFERINFOFUNCTION, &TellWhenSent);
      curl_easy_setopt(handle, CURLOPT_XFERINFODATA, &exchange);
    }
    if (!options_.use_proxy) curl_easy_setopt(handle, CURLOPT_PROXY, "");
    if (!options_.ca_file.empty()) curl_easy_setopt(handle, CURLOPT_CAINFO, options_.ca_file.c_str());
  }

  /// Method, headers and body. The list must live until the exchange is over.
  static HeaderList PrepareRequest(CURL* handle, const HttpRequest& request) {
    if (request.method == "HEAD") {
      curl_easy_setopt(handle, CURLOPT_NOBODY, 1L);
    } else if (request.method != "GET") {
      curl_easy_setopt(handle, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body.size()));
      curl_easy_setopt(handle, CURLOPT_POSTFIELDS, request.body.empty() ? "" : request.body.data());
      curl_easy_setopt(handle, CURLOPT_CUSTOMREQUEST, request.method.c_str());
    }
    curl_slist* list = nullptr;
    // Neither a wait for "100 Continue" nor a content type that nobody asked for.
    for (const char* none : {"Expect:", "Content-Type:"}) list = curl_slist_append(list, none);
    for (const auto& [name, value] : request.headers) {
      const std::string line = value.empty() ? name + ";" : fmt::format("{}: {}", name, value);
      list = curl_slist_append(list, line.c_str());
    }
    HeaderList headers(list);
    curl_easy_setopt(handle, CURLOPT_HTTPHEADER, headers.get());
    return headers;
  }

  const HttpClientOptions options_;
  std::mutex mutex_;
  std::vector<Easy> idle_;
};

}  // namespace

std::string_view HttpResponse::header(std::string_view name) const {
  for (const auto& [key, value] : headers)
    if (key == name) return value;
  return {};
}

std::unique_ptr<HttpClient> MakeHttpClient(HttpClientOptions options) {
  return std::make_unique<CurlClient>(std::move(options));
}

std::string CurlVersion() {
  const curl_version_info_data* info = curl_version_info(CURLVERSION_NOW);
  return fmt::format("{} ({})", info->version, info->ssl_version != nullptr ? info->ssl_version : "no TLS");
}

}  // namespace firn::http
