#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "firn/cli/arguments.h"
#include "firn/cli/counted.h"
#include "firn/cli/dead_letters/dead_letter_commands.h"
#include "firn/cli/dead_letters/letters.h"
#include "firn/cli/json_output.h"
#include "firn/cli/services.h"
#include "firn/pipeline/letter_book.h"
#include "firn/pipeline/replay.h"
#include "firn/runtime/ids.h"

namespace firn::cli {

namespace {

class DeadLettersReplay final : public Command {
 public:
  std::string_view name() const override { return "replay"; }
  std::string_view summary() const override {
    return "Send the letters that wait through the pipeline again, each once, and mark them";
  }

  void Declare(Arguments& arguments) override {
    access_.Declare(arguments);
    arguments.Flag("--yes", yes_, "Do it; without, only tell how many wait");
    arguments.Flag("--json", json_, "For programs");
  }

  Result<ExitCode> Run(Context& context) override {
    FIRN_ASSIGN(const ChosenPipeline chosen, access_.Choose(context));
    FIRN_ASSIGN(const auto table, LoadLetters(context, chosen));
    if (!table || !yes_) return TellWaiting(context, table);
    pipeline::ReplayDeps deps;
    FIRN_ASSIGN(deps.dead_letter_catalog, chosen.Catalog(context, chosen.config().dead_letters.table));
    deps.make_pipeline = [&](const pipeline::PipelineSetup& setup) {
      return context.services.MakePipeline(chosen.file(), setup);
    };
    deps.clock = &context.services.clock();
    deps.ids = &runtime::SystemIds();
    const StopRequests requests = context.services.stop_requests();
    FIRN_ASSIGN(const pipeline::ReplayResult result,
                pipeline::ReplayDeadLetters(chosen.setup(), deps, requests.stop, requests.abort));
    Print(result, context.out);
    return ExitCode::kDone;
  }

 private:
  Result<ExitCode> TellWaiting(Context& context, const std::optional<iceberg::LoadedTable>& table) const {
    int64_t waiting = 0;
    if (table) {
      FIRN_TRY(ForEachLetter(*table, /*payload=*/false, [&](const write::StoredLetter&, bool waits) {
        waiting += waits ? 1 : 0;
        return Ok();
      }));
    }
    if (json_) {
      PrintJson(context.out, {{"outcome", "dry-run"}, {"waiting", waiting}});
    } else {
      context.out.Write(fmt::format("{} wait. Nothing was changed: give --yes to send them.\n",
                                    Counted(waiting, "letter")));
    }
    return ExitCode::kDone;
  }

  void Print(const pipeline::ReplayResult& result, Output& out) const {
    if (json_) {
      PrintJson(out, {{"outcome", "replayed"},
                      {"letters", result.letters},
                      {"bad-again", result.bad_again},
                      {"without-payload", result.without_payload},
                      {"resumed", result.resumed}});
      return;
    }
    out.Write(fmt::format("{} sent through the pipeline again", Counted(result.letters, "letter")));
    if (result.bad_again > 0)
      out.Write(fmt::format(", {} of them bad again and set aside anew", result.bad_again));
    out.Write(".\n");
    if (result.without_payload > 0) {
      out.Write(fmt::format("{} were kept without their bytes (payload: none) and cannot be sent.\n",
                            Counted(result.without_payload, "letter")));
    }
  }

  PipelineAccess access_;
  bool yes_ = false;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> MakeDeadLettersReplayCommand() { return std::make_unique<DeadLettersReplay>(); }

}  // namespace firn::cli
