#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace firn::test {

/// What a client asked. Names of headers are in lower case.
struct HttpAsked {
  std::string method;
  std::string target;  ///< path and query, as sent
  std::map<std::string, std::string> headers;
  std::string body;
  int connection = 0;  ///< counts from 1
};

/// An HTTP server on a free port of 127.0.0.1 that answers as a test's function says, byte by byte: also what
/// no real server would send. Each connection has a thread; the function is called by one of them at a time.
class ScriptedHttpServer {
 public:
  /// Empty text: the connection is closed without an answer. Nothing: it stays open and silent.
  using Answer = std::optional<std::string>;
  using Script = std::function<Answer(const HttpAsked&)>;

  explicit ScriptedHttpServer(Script script);
  ~ScriptedHttpServer();
  ScriptedHttpServer(const ScriptedHttpServer&) = delete;
  ScriptedHttpServer& operator=(const ScriptedHttpServer&) = delete;

  /// `http://127.0.0.1:<port>` + path.
  std::string Url(std::string_view path = "") const;
  std::vector<HttpAsked> asked() const;

  static std::string Json(int status, std::string_view body,
                          const std::vector<std::pair<std::string, std::string>>& headers = {});
  static std::string Text(int status, std::string_view content_type, std::string_view body,
                          const std::vector<std::pair<std::string, std::string>>& headers = {});

 private:
  void Accept();
  void Serve(int connection, int number);
  Answer Ask(const HttpAsked& asked);

  Script script_;
  int listener_;
  uint16_t port_ = 0;
  mutable std::mutex mutex_;
  std::vector<HttpAsked> asked_;
  std::vector<int> connections_;
  std::vector<std::thread> threads_;
  bool stopping_ = false;
  std::mutex script_mutex_;
  std::thread acceptor_;
};

}  // namespace firn::test
