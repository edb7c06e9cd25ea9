#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace CLI {  // NOLINT(readability-identifier-naming): the name is the library's
class App;
class Option;
}  // namespace CLI

namespace firn::cli {

/// One declared argument, to say more about it.
class Argument {
 public:
  explicit Argument(CLI::Option* option) : option_(option) {}
  Argument& Required();
  /// What its value is called in the usage: `FILE`, `HOST:PORT`.
  Argument& Value(const std::string& name);
  /// Shown in the usage as what holds without it.
  Argument& Default(const std::string& value);
  /// Takes one value each time it is given, and may be given again.
  Argument& Repeated();

 private:
  CLI::Option* option_;
};

/// What a command takes. Names beginning with `-` are options, several separated by commas (`-c,--config`);
/// others are taken by place. The targets are filled when the line is parsed and must outlive it. The library
/// behind is included by a single file: it is what takes the longest to compile.
class Arguments {
 public:
  explicit Arguments(CLI::App& app) : app_(app) {}
  /// Leaves the command out of the list of commands.
  void Hide();
  void Flag(const std::string& names, bool& target, const std::string& help);
  Argument Option(const std::string& names, std::string& target, const std::string& help);
  Argument Option(const std::string& names, std::vector<std::string>& target, const std::string& help);
  Argument Option(const std::string& names, int& target, const std::string& help);
  Argument Option(const std::string& names, std::optional<int32_t>& target, const std::string& help);
  Argument Option(const std::string& names, std::optional<int64_t>& target, const std::string& help);
  Argument Option(const std::string& names, std::optional<std::string>& target, const std::string& help);

 private:
  CLI::App& app_;
};

}  // namespace firn::cli
