#include "support/scripted_http_server.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <charconv>

namespace firn::test {

namespace {

constexpr std::string_view kEndOfHead = "\r\n\r\n";

std::string LowerCase(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return std::tolower(c); });
  return lower;
}

HttpAsked ParseHead(std::string_view head) {
  HttpAsked asked;
  size_t end = head.find("\r\n");
  std::string_view first = head.substr(0, end);
  const size_t space = first.find(' ');
  asked.method = first.substr(0, space);
  asked.target = first.substr(space + 1, first.rfind(' ') - space - 1);
  while (end != std::string_view::npos && end + 2 < head.size()) {
    head.remove_prefix(end + 2);
    end = head.find("\r\n");
    const std::string_view line = head.substr(0, end);
    const size_t colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    std::string_view value = line.substr(colon + 1);
    value.remove_prefix(std::min(value.find_first_not_of(' '), value.size()));
    asked.headers[LowerCase(line.substr(0, colon))] = value;
  }
  return asked;
}

size_t BodyLength(const HttpAsked& asked) {
  const auto length = asked.headers.find("content-length");
  size_t bytes = 0;
  if (length != asked.headers.end()) {
    const std::string& text = length->second;
    std::from_chars(text.data(), text.data() + text.size(), bytes);
  }
  return bytes;
}

/// The next request of a connection; nothing when the client closed it.
std::optional<HttpAsked> ReadRequest(int connection, std::string& buffer) {
  std::optional<HttpAsked> asked;
  size_t wanted = 0;
  for (;;) {
    const size_t head_end = buffer.find(kEndOfHead);
    if (!asked && head_end != std::string::npos) {
      asked = ParseHead(std::string_view(buffer).substr(0, head_end + 2));
      wanted = head_end + kEndOfHead.size() + BodyLength(*asked);
    }
    if (asked && buffer.size() >= wanted) {
      asked->body = buffer.substr(head_end + kEndOfHead.size(), wanted - head_end - kEndOfHead.size());
      buffer.erase(0, wanted);
      return asked;
    }
    char bytes[8192];
    const ssize_t got = ::read(connection, bytes, sizeof(bytes));
    if (got <= 0) return std::nullopt;
    buffer.append(bytes, static_cast<size_t>(got));
  }
}

void WriteAll(int connection, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(connection, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return;
    bytes.remove_prefix(static_cast<size_t>(sent));
  }
}

}  // namespace

ScriptedHttpServer::ScriptedHttpServer(Script script)
    : script_(std::move(script)), listener_(::socket(AF_INET, SOCK_STREAM, 0)) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(::bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  EXPECT_EQ(::listen(listener_, 16), 0);
  socklen_t length = sizeof(address);
  EXPECT_EQ(::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &length), 0);
  port_ = ntohs(address.sin_port);
  acceptor_ = std::thread([this] { Accept(); });
}

ScriptedHttpServer::~ScriptedHttpServer() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    for (const int connection : connections_) ::shutdown(connection, SHUT_RDWR);
  }
  ::shutdown(listener_, SHUT_RDWR);
  acceptor_.join();
  for (std::thread& thread : threads_) thread.join();
  for (const int connection : connections_) ::close(connection);
  ::close(listener_);
}

std::string ScriptedHttpServer::Url(std::string_view path) const {
  return fmt::format("http://127.0.0.1:{}{}", port_, path);
}

std::vector<HttpAsked> ScriptedHttpServer::asked() const {
  const std::lock_guard lock(mutex_);
  return asked_;
}

std::string ScriptedHttpServer::Json(int status, std::string_view body,
                                     const std::vector<std::pair<std::string, std::string>>& headers) {
  return Text(status, "application/json", body, headers);
}

std::string ScriptedHttpServer::Text(int status, std::string_view content_type, std::string_view body,
                                     const std::vector<std::pair<std::string, std::string>>& headers) {
  std::string answer = fmt::format("HTTP/1.1 {} Scripted\r\nContent-Type: {}\r\nContent-Length: {}\r\n",
                                   status, content_type, body.size());
  for (const auto& [name, value] : headers) answer += fmt::format("{}: {}\r\n", name, value);
  return answer + "\r\n" + std::string(body);
}

void ScriptedHttpServer::Accept() {
  for (;;) {
    const int connection = ::accept(listener_, nullptr, nullptr);
    if (connection < 0) return;
    const std::lock_guard lock(mutex_);
    connections_.push_back(connection);  // closed by the destructor, so that no number is used twice
    if (stopping_) return;
    const int number = static_cast<int>(connections_.size());
    threads_.emplace_back([this, connection, number] { Serve(connection, number); });
  }
}

void ScriptedHttpServer::Serve(int connection, int number) {
  std::string buffer;
  while (std::optional<HttpAsked> asked = ReadRequest(connection, buffer)) {
    asked->connection = number;
    const Answer answer = Ask(*asked);
    if (!answer) continue;
    if (answer->empty()) break;
    WriteAll(connection, *answer);
  }
  ::shutdown(connection, SHUT_RDWR);
}

ScriptedHttpServer::Answer ScriptedHttpServer::Ask(const HttpAsked& asked) {
  {
    const std::lock_guard lock(mutex_);
    asked_.push_back(asked);
  }
  const std::lock_guard lock(script_mutex_);
  return script_(asked);
}

}  // namespace firn::test
