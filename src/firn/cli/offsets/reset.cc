#include <map>

#include <fmt/format.h>

#include "firn/cli/arguments.h"
#include "firn/cli/offsets/offsets_commands.h"
#include "firn/cli/offsets/order.h"

namespace firn::cli {

namespace {

using pipeline::PositionTarget;

class OffsetsReset final : public Command {
 public:
  std::string_view name() const override { return "reset"; }
  std::string_view summary() const override {
    return "Have a pipeline begin anew: at its configured start, or an end of the log";
  }

  void Declare(Arguments& arguments) override {
    access_.Declare(arguments);
    arguments
        .Option("--to", to_,
                "start: where starting_offsets or starting_timestamp says; earliest: the first record that "
                "is there; "
                "latest: behind the last")
        .Value("start|earliest|latest")
        .Default(to_);
    order_.Declare(arguments);
  }

  Result<ExitCode> Run(Context& context) override {
    static const std::map<std::string, PositionTarget::Kind> kKinds = {
        {"start", PositionTarget::Kind::kStart},
        {"earliest", PositionTarget::Kind::kEarliest},
        {"latest", PositionTarget::Kind::kLatest}};
    const auto kind = kKinds.find(to_);
    if (kind == kKinds.end()) {
      return Error(ErrorKind::kInvalidArgument, fmt::format("--to {}", to_))
          .WithRemedy("It is start, earliest or latest; 'firn offsets set' takes offsets, times and groups.");
    }
    PositionTarget target;
    target.kind = kind->second;
    target.topics = order_.topics;
    target.said = fmt::format("offsets reset --to {}", to_);
    FIRN_ASSIGN(const ChosenPipeline chosen, access_.Choose(context));
    return GiveOrder(context, chosen, target, order_);
  }

 private:
  PipelineAccess access_;
  std::string to_ = "start";
  OrderOptions order_;
};

}  // namespace

std::unique_ptr<Command> MakeOffsetsResetCommand() { return std::make_unique<OffsetsReset>(); }

}  // namespace firn::cli
