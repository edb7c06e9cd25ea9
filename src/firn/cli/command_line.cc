#include "firn/cli/command_line.h"

#include <map>
#include <span>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "firn/base/text_distance.h"
#include "firn/cli/arguments.h"
#include "firn/cli/log_options.h"

namespace firn::cli {

namespace {

constexpr std::string_view kFooter =
    "\nWhere a command needs a catalog and no file is given: -c FILE, then $FIRN_CONFIG, then "
    "/etc/firn/firn.yaml.\n"
    "Exit codes: 0 done, 1 failed while running, 2 the input is wrong, 3 stopped because going on would lose "
    "or double data.\n"
    "'firn help COMMAND' tells more about one command.";

/// Titles and hints in the words of this program.
class Usage final : public CLI::Formatter {
 public:
  Usage() { column_width(34); }
};

/// The argument that no command or option of `app` goes by, with the nearest one that exists.
std::string UnknownArgument(const CLI::App& app, const std::string& argument) {
  std::vector<std::string> known;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    known.push_back(command->get_name());
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
  }
  const std::string_view kind = argument.starts_with("-") ? "option" : "command or argument";
  std::string text = fmt::format("unknown {} '{}'", kind, argument);
  if (const std::optional<std::string> near = NearestName(argument, known))
    text += fmt::format(" (did you mean '{}'?)", *near);
  return text;
}

/// Null when there is none.
CLI::App* ChildNamed(CLI::App& app, const std::string& name) {
  for (CLI::App* child : app.get_subcommands([](CLI::App*) { return true; })) {
    if (child->get_name() == name) return child;
  }
  return nullptr;
}

/// The innermost command that the arguments named.
const CLI::App* Innermost(const CLI::App* app) {
  const std::vector<CLI::App*> parsed = app->get_subcommands();
  return parsed.empty() ? app : Innermost(parsed.back());
}

std::string FullName(const CLI::App& app) {
  const CLI::App* parent = app.get_parent();
  return parent == nullptr ? app.get_name() : FullName(*parent) + " " + app.get_name();
}

std::string HelpText(const CLI::App& app) {
  return app.help(app.get_parent() == nullptr ? "" : FullName(*app.get_parent()));
}

}  // namespace

struct CommandLine::State {
  CLI::App app{"Firn streams records from Kafka into Apache Iceberg tables, each record exactly once.",
               "firn"};
  std::vector<std::pair<CLI::App*, std::unique_ptr<Command>>> commands;
  LogOptions log;
  CLI::App* help = nullptr;
  std::vector<std::string> help_topic;

  CLI::App* Declare(CLI::App& parent, std::unique_ptr<Command> command) {
    CLI::App* declared = parent.add_subcommand(std::string(command->name()), std::string(command->summary()));
    declared->footer("");  // what holds for all commands stands in `firn help`
    Arguments arguments(*declared);
    command->Declare(arguments);
    commands.emplace_back(declared, std::move(command));
    return declared;
  }

  ExitCode WrongUsage(Context& context, const std::string& message) const {
    const CLI::App& command = *Innermost(&app);
    context.err.Write(fmt::format("firn: {}\nTry '{} --help'.\n", message, FullName(command)));
    return ExitCode::kUserError;
  }

  ExitCode ShowHelp(Context& context) {
    CLI::App* topic = &app;
    for (const std::string& word : help_topic) {
      CLI::App* next = ChildNamed(*topic, word);
      if (next == nullptr) return WrongUsage(context, UnknownArgument(*topic, word));
      topic = next;
    }
    context.out.Write(HelpText(*topic));
    return ExitCode::kDone;
  }

  ExitCode RunChosen(Context& context) {
    if (const Status status = ConfigureLogging(log); !status.ok())
      return WrongUsage(context, status.error().ToString());
    for (auto& [declared, command] : commands) {
      if (!declared->parsed()) continue;
      Result<ExitCode> code = command->Run(context);
      if (code.ok()) return *code;
      context.err.Write(fmt::format("firn: {}\n", code.error().ToString()));
      return ExitCodeOf(code.error());
    }
    return WrongUsage(context, "a command is missing");
  }

  ExitCode Explain(Context& context, const CLI::ParseError& error) {
    const CLI::App& command = *Innermost(&app);
    if (dynamic_cast<const CLI::CallForHelp*>(&error) != nullptr ||
        dynamic_cast<const CLI::CallForAllHelp*>(&error) != nullptr) {
      context.out.Write(HelpText(command));
      return ExitCode::kDone;
    }
    const std::vector<std::string> extra = app.remaining(true);
    if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr && !extra.empty()) {
      return WrongUsage(context, UnknownArgument(command, extra.front()));
    }
    return WrongUsage(context, error.what());
  }
};

CommandLine::CommandLine() : state_(std::make_unique<State>()) {
  CLI::App& app = state_->app;
  app.formatter(std::make_shared<Usage>());
  app.footer(std::string(kFooter));
  app.set_help_flag("-h,--help", "Show what there is and leave");
  app.fallthrough();
  app.require_subcommand(0, 1);  // a second command's name is an argument of the first: `firn help run`
  Arguments arguments(app);
  DeclareLogOptions(arguments, state_->log);
  state_->help = app.add_subcommand("help", "Explain a command");
  state_->help->footer("");
  state_->help->add_option("COMMAND", state_->help_topic, "As in 'firn help table read'");
}

CommandLine::~CommandLine() = default;

void CommandLine::Add(std::unique_ptr<Command> command) {
  state_->Declare(state_->app, std::move(command))->fallthrough();
}

void CommandLine::AddGroup(std::string_view name, std::string_view summary, Commands commands) {
  CLI::App* group = state_->app.add_subcommand(std::string(name), std::string(summary));
  group->footer("");
  group->fallthrough();
  group->require_subcommand(0, 1);
  for (std::unique_ptr<Command>& command : commands)
    state_->Declare(*group, std::move(command))->fallthrough();
}

ExitCode CommandLine::Run(int argc, const char* const* argv, Context& context) {
  if (argc <= 1) {
    context.out.Write(HelpText(state_->app));
    return ExitCode::kUserError;
  }
  try {
    state_->app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return state_->Explain(context, error);
  }
  return state_->help->parsed() ? state_->ShowHelp(context) : state_->RunChosen(context);
}

}  // namespace firn::cli
