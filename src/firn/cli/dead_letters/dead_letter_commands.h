#pragma once

#include "firn/cli/command.h"

namespace firn::cli {

std::unique_ptr<Command> MakeDeadLettersListCommand();
std::unique_ptr<Command> MakeDeadLettersShowCommand();
std::unique_ptr<Command> MakeDeadLettersReplayCommand();

/// `firn dead-letters ...`, in the order of its help.
Commands DeadLetterCommands();

}  // namespace firn::cli
