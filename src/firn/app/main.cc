#include <unistd.h>

#include <fmt/format.h>

#include "firn/app/program.h"
#include "firn/base/fatal.h"
#include "firn/cli/catalog/catalog_commands.h"
#include "firn/cli/command_line.h"
#include "firn/cli/commands.h"
#include "firn/cli/dead_letters/dead_letter_commands.h"
#include "firn/cli/offsets/offsets_commands.h"
#include "firn/cli/output.h"
#include "firn/cli/table/table_commands.h"
#include "firn/runtime/fault_point.h"
#include "firn/runtime/limits.h"
#include "firn/runtime/signals.h"

namespace {

firn::cli::ExitCode RunFirn(int argc, char** argv) {
  firn::app::Program program;
  firn::cli::FileOutput out(STDOUT_FILENO);
  firn::cli::FileOutput err(STDERR_FILENO);
  if (const firn::Status armed = firn::runtime::ArmFaultsFromEnvironment(); !armed.ok()) {
    err.Write(fmt::format("firn: {}\n", armed.error().ToString()));
    return firn::cli::ExitCodeOf(armed.error());
  }
  firn::cli::Context context{program, out, err};
  firn::cli::CommandLine line;
  line.Add(firn::cli::MakeInitCommand());
  line.Add(firn::cli::MakeCheckCommand());
  line.Add(firn::cli::MakeRunCommand());
  line.Add(firn::cli::MakeStatusCommand());
  line.Add(firn::cli::MakeVerifyCommand());
  line.AddGroup("offsets", "Where pipelines stand, and how to have them go on elsewhere",
                firn::cli::OffsetsCommands());
  line.AddGroup("dead-letters", "Records that were set aside: look at them, send them again",
                firn::cli::DeadLetterCommands());
  line.AddGroup("table", "Look at tables, make, rename and drop them", firn::cli::TableCommands());
  line.AddGroup("catalog", "Namespaces of a catalog and their properties", firn::cli::CatalogCommands());
  line.Add(firn::cli::MakeVersionCommand());
  line.Add(firn::cli::MakeDocsCommand());
  const firn::cli::ExitCode code = line.Run(argc, argv, context);
  const firn::Status written = out.Flush();
  if (written.ok() || code != firn::cli::ExitCode::kDone) return code;
  err.Write(fmt::format("firn: {}\n", written.error().ToString()));
  return firn::cli::ExitCodeOf(written.error());
}

}  // namespace

int main(int argc, char** argv) {
  firn::InstallFatalHandlers();
  firn::runtime::BlockStopSignals();
  // A limit that cannot be raised shows where files are opened; it is no reason not to run.
  firn::Ignore(firn::runtime::RaiseOpenFileLimit());
  return static_cast<int>(RunFirn(argc, argv));
}
