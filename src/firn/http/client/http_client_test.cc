#include "firn/http/client/http_client.h"

#include <string>
#include <thread>

#include <arpa/inet.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

namespace firn::http {
namespace {

/// Answers one connection on a free port with fixed bytes; keeps what was asked.
class OneAnswerServer {
 public:
  explicit OneAnswerServer(std::string answer)
      : answer_(std::move(answer)), listener_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
    EXPECT_EQ(::listen(listener_, 1), 0);
    socklen_t length = sizeof(address);
    EXPECT_EQ(::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &length), 0);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { Serve(); });
  }
  ~OneAnswerServer() {
    ::shutdown(listener_, SHUT_RDWR);
    thread_.join();
    ::close(listener_);
  }
  OneAnswerServer(const OneAnswerServer&) = delete;
  OneAnswerServer& operator=(const OneAnswerServer&) = delete;

  std::string Url(std::string_view path) const { return fmt::format("http://127.0.0.1:{}{}", port_, path); }
  const std::string& asked() const { return asked_; }

 private:
  void Serve() {
    const int connection = ::accept(listener_, nullptr, nullptr);
    if (connection < 0) return;
    char buffer[4096];
    while (asked_.find("\r\n\r\n") == std::string::npos) {
      const ssize_t got = ::read(connection, buffer, sizeof(buffer));
      if (got <= 0) break;
      asked_.append(buffer, static_cast<size_t>(got));
    }
    if (answer_.empty()) {
      static_cast<void>(
          ::read(connection, buffer, sizeof(buffer)));  // says nothing until the client gives up
    } else {
      EXPECT_EQ(::write(connection, answer_.data(), answer_.size()), static_cast<ssize_t>(answer_.size()));
    }
    ::close(connection);
  }

  const std::string answer_;
  const int listener_;
  uint16_t port_ = 0;
  std::string asked_;
  std::thread thread_;
};

TEST(HttpClient, GivesStatusHeadersAndBody) {
  OneAnswerServer server("HTTP/1.1 503 Busy\r\nX-Reason:  later \r\nContent-Length: 5\r\n\r\nhello");
  const Result<HttpResponse> response = MakeHttpClient({.use_proxy = false})->Get(server.Url("/status?x=1"));
  ASSERT_TRUE(response.ok()) << response.error().ToString();
  EXPECT_EQ(response->status, 503);
  EXPECT_EQ(response->body, "hello");
  EXPECT_EQ(response->headers.front(), (std::pair<std::string, std::string>("x-reason", "later")));
  EXPECT_TRUE(server.asked().starts_with("GET /status?x=1 HTTP/1.1\r\n")) << server.asked();
}

TEST(HttpClient, BodyAboveTheLimitIsAnError) {
  OneAnswerServer server("HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\nhello world");
  const Result<HttpResponse> response =
      MakeHttpClient({.max_body_bytes = 10, .use_proxy = false})->Get(server.Url("/"));
  ASSERT_FALSE(response.ok());
  EXPECT_EQ(response.error().kind(), ErrorKind::kResourceExhausted);
}

TEST(HttpClient, SilentServerTimesOut) {
  OneAnswerServer server("");
  const Result<HttpResponse> response =
      MakeHttpClient({.timeout_ms = 100, .use_proxy = false})->Get(server.Url("/"));
  ASSERT_FALSE(response.ok());
  EXPECT_EQ(response.error().kind(), ErrorKind::kTimeout);
}

TEST(HttpClient, NobodyListeningIsUnavailable) {
  std::string url;
  {
    OneAnswerServer server("x");
    url = server.Url("/");
  }
  const Result<HttpResponse> response = MakeHttpClient({.use_proxy = false})->Get(url);
  ASSERT_FALSE(response.ok());
  EXPECT_EQ(response.error().kind(), ErrorKind::kUnavailable);
}

TEST(HttpClient, OtherSchemesAreRefused) {
  const Result<HttpResponse> response = MakeHttpClient({.use_proxy = false})->Get("file:///etc/passwd");
  ASSERT_FALSE(response.ok());
  EXPECT_EQ(response.error().kind(), ErrorKind::kInvalidArgument);
}

}  // namespace
}  // namespace firn::http
