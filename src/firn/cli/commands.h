#pragma once

#include "firn/cli/command.h"

namespace firn::cli {

std::unique_ptr<Command> MakeVersionCommand();
std::unique_ptr<Command> MakeInitCommand();
std::unique_ptr<Command> MakeCheckCommand();
std::unique_ptr<Command> MakeRunCommand();
std::unique_ptr<Command> MakeStatusCommand();
std::unique_ptr<Command> MakeVerifyCommand();
/// `firn docs configuration`: prints the reference page of the pipeline file.
std::unique_ptr<Command> MakeDocsCommand();

}  // namespace firn::cli
