#include "firn/cli/offsets/offsets_commands.h"

namespace firn::cli {

Commands OffsetsCommands() {
  Commands commands;
  commands.push_back(MakeOffsetsShowCommand());
  commands.push_back(MakeOffsetsSetCommand());
  commands.push_back(MakeOffsetsResetCommand());
  return commands;
}

}  // namespace firn::cli
