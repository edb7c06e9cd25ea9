#include "firn/http/server/server.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <stdexcept>
#include <thread>
#include <vector>

namespace firn::http {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

/// A plain blocking socket, so that the server is seen as any client sees it.
class Client {
 public:
  explicit Client(uint16_t port) : socket_(socket(AF_INET, SOCK_STREAM, 0)) {
    const timeval patience = {20, 0};
    setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    inet_pton(AF_INET, "127.0.0.1", &address.sin_addr);
    connected_ = connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0;
  }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;
  ~Client() { close(socket_); }

  bool connected() const { return connected_; }
  void Send(std::string_view text) const { send(socket_, text.data(), text.size(), MSG_NOSIGNAL); }
  /// Everything until the server closes.
  std::string ReadAll() const {
    std::string out;
    std::array<char, 4096> buffer{};
    for (ssize_t n = 0; (n = recv(socket_, buffer.data(), buffer.size(), 0)) > 0;)
      out.append(buffer.data(), static_cast<size_t>(n));
    return out;
  }
  /// Until `text` has arrived.
  std::string ReadTo(std::string_view text) const {
    std::string out;
    char c = 0;
    while (out.find(text) == std::string::npos && recv(socket_, &c, 1, 0) == 1) out += c;
    return out;
  }

 private:
  int socket_;
  bool connected_ = false;
};

class ServerTest : public testing::Test {
 protected:
  void Start(ServerOptions options = {}) {
    options.address = {"127.0.0.1", 0};
    auto server = Server::Start(
        options, {
                     {"/hello", [](const Request& r) { return Response{.body = "hello " + r.query}; }},
                     {"/json", [](const Request&) { return Response{503, "application/json", "{}"}; }},
                     {"/broken", [](const Request&) -> Response { throw std::runtime_error("oops"); }},
                     {"/large", [](const Request&) { return Response{.body = std::string(1 << 20, 'x')}; }},
                 });
    ASSERT_TRUE(server.ok()) << server.error().ToString();
    server_ = std::move(server).value();
  }
  std::string Exchange(std::string_view text) {
    const Client client(server_->port());
    EXPECT_TRUE(client.connected());
    client.Send(text);
    return client.ReadAll();
  }
  std::string Get(const std::string& target) {
    return Exchange("GET " + target + " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  }

  std::unique_ptr<Server> server_;
};

TEST_F(ServerTest, AnswersWithStatusTypeAndBody) {
  Start();
  EXPECT_EQ(server_->url(), "http://127.0.0.1:" + std::to_string(server_->port()));
  const std::string hello = Get("/hello?name=x%20y");
  EXPECT_THAT(hello, StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(hello, HasSubstr("Content-Type: text/plain; charset=utf-8\r\n"));
  EXPECT_THAT(hello, EndsWith("\r\n\r\nhello name=x%20y"));
  EXPECT_THAT(Get("/json"), StartsWith("HTTP/1.1 503 "));
  EXPECT_THAT(Get("/json"), HasSubstr("Content-Type: application/json\r\n"));
  EXPECT_THAT(Get("/%68ello"), EndsWith("hello "));
}

TEST_F(ServerTest, KeepsTheConnectionForTheNextRequest) {
  Start();
  const Client client(server_->port());
  client.Send("GET /hello?1 HTTP/1.1\r\nHost: x\r\n\r\nGET /hello?2 HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_THAT(client.ReadTo("hello 1"), HasSubstr("200 OK"));
  EXPECT_THAT(client.ReadTo("hello 2"), HasSubstr("200 OK"));
}

TEST_F(ServerTest, RefusesOtherPathsMethodsAndBrokenRequests) {
  Start();
  EXPECT_THAT(Get("/nothing"), StartsWith("HTTP/1.1 404 "));
  EXPECT_THAT(Get("/%zz"), StartsWith("HTTP/1.1 400 "));
  const std::string post =
      Exchange("POST /hello HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nConnection: close\r\n\r\nab");
  EXPECT_THAT(post, StartsWith("HTTP/1.1 405 "));
  EXPECT_THAT(post, HasSubstr("Allow: GET, HEAD\r\n"));
  EXPECT_THAT(Exchange("nonsense\r\n\r\n"), StartsWith("HTTP/1.1 400 "));
  EXPECT_THAT(Get("/broken"), StartsWith("HTTP/1.1 500 "));
  EXPECT_THAT(Get("/broken"), Not(HasSubstr("oops")));
}

TEST_F(ServerTest, HeadHasTheLengthButNoBody) {
  Start();
  const std::string answer = Exchange("HEAD /hello HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  EXPECT_THAT(answer, HasSubstr("Content-Length: 6\r\n"));
  EXPECT_THAT(answer, EndsWith("\r\n\r\n"));
}

TEST_F(ServerTest, SendsLargeBodiesWhole) {
  Start();
  const std::string answer = Get("/large");
  EXPECT_EQ(answer.size() - answer.find("\r\n\r\n") - 4, size_t{1} << 20);
}

TEST_F(ServerTest, LimitsHeaderAndBody) {
  Start({.max_header_bytes = 1024, .max_body_bytes = 100});
  EXPECT_THAT(Exchange("GET /hello HTTP/1.1\r\nX: " + std::string(2000, 'a') + "\r\n\r\n"),
              StartsWith("HTTP/1.1 431 "));
  EXPECT_THAT(Exchange("GET /hello HTTP/1.1\r\nContent-Length: 1000\r\n\r\n"), StartsWith("HTTP/1.1 413 "));
}

TEST_F(ServerTest, SlowClientsAreDisconnected) {
  Start({.timeout_ms = 100});
  const auto before = std::chrono::steady_clock::now();
  EXPECT_EQ(Exchange("GET /hel"), "");
  EXPECT_LT(std::chrono::steady_clock::now() - before, std::chrono::seconds(15));
}

TEST_F(ServerTest, ConnectionsBeyondTheLimitAreClosedAndTheLimitRecovers) {
  Start({.max_connections = 2});
  {
    const Client one(server_->port());
    const Client two(server_->port());
    for (const Client* client : {&one, &two}) {
      client->Send("GET /hello?x HTTP/1.1\r\nHost: x\r\n\r\n");
      EXPECT_THAT(client->ReadTo("hello x"), HasSubstr("200"));
    }
    EXPECT_EQ(Client(server_->port()).ReadAll(), "");
  }
  std::string answer;
  for (int i = 0; i < 100 && answer.empty(); ++i) {
    answer = Get("/hello");
    if (answer.empty()) std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  EXPECT_THAT(answer, HasSubstr("200 OK"));
}

TEST_F(ServerTest, StopsWithConnectionsOpen) {
  Start();
  const Client idle(server_->port());
  idle.Send("GET /hello HTTP/1.1\r\n");
  server_.reset();
  EXPECT_EQ(idle.ReadAll(), "");
}

TEST_F(ServerTest, TakenPortsAndUnknownHostsAreErrorsWithARemedy) {
  Start();
  const auto taken = Server::Start({.address = {"127.0.0.1", server_->port()}}, {});
  EXPECT_EQ(taken.error().kind(), ErrorKind::kAlreadyExists);
  EXPECT_THAT(taken.error().ToString(), HasSubstr("choose another one"));
  EXPECT_EQ(Server::Start({.address = {"no.such.host.invalid", 0}}, {}).error().kind(),
            ErrorKind::kInvalidArgument);
}

TEST_F(ServerTest, ServesManyClientsAtOnce) {
  Start();
  std::vector<std::jthread> clients;
  for (int c = 0; c < 4; ++c) {
    clients.emplace_back([this] {
      for (int i = 0; i < 50; ++i) EXPECT_THAT(Get("/hello?z"), EndsWith("hello z"));
    });
  }
}

TEST(ListenAddressTest, ReadsHostAndPort) {
  EXPECT_EQ(ParseListenAddress("127.0.0.1:8321")->port, 8321);
  EXPECT_EQ(ParseListenAddress("localhost:0")->host, "localhost");
  EXPECT_EQ(ParseListenAddress("[::1]:80")->host, "::1");
  for (const char* bad : {"", "8321", ":8321", "h:", "h:x", "h:65536", "h:-1", "::1:80", "h:80 "}) {
    EXPECT_FALSE(ParseListenAddress(bad).ok()) << bad;
  }
}

}  // namespace
}  // namespace firn::http
