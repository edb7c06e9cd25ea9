#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "firn/base/version.h"
#include "firn/cli/arguments.h"
#include "firn/cli/commands.h"
#include "firn/cli/json_output.h"
#include "firn/cli/services.h"

namespace firn::cli {

namespace {

class VersionCommand final : public Command {
 public:
  std::string_view name() const override { return "version"; }
  std::string_view summary() const override { return "What this program is and what it is made of"; }

  void Declare(Arguments& arguments) override { arguments.Flag("--json", json_, "JSON, with every library"); }

  Result<ExitCode> Run(Context& context) override {
    if (json_) {
      PrintJsonOf(context);
    } else {
      PrintText(context);
    }
    return ExitCode::kDone;
  }

 private:
  static void PrintText(Context& context) {
    context.out.Write(fmt::format("firn {} ({})\n{} build, {}, build id {}\n", Version(), GitHash(),
                                  BuildType(), Compiler(), BuildId()));
    for (const LibraryVersion& library : context.services.Libraries()) {
      context.out.Write(fmt::format("  {:<14} {}\n", library.name, library.version));
    }
  }

  static void PrintJsonOf(Context& context) {
    nlohmann::json libraries = nlohmann::json::object();
    for (const LibraryVersion& library : context.services.Libraries())
      libraries[library.name] = library.version;
    PrintJson(context.out, {{"version", Version()},
                            {"git-hash", GitHash()},
                            {"build-id", BuildId()},
                            {"build-type", BuildType()},
                            {"compiler", Compiler()},
                            {"libraries", std::move(libraries)}});
  }

  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> MakeVersionCommand() { return std::make_unique<VersionCommand>(); }

}  // namespace firn::cli
