#include "firn/cli/arguments.h"

#include <CLI/CLI.hpp>

namespace firn::cli {

Argument& Argument::Required() {
  option_->required();
  return *this;
}

Argument& Argument::Value(const std::string& name) {
  option_->type_name(name);
  return *this;
}

Argument& Argument::Default(const std::string& value) {
  option_->default_str(value);
  return *this;
}

Argument& Argument::Repeated() {
  option_->expected(1)->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  return *this;
}

void Arguments::Hide() { app_.group(""); }

void Arguments::Flag(const std::string& names, bool& target, const std::string& help) {
  app_.add_flag(names, target, help);
}

Argument Arguments::Option(const std::string& names, std::string& target, const std::string& help) {
  return Argument(app_.add_option(names, target, help));
}
Argument Arguments::Option(const std::string& names, std::vector<std::string>& target,
                           const std::string& help) {
  return Argument(app_.add_option(names, target, help));
}
Argument Arguments::Option(const std::string& names, int& target, const std::string& help) {
  return Argument(app_.add_option(names, target, help));
}
Argument Arguments::Option(const std::string& names, std::optional<int32_t>& target,
                           const std::string& help) {
  return Argument(app_.add_option(names, target, help));
}
Argument Arguments::Option(const std::string& names, std::optional<int64_t>& target,
                           const std::string& help) {
  return Argument(app_.add_option(names, target, help));
}
Argument Arguments::Option(const std::string& names, std::optional<std::string>& target,
                           const std::string& help) {
  return Argument(app_.add_option(names, target, help));
}

}  // namespace firn::cli
