#include <algorithm>
#include <cctype>
#include <mutex>
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

/// One exchange: where libcurl's callbacks put what arrives.
struct Exchange {
  HttpResponse response;
  size_t max_body_bytes = 0;
  bool too_large = false;
};

size_t TakeBody(const char* data, size_t size, size_t count, void* target) {
  auto& exchange = *static_cast<Exchange*>(target);
  const size_t bytes = size * count;
  if (exchange.response.body.size() + bytes > exchange.max_body_bytes) {
    exchange.too_large = true;
    return 0;
  }
  exchange.response.body.append(data, bytes);
  return bytes;
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

ErrorKind KindOf(CURLcode code) {
  switch (code) {
    case CURLE_URL_MALFORMAT:
    case CURLE_UNSUPPORTED_PROTOCOL:
      return ErrorKind::kInvalidArgument;
    case CURLE_OPERATION_TIMEDOUT:
      return ErrorKind::kTimeout;
    default:
      return ErrorKind::kUnavailable;
  }
}

class CurlClient final : public HttpClient {
 public:
  explicit CurlClient(HttpClientOptions options) : options_(std::move(options)) {
    static std::once_flag once;
    std::call_once(once, [] { curl_global_init(CURL_GLOBAL_DEFAULT); });
  }

  Result<HttpResponse> Get(const std::string& url) override {
    const Easy handle(curl_easy_init());
    if (!handle) return Error(ErrorKind::kInternal, "libcurl gives no handle");
    Exchange exchange;
    exchange.max_body_bytes = static_cast<size_t>(options_.max_body_bytes);
    char detail[CURL_ERROR_SIZE] = "";
    Prepare(handle.get(), url, exchange, detail);
    const CURLcode code = curl_easy_perform(handle.get());
    if (exchange.too_large) {
      return Error(ErrorKind::kResourceExhausted,
                   fmt::format("the answer of {} is above {} bytes", url, options_.max_body_bytes));
    }
    if (code != CURLE_OK)
      return Error(KindOf(code),
                   fmt::format("{}: {}", url, detail[0] != '\0' ? detail : curl_easy_strerror(code)));
    long status = 0;
    curl_easy_getinfo(handle.get(), CURLINFO_RESPONSE_CODE, &status);
    exchange.response.status = static_cast<int>(status);
    return std::move(exchange.response);
  }

 private:
  void Prepare(CURL* handle, const std::string& url, Exchange& exchange, char* detail) const {
    curl_easy_setopt(handle, CURLOPT_URL, url.c_str());
    curl_easy_setopt(handle, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(handle, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(handle, CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(options_.connect_timeout_ms));
    curl_easy_setopt(handle, CURLOPT_TIMEOUT_MS, static_cast<long>(options_.timeout_ms));
    curl_easy_setopt(handle, CURLOPT_USERAGENT, options_.user_agent.c_str());
    curl_easy_setopt(handle, CURLOPT_ERRORBUFFER, detail);
    curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, &TakeBody);
    curl_easy_setopt(handle, CURLOPT_WRITEDATA, &exchange);
    curl_easy_setopt(handle, CURLOPT_HEADERFUNCTION, &TakeHeader);
    curl_easy_setopt(handle, CURLOPT_HEADERDATA, &exchange);
    if (!options_.use_proxy) curl_easy_setopt(handle, CURLOPT_PROXY, "");
    if (!options_.ca_file.empty()) curl_easy_setopt(handle, CURLOPT_CAINFO, options_.ca_file.c_str());
  }

  const HttpClientOptions options_;
};

}  // namespace

std::unique_ptr<HttpClient> MakeHttpClient(HttpClientOptions options) {
  return std::make_unique<CurlClient>(std::move(options));
}

std::string CurlVersion() {
  const curl_version_info_data* info = curl_version_info(CURLVERSION_NOW);
  return fmt::format("{} ({})", info->version, info->ssl_version != nullptr ? info->ssl_version : "no TLS");
}

}  // namespace firn::http
