#include "firn/cli/dead_letters/dead_letter_commands.h"

namespace firn::cli {

Commands DeadLetterCommands() {
  Commands commands;
  commands.push_back(MakeDeadLettersListCommand());
  commands.push_back(MakeDeadLettersShowCommand());
  commands.push_back(MakeDeadLettersReplayCommand());
  return commands;
}

}  // namespace firn::cli
