#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "firn/base/result.h"
#include "firn/cli/exit_code.h"
#include "firn/cli/output.h"

namespace firn::cli {

class Arguments;

class Services;

/// What a running command works with. All of it outlives the command.
struct Context {
  Services& services;
  Output& out;  ///< results
  Output& err;  ///< messages, live lines
};

/// One command of the command line: declares its options once, runs at most once.
class Command {
 public:
  virtual ~Command() = default;
  virtual std::string_view name() const = 0;
  virtual std::string_view summary() const = 0;  ///< one line of `firn help`
  virtual void Declare(Arguments& arguments) = 0;
  /// Ok: exit code 0. An Error is printed and decides the exit code (exit_code.h); a command with an answer
  /// of its own (several pipelines, a signal) returns the code.
  virtual Result<ExitCode> Run(Context& context) = 0;
};

using Commands = std::vector<std::unique_ptr<Command>>;

}  // namespace firn::cli
