#include "firn/http/server/server.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>
#include <chrono>
#include <exception>
#include <optional>
#include <unordered_set>
#include <utility>

#include "firn/base/url.h"
#include "firn/base/version.h"
#include "firn/obs/log.h"
#include "firn/runtime/threads.h"

namespace firn::http {

namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
using tcp = asio::ip::tcp;
using boost::system::error_code;

using BeastRequest = beast::http::request<beast::http::string_body>;
using BeastResponse = beast::http::response<beast::http::string_body>;

Response Refusal(int status, std::string text) {
  return {status, "text/plain; charset=utf-8", std::move(text) + "\n"};
}

/// What all connections share; lives on the server's thread.
struct Site {
  ServerOptions options;
  std::map<std::string, Handler> handlers;
  size_t connections = 0;

  Response Answer(const BeastRequest& request) const {
    const std::string_view target(request.target().data(), request.target().size());
    const size_t mark = target.find('?');
    const Result<std::string> path = PercentDecode(target.substr(0, mark));
    if (!path.ok()) return Refusal(400, path.error().ToString());
    const auto handler = handlers.find(*path);
    if (handler == handlers.end()) return Refusal(404, "nothing here: " + *path);
    const bool known =
        request.method() == beast::http::verb::get || request.method() == beast::http::verb::head;
    if (!known) return Refusal(405, "only GET and HEAD are answered here");
    const std::string query(mark == std::string_view::npos ? std::string_view() : target.substr(mark + 1));
    return Call(handler->second, {std::string(request.method_string()), *path, query});
  }

  static Response Call(const Handler& handler, const Request& request) {
    try {
      return handler(request);
    } catch (const std::exception& e) {
      obs::Log(obs::Level::kError, "HTTP handler failed", {{"path", request.path}, {"error", e.what()}});
      return Refusal(500, "internal error");
    }
  }
};

/// One connection: reads a request, answers, reads the next. Owned by the callbacks in flight.
class Session : public std::enable_shared_from_this<Session> {
 public:
  Session(tcp::socket socket, Site& site) : stream_(std::move(socket)), site_(site) { ++site_.connections; }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session() { --site_.connections; }

  void Read() {
    parser_.emplace();
    parser_->header_limit(site_.options.max_header_bytes);
    parser_->body_limit(site_.options.max_body_bytes);
    stream_.expires_after(std::chrono::milliseconds(site_.options.timeout_ms));
    beast::http::async_read(stream_, buffer_, *parser_,
                            [self = shared_from_this()](error_code error, size_t) { self->OnRead(error); });
  }

 private:
  void OnRead(error_code error) {
    namespace http = beast::http;
    if (!error) {
      Write(site_.Answer(parser_->get()), parser_->get().keep_alive());
    } else if (error == http::error::body_limit) {
      Write(Refusal(413, "the body is too large"), false);
    } else if (error == http::error::header_limit || error == http::error::buffer_overflow) {
      Write(Refusal(431, "the header is too large"), false);
    } else if (error.category() == make_error_code(http::error::bad_method).category() &&
               error != http::error::end_of_stream && error != http::error::partial_message) {
      Write(Refusal(400, "not a valid HTTP request"), false);
    } else {
      Close();  // gone, or too slow
    }
  }

  void Write(Response answer, bool keep_alive) {
    response_ = {};
    response_.version(11);
    response_.result(static_cast<unsigned>(answer.status));
    response_.set(beast::http::field::server, "firn/" + std::string(Version()));
    response_.set(beast::http::field::content_type, answer.content_type);
    response_.set(beast::http::field::cache_control, "no-store");
    if (answer.status == 405) response_.set(beast::http::field::allow, "GET, HEAD");
    response_.keep_alive(keep_alive);
    response_.content_length(answer.body.size());
    const bool head = parser_->get().method() == beast::http::verb::head;
    if (!head) response_.body() = std::move(answer.body);
    stream_.expires_after(std::chrono::milliseconds(site_.options.timeout_ms));
    beast::http::async_write(stream_, response_,
                             [self = shared_from_this(), keep_alive](error_code error, size_t) {
                               self->OnWrite(error, keep_alive);
                             });
  }

  void OnWrite(error_code error, bool keep_alive) {
    if (error || !keep_alive) {
      Close();
    } else {
      Read();
    }
  }

  void Close() {
    error_code ignored;
    ignored = stream_.socket().shutdown(tcp::socket::shutdown_both, ignored);
    stream_.close();
  }

  beast::tcp_stream stream_;
  Site& site_;
  beast::flat_buffer buffer_;
  std::optional<beast::http::request_parser<beast::http::string_body>> parser_;
  BeastResponse response_;
};

Error ListenError(const ListenAddress& address, const error_code& error) {
  ErrorKind kind = ErrorKind::kIo;
  if (error == asio::error::address_in_use) kind = ErrorKind::kAlreadyExists;
  if (error == asio::error::access_denied) kind = ErrorKind::kPermissionDenied;
  if (error.category() == asio::error::get_netdb_category()) kind = ErrorKind::kInvalidArgument;
  return Error(kind, "cannot listen at " + address.host + ":" + std::to_string(address.port) + ": " +
                         error.message())
      .WithRemedy(kind == ErrorKind::kAlreadyExists
                      ? "Another process has this port: choose another one, or 0 for any."
                      : "");
}

class BeastServer final : public Server {
 public:
  BeastServer(ServerOptions options, std::map<std::string, Handler> handlers)
      : site_{std::move(options), std::move(handlers)}, acceptor_(io_), retry_(io_) {}

  ~BeastServer() override {
    io_.stop();
    if (thread_ != nullptr) thread_->Join();
  }

  Status Listen() {
    const auto& address = site_.options.address;
    try {
      tcp::resolver resolver(io_);
      const auto found = resolver.resolve(address.host, std::to_string(address.port), tcp::resolver::passive);
      acceptor_.open(found.begin()->endpoint().protocol());
      acceptor_.set_option(tcp::acceptor::reuse_address(true));
      acceptor_.bind(found.begin()->endpoint());
      acceptor_.listen(asio::socket_base::max_listen_connections);
      endpoint_ = acceptor_.local_endpoint();
    } catch (const boost::system::system_error& e) {
      return ListenError(address, e.code());
    }
    Accept();
    thread_ = runtime::SystemThreads().Start("http", [this] { io_.run(); });
    return Ok();
  }

  uint16_t port() const override { return endpoint_.port(); }
  std::string url() const override {
    const std::string host = endpoint_.address().to_string();
    return "http://" + (endpoint_.address().is_v6() ? "[" + host + "]" : host) + ":" + std::to_string(port());
  }

 private:
  void Accept() {
    acceptor_.async_accept(
        [this](error_code error, tcp::socket socket) { OnAccept(error, std::move(socket)); });
  }

  void OnAccept(const error_code& error, tcp::socket socket) {
    if (error) {  // out of descriptors: an immediate next try would spin
      log_.Log(obs::Level::kWarning, "cannot accept an HTTP connection", {{"error", error.message()}});
      retry_.expires_after(std::chrono::milliseconds(100));
      retry_.async_wait([this](const error_code&) { Accept(); });
      return;
    }
    if (site_.connections < site_.options.max_connections)
      std::make_shared<Session>(std::move(socket), site_)->Read();
    Accept();
  }

  Site site_;  ///< before io_, whose destruction ends the sessions
  asio::io_context io_{1};
  tcp::acceptor acceptor_;
  asio::steady_timer retry_;
  tcp::endpoint endpoint_;
  obs::RateLimitedLog log_{60'000};
  std::unique_ptr<runtime::Thread> thread_;
};

}  // namespace

Result<std::unique_ptr<Server>> Server::Start(ServerOptions options,
                                              std::map<std::string, Handler> handlers) {
  auto server = std::make_unique<BeastServer>(std::move(options), std::move(handlers));
  FIRN_TRY(server->Listen());
  return std::unique_ptr<Server>(std::move(server));
}

}  // namespace firn::http
