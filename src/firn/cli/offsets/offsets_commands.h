#pragma once

#include "firn/cli/command.h"

namespace firn::cli {

std::unique_ptr<Command> MakeOffsetsShowCommand();
std::unique_ptr<Command> MakeOffsetsSetCommand();
std::unique_ptr<Command> MakeOffsetsResetCommand();

/// `firn offsets ...`, in the order of its help.
Commands OffsetsCommands();

}  // namespace firn::cli
