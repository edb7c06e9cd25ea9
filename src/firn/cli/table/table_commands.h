#pragma once

#include "firn/cli/command.h"

namespace firn::cli {

std::unique_ptr<Command> MakeTableListCommand();
std::unique_ptr<Command> MakeTableShowCommand();
std::unique_ptr<Command> MakeTableFilesCommand();
std::unique_ptr<Command> MakeTableSnapshotsCommand();
std::unique_ptr<Command> MakeTableHistoryCommand();
std::unique_ptr<Command> MakeTableSchemaCommand();
std::unique_ptr<Command> MakeTableReadCommand();
std::unique_ptr<Command> MakeTableCreateCommand();
std::unique_ptr<Command> MakeTableDropCommand();
std::unique_ptr<Command> MakeTableRenameCommand();

/// `firn table ...`, in the order of its help.
Commands TableCommands();

}  // namespace firn::cli
