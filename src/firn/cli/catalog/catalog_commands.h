#pragma once

#include "firn/cli/command.h"

namespace firn::cli {

std::unique_ptr<Command> MakeCatalogNamespacesCommand();
std::unique_ptr<Command> MakeCatalogCreateNamespaceCommand();
std::unique_ptr<Command> MakeCatalogDropNamespaceCommand();
std::unique_ptr<Command> MakeCatalogPropertiesCommand();
std::unique_ptr<Command> MakeCatalogSetPropertiesCommand();
std::unique_ptr<Command> MakeCatalogUnsetPropertiesCommand();

/// `firn catalog ...`, in the order of its help.
Commands CatalogCommands();

}  // namespace firn::cli
