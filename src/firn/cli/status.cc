#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "firn/cli/arguments.h"
#include "firn/cli/commands.h"
#include "firn/cli/config_files.h"
#include "firn/cli/json_output.h"
#include "firn/cli/services.h"
#include "firn/cli/status_json.h"
#include "firn/pipeline/config_reader.h"

namespace firn::cli {

namespace {

class StatusCommand final : public Command {
 public:
  std::string_view name() const override { return "status"; }
  std::string_view summary() const override {
    return "Pipelines of a running process: state, lag, freshness, last commit";
  }

  void Declare(Arguments& arguments) override {
    arguments.Option("--at", address_, "Its listen address (default: that of the pipeline file)")
        .Value("HOST:PORT");
    arguments
        .Option("-c,--config", files_,
                "Pipeline file with listen: (default: $FIRN_CONFIG, /etc/firn/firn.yaml)")
        .Value("FILE")
        .Repeated();
    arguments.Flag("--json", json_, "The answer as it is");
  }

  Result<ExitCode> Run(Context& context) override {
    FIRN_ASSIGN(const std::string address, Address(context));
    const std::string url = fmt::format("http://{}/status", address);
    Result<http::HttpResponse> response = context.services.http().Get(url);
    if (!response.ok()) {
      return Error(std::move(response).error())
          .WithContext("no status")
          .WithRemedy("Is 'firn run' running, with listen: in its file, at that address?");
    }
    if (response->status != 200)
      return Error(ErrorKind::kUnavailable, fmt::format("{} answers with status {}", url, response->status));
    const nlohmann::json body = nlohmann::json::parse(response->body, nullptr, false);
    FIRN_ASSIGN_CTX(const std::string text, StatusText(body, context.out.is_terminal()), url);
    if (json_) {
      PrintJson(context.out, body);
    } else {
      context.out.Write(text);
    }
    return ExitCode::kDone;
  }

 private:
  Result<std::string> Address(Context& context) const {
    if (!address_.empty()) return address_;
    FIRN_ASSIGN(const std::vector<std::string> paths, ConfigFiles(files_));
    FIRN_ASSIGN(const pipeline::PipelineFile file,
                pipeline::ReadPipelineFiles(paths, context.services.plugins()));
    if (file.listen) return *file.listen;
    return Error(ErrorKind::kInvalidArgument, fmt::format("{} has no listen:", fmt::join(paths, ", ")))
        .WithRemedy("Add 'listen: 127.0.0.1:8321' and restart the process, or give --at HOST:PORT.");
  }

  std::string address_;
  std::vector<std::string> files_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> MakeStatusCommand() { return std::make_unique<StatusCommand>(); }

}  // namespace firn::cli
