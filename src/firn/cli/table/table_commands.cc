#include "firn/cli/table/table_commands.h"

namespace firn::cli {

Commands TableCommands() {
  Commands commands;
  commands.push_back(MakeTableListCommand());
  commands.push_back(MakeTableShowCommand());
  commands.push_back(MakeTableReadCommand());
  commands.push_back(MakeTableSchemaCommand());
  commands.push_back(MakeTableSnapshotsCommand());
  commands.push_back(MakeTableHistoryCommand());
  commands.push_back(MakeTableFilesCommand());
  commands.push_back(MakeTableCreateCommand());
  commands.push_back(MakeTableDropCommand());
  commands.push_back(MakeTableRenameCommand());
  return commands;
}

}  // namespace firn::cli
