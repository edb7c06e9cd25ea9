#include <cstdlib>

#include <fmt/format.h>

#include "firn/base/units.h"
#include "firn/cli/arguments.h"
#include "firn/cli/commands.h"
#include "firn/cli/config_files.h"
#include "firn/cli/endpoint.h"
#include "firn/cli/progress.h"
#include "firn/cli/run_group.h"
#include "firn/cli/services.h"
#include "firn/obs/log.h"
#include "firn/pipeline/config_reader.h"

namespace firn::cli {

namespace {

constexpr int64_t kRefreshMs = 500;
constexpr int64_t kAbortGraceMs = 5'000;
constexpr int64_t kSampleRecords = 1'000;
constexpr int64_t kNsPerMs = 1'000'000;
constexpr int kSignalBase = 128;

/// 130 or 143; 1 when no signal asked for the end (an abort for another reason).
ExitCode InterruptedBy(int signal) {
  return signal == 0 ? ExitCode::kFailed : static_cast<ExitCode>(kSignalBase + signal);
}

class RunCommand final : public Command {
 public:
  std::string_view name() const override { return "run"; }
  std::string_view summary() const override { return "Run pipelines in the foreground until stopped"; }

  void Declare(Arguments& arguments) override {
    files_.Declare(arguments);
    arguments.Flag("--until-caught-up,--available-now", options_.until_caught_up,
                   "Commit everything that is there at the start, then leave");
    arguments.Flag("--dry-run", dry_run_,
                   "Read and decode a sample, show columns and first rows; write nothing");
    arguments.Flag("--first-run", options_.first_run,
                   "The table was dropped or made anew on purpose: begin as on a first run");
    arguments.Option("--adopt", options_.adopt, "Take over the progress of the pipeline with this id")
        .Value("OLD");
    arguments.Flag("--fail-fast", fail_fast_, "Stop everything as soon as one pipeline or table fails");
    arguments.Flag("--fail-on-dead-letters", options_.fail_on_dead_letters,
                   "Bounded runs: exit 1 when records went to dead letters");
    arguments
        .Option("--shutdown-timeout", shutdown_timeout_,
                "How long a stop may take to commit what is in flight")
        .Value("DURATION")
        .Default(shutdown_timeout_);
  }

  Result<ExitCode> Run(Context& context) override {
    FIRN_ASSIGN_CTX(options_.shutdown_timeout_ms, ParseDurationMs(shutdown_timeout_), "--shutdown-timeout");
    if (options_.fail_on_dead_letters && !options_.until_caught_up) {
      return Error(ErrorKind::kInvalidArgument, "--fail-on-dead-letters is for bounded runs")
          .WithRemedy("Add --until-caught-up.");
    }
    FIRN_ASSIGN(const std::vector<std::string> paths, ConfigFiles(files_.given()));
    FIRN_ASSIGN(const pipeline::PipelineFile file,
                pipeline::ReadPipelineFiles(paths, context.services.plugins()));
    if (file.pipelines.empty()) {
      return Error(ErrorKind::kInvalidArgument,
                   fmt::format("{}: there is no pipeline to run", fmt::join(paths, ", ")))
          .WithRemedy("Add one under pipelines:.");
    }
    if (!options_.adopt.empty() && file.pipelines.size() > 1) {
      return Error(ErrorKind::kInvalidArgument,
                   "--adopt takes over one pipeline's progress, and the files have several")
          .WithRemedy("Give a file with that pipeline alone.");
    }
    return dry_run_ ? DryRun(context, file) : RunAll(context, file);
  }

 private:
  static Result<ExitCode> DryRun(Context& context, const pipeline::PipelineFile& file) {
    for (const pipeline::PipelineSetup& setup : file.pipelines) {
      FIRN_ASSIGN_CTX(const std::string text, context.services.DryRun(file, setup, kSampleRecords),
                      "pipeline " + setup.config.id);
      context.out.Write(text + (text.ends_with('\n') ? "" : "\n"));
    }
    return ExitCode::kDone;
  }

  Result<ExitCode> RunAll(Context& context, const pipeline::PipelineFile& file) {
    const StopRequests requests = context.services.stop_requests();
    pipeline::RunOptions options = options_;
    options.fail_fast = fail_fast_;
    RunGroup group(context.services.clock(), options, fail_fast_, requests.stop, requests.abort);
    for (const pipeline::PipelineSetup& setup : file.pipelines) {
      FIRN_ASSIGN(const pipeline::CatalogSetup* catalog,
                  file.FindCatalog(setup.config.tables.front().name.catalog));
      group.Add(setup.config, context.services.MakePipeline(file, setup), catalog->name, catalog->warehouse);
    }
    std::unique_ptr<Endpoint> endpoint;
    if (file.listen) {
      FIRN_ASSIGN_CTX(
          endpoint, StartEndpoint(*file.listen, group, context.services.metrics(), context.services.clock()),
          "listen");
    }
    group.Start();
    const bool interrupted = Supervise(context, group, requests);
    std::vector<ExitCode> codes;
    for (const EndedPipeline& ended : group.Ended()) {
      context.out.Write(ClosingSummary(ended));
      codes.push_back(ExitCodeOf(ended.result.end));
    }
    const ExitCode gravest = Gravest(codes);
    return interrupted || gravest == ExitCode::kInterrupted ? InterruptedBy(context.services.stop_signal())
                                                            : gravest;
  }

  /// Shows progress until all have ended; true when they were cut off before what was in flight was
  /// committed.
  bool Supervise(Context& context, RunGroup& group, const StopRequests& requests) const {
    runtime::Clock& clock = context.services.clock();
    Progress progress;
    const bool live = context.err.is_terminal();
    int64_t stop_seen_ns = 0;
    int64_t abort_seen_ns = 0;
    while (!group.WaitFor(kRefreshMs)) {
      const int64_t now_ns = clock.MonotonicNs();
      if (group.stopping() && stop_seen_ns == 0) stop_seen_ns = now_ns;
      const bool late = stop_seen_ns != 0 && now_ns - stop_seen_ns > options_.shutdown_timeout_ms * kNsPerMs;
      if (abort_seen_ns == 0 && (late || requests.abort.stop_requested())) {
        abort_seen_ns = now_ns;
        context.services.RequestAbort();
      }
      if (abort_seen_ns != 0 && now_ns - abort_seen_ns > kAbortGraceMs * kNsPerMs) LeaveNow(context);
      if (live)
        obs::SetLiveText(progress.Text(group.Statuses(), now_ns, clock.NowMs(), context.err.width() - 1));
    }
    if (live) obs::SetLiveText("");
    return abort_seen_ns != 0 || requests.abort.stop_requested();
  }

  /// A call into a library does not come back: leaving is as safe as a crash, and a crash is safe.
  [[noreturn]] static void LeaveNow(Context& context) {
    context.err.Write(
        "firn: a pipeline does not end; leaving without it. What was in flight is read again at the next "
        "start.\n");
    Ignore(context.err.Flush());  // nobody is left to tell
    Ignore(context.out.Flush());
    std::_Exit(static_cast<int>(InterruptedBy(context.services.stop_signal())));
  }

  FileArguments files_;
  pipeline::RunOptions options_;
  std::string shutdown_timeout_ = "25s";
  bool dry_run_ = false;
  bool fail_fast_ = false;
};

}  // namespace

std::unique_ptr<Command> MakeRunCommand() { return std::make_unique<RunCommand>(); }

}  // namespace firn::cli
