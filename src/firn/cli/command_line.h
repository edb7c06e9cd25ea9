#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "firn/cli/command.h"

namespace firn::cli {

/// The whole command line: global options, commands, groups of commands (`firn table list`). Parses, runs the
/// chosen command, prints usage and errors. Wrong usage is exit code 2.
class CommandLine {
 public:
  CommandLine();
  ~CommandLine();
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;

  void Add(std::unique_ptr<Command> command);
  void AddGroup(std::string_view name, std::string_view summary, Commands commands);

  ExitCode Run(int argc, const char* const* argv, Context& context);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace firn::cli
