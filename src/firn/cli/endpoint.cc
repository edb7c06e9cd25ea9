#include "firn/cli/endpoint.h"

#include <map>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "firn/cli/status_json.h"
#include "firn/http/server/server.h"
#include "firn/obs/log.h"

namespace firn::cli {

namespace {

constexpr int kServiceUnavailable = 503;

class HttpEndpoint final : public Endpoint {
 public:
  explicit HttpEndpoint(std::unique_ptr<http::Server> server) : server_(std::move(server)) {}
  std::string url() const override { return server_->url(); }

 private:
  std::unique_ptr<http::Server> server_;
};

http::Response StatusResponse(const RunGroup& group, int64_t started_ms, int64_t now_ms) {
  const nlohmann::json body = StatusToJson(group.Statuses(), started_ms, now_ms);
  return {200, "application/json", body.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n"};
}

http::Response ReadyResponse(const RunGroup& group) {
  const Readiness readiness = ReadinessOf(group.Statuses());
  http::Response response;
  response.status = readiness.ready ? 200 : kServiceUnavailable;
  response.body = readiness.text;
  return response;
}

http::Response TextResponse(std::string content_type, std::string body) {
  return {200, std::move(content_type), std::move(body)};
}

}  // namespace

Readiness ReadinessOf(const std::vector<pipeline::PipelineStatus>& statuses) {
  Readiness readiness;
  for (const pipeline::PipelineStatus& status : statuses) {
    const bool failed = status.state == pipeline::PipelineState::kFailed;
    if (!failed && status.state != pipeline::PipelineState::kStarting) continue;
    readiness.ready = false;
    readiness.text += fmt::format("{}: {}{}{}\n", status.id, pipeline::ToString(status.state),
                                  status.reason.empty() ? "" : ": ", status.reason);
  }
  if (readiness.ready) readiness.text = "ready\n";
  return readiness;
}

Result<std::unique_ptr<Endpoint>> StartEndpoint(const std::string& listen, const RunGroup& group,
                                                obs::Metrics& metrics, const runtime::Clock& clock) {
  FIRN_ASSIGN(const http::ListenAddress address, http::ParseListenAddress(listen));
  const int64_t started_ms = clock.NowMs();
  const std::map<std::string, http::Handler> handlers = {
      {"/metrics",
       [&metrics](const http::Request&) {
         return TextResponse("text/plain; version=0.0.4; charset=utf-8", metrics.Render());
       }},
      {"/health/live",
       [](const http::Request&) { return TextResponse("text/plain; charset=utf-8", "alive\n"); }},
      {"/health/ready", [&group](const http::Request&) { return ReadyResponse(group); }},
      {"/status", [&group, &clock, started_ms](const http::Request&) {
         return StatusResponse(group, started_ms, clock.NowMs());
       }}};
  http::ServerOptions options;
  options.address = address;
  FIRN_ASSIGN(std::unique_ptr<http::Server> server, http::Server::Start(options, handlers));
  obs::Log(obs::Level::kInfo, "listening", {{"url", server->url()}});
  return std::unique_ptr<Endpoint>(std::make_unique<HttpEndpoint>(std::move(server)));
}

}  // namespace firn::cli
