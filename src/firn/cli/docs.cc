#include <fmt/format.h>

#include "firn/cli/arguments.h"
#include "firn/cli/commands.h"
#include "firn/cli/services.h"
#include "firn/pipeline/config_reader.h"

namespace firn::cli {

namespace {

class DocsCommand final : public Command {
 public:
  std::string_view name() const override { return "docs"; }
  std::string_view summary() const override { return "Reference pages out of the program itself"; }

  void Declare(Arguments& arguments) override {
    arguments.Hide();  // for those who write the documentation
    arguments.Option("PAGE", page_, "configuration").Required();
  }

  Result<ExitCode> Run(Context& context) override {
    if (page_ != "configuration")
      return Error(ErrorKind::kInvalidArgument, fmt::format("there is no page '{}'", page_))
          .WithRemedy("There is configuration.");
    context.out.Write(pipeline::ConfigurationReference(context.services.plugins()));
    return ExitCode::kDone;
  }

 private:
  std::string page_;
};

}  // namespace

std::unique_ptr<Command> MakeDocsCommand() { return std::make_unique<DocsCommand>(); }

}  // namespace firn::cli
