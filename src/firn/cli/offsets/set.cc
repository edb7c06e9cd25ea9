#include <fmt/format.h>
#include <fmt/ranges.h>

#include "firn/cli/arguments.h"
#include "firn/cli/offsets/offsets_commands.h"
#include "firn/cli/offsets/order.h"
#include "firn/cli/table/table_text.h"

namespace firn::cli {

namespace {

using pipeline::PositionTarget;

class OffsetsSet final : public Command {
 public:
  std::string_view name() const override { return "set"; }
  std::string_view summary() const override {
    return "Have a pipeline go on elsewhere: by offset, time or group, or as the table says";
  }

  void Declare(Arguments& arguments) override {
    access_.Declare(arguments);
    arguments.Option("--offset", offsets_, "One partition; may be repeated")
        .Value("TOPIC:PARTITION=N")
        .Repeated();
    arguments.Option("--time", time_, "At the first records that are not older (2026-01-31T10:00:00Z)")
        .Value("TIME");
    arguments.Option("--group", group_, "Where this consumer group has committed").Value("GROUP");
    arguments
        .Option("--to", to_,
                "recorded: where the table's property says, after a rollback was meant; history: where the "
                "newest "
                "commit that is left in the table ended, so that what was rolled back is read again")
        .Value("recorded|history");
    order_.Declare(arguments);
  }

  Result<ExitCode> Run(Context& context) override {
    FIRN_ASSIGN(const PositionTarget target, Target());
    FIRN_ASSIGN(const ChosenPipeline chosen, access_.Choose(context));
    return GiveOrder(context, chosen, target, order_);
  }

 private:
  Result<PositionTarget> Target() const {
    const int ways = (offsets_.empty() ? 0 : 1) + (time_.empty() ? 0 : 1) + (group_.empty() ? 0 : 1) +
                     (to_.empty() ? 0 : 1);
    if (ways != 1) {
      return Error(ErrorKind::kInvalidArgument, "say where to go on in exactly one way")
          .WithRemedy("One of --offset, --time, --group and --to.");
    }
    PositionTarget target;
    target.topics = order_.topics;
    if (!offsets_.empty()) return ByOffsets(std::move(target));
    if (!time_.empty()) {
      target.kind = PositionTarget::Kind::kTime;
      FIRN_ASSIGN(target.time_ms, ParseInstantMs(time_));
      target.said = fmt::format("offsets set --time {}", time_);
      return target;
    }
    if (!group_.empty()) {
      target.kind = PositionTarget::Kind::kGroup;
      target.group = group_;
      target.said = fmt::format("offsets set --group {}", group_);
      return target;
    }
    return ByWord(std::move(target));
  }

  Result<PositionTarget> ByOffsets(PositionTarget target) const {
    target.kind = PositionTarget::Kind::kOffsets;
    for (const std::string& text : offsets_) {
      FIRN_ASSIGN(auto parsed, ParseOffsetArgument(text));
      if (!target.offsets.insert(std::move(parsed)).second)
        return Error(ErrorKind::kInvalidArgument,
                     fmt::format("--offset {}: the partition was named before", text));
    }
    target.said = fmt::format("offsets set --offset {}", fmt::join(offsets_, " "));
    return target;
  }

  Result<PositionTarget> ByWord(PositionTarget target) const {
    if (to_ != "recorded" && to_ != "history") {
      return Error(ErrorKind::kInvalidArgument, fmt::format("--to {}", to_))
          .WithRemedy("It is recorded or history; 'firn offsets reset' takes start, earliest and latest.");
    }
    target.kind = to_ == "recorded" ? PositionTarget::Kind::kRecorded : PositionTarget::Kind::kHistory;
    target.said = fmt::format("offsets set --to {}", to_);
    return target;
  }

  PipelineAccess access_;
  std::vector<std::string> offsets_;
  std::string time_;
  std::string group_;
  std::string to_;
  OrderOptions order_;
};

}  // namespace

std::unique_ptr<Command> MakeOffsetsSetCommand() { return std::make_unique<OffsetsSet>(); }

}  // namespace firn::cli
