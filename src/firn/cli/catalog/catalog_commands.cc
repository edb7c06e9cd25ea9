#include "firn/cli/catalog/catalog_commands.h"

namespace firn::cli {

Commands CatalogCommands() {
  Commands commands;
  commands.push_back(MakeCatalogNamespacesCommand());
  commands.push_back(MakeCatalogCreateNamespaceCommand());
  commands.push_back(MakeCatalogDropNamespaceCommand());
  commands.push_back(MakeCatalogPropertiesCommand());
  commands.push_back(MakeCatalogSetPropertiesCommand());
  commands.push_back(MakeCatalogUnsetPropertiesCommand());
  return commands;
}

}  // namespace firn::cli
