#include <algorithm>
#include <map>
#include <tuple>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "firn/base/time.h"
#include "firn/cli/arguments.h"
#include "firn/cli/counted.h"
#include "firn/cli/dead_letters/dead_letter_commands.h"
#include "firn/cli/dead_letters/letters.h"
#include "firn/cli/json_output.h"
#include "firn/cli/text_table.h"

namespace firn::cli {

namespace {

/// Letters of one table, stage and reason.
struct Group {
  int64_t waiting = 0;
  int64_t replayed = 0;
  int64_t oldest_ms = 0;
  int64_t newest_ms = 0;

  void Add(const write::StoredLetter& stored, bool waits) {
    oldest_ms = waiting + replayed == 0 ? stored.arrival_ms : std::min(oldest_ms, stored.arrival_ms);
    newest_ms = std::max(newest_ms, stored.arrival_ms);
    ++(waits ? waiting : replayed);
  }
};
using Groups = std::map<std::tuple<std::string, std::string, std::string>, Group>;

class DeadLettersList final : public Command {
 public:
  std::string_view name() const override { return "list"; }
  std::string_view summary() const override { return "Letters of a pipeline by table, stage and reason"; }

  void Declare(Arguments& arguments) override {
    access_.Declare(arguments);
    arguments.Flag("--json", json_, "For programs");
  }

  Result<ExitCode> Run(Context& context) override {
    FIRN_ASSIGN(const ChosenPipeline chosen, access_.Choose(context));
    FIRN_ASSIGN(const auto table, LoadLetters(context, chosen));
    Groups groups;
    if (table) {
      FIRN_TRY(ForEachLetter(*table, /*payload=*/false, [&](const write::StoredLetter& stored, bool waits) {
        groups[{stored.letter.target_table, stored.letter.stage, stored.letter.reason}].Add(stored, waits);
        return Ok();
      }));
    }
    if (json_) {
      PrintAsJson(groups, chosen, context.out);
    } else {
      Print(groups, chosen, context.out);
    }
    return ExitCode::kDone;
  }

 private:
  static void PrintAsJson(const Groups& groups, const ChosenPipeline& chosen, Output& out) {
    nlohmann::json list = nlohmann::json::array();
    for (const auto& [key, group] : groups) {
      const auto& [table, stage, reason] = key;
      list.push_back({{"table", table},
                      {"stage", stage},
                      {"reason", reason},
                      {"waiting", group.waiting},
                      {"replayed", group.replayed},
                      {"oldest", FormatInstantMs(group.oldest_ms)},
                      {"newest", FormatInstantMs(group.newest_ms)}});
    }
    PrintJson(out, {{"dead-letter-table", chosen.config().dead_letters.table.ToString()},
                    {"letters", std::move(list)}});
  }

  static void Print(const Groups& groups, const ChosenPipeline& chosen, Output& out) {
    TextTable text({{"TABLE"},
                    {"STAGE"},
                    {"REASON"},
                    {"WAITING", Align::kRight},
                    {"REPLAYED", Align::kRight},
                    {"OLDEST"},
                    {"NEWEST"}});
    int64_t waiting = 0;
    for (const auto& [key, group] : groups) {
      const auto& [table, stage, reason] = key;
      waiting += group.waiting;
      text.AddRow({table.empty() ? "-" : table, stage, reason, std::to_string(group.waiting),
                   std::to_string(group.replayed), FormatInstantMs(group.oldest_ms),
                   FormatInstantMs(group.newest_ms)});
    }
    if (!text.empty()) text.PrintTo(out);
    out.Write(fmt::format("{} in {} for a replay\n",
                          waiting == 0 ? "no letter waits" : Counted(waiting, "letter") + " wait",
                          chosen.config().dead_letters.table.ToString()));
  }

  PipelineAccess access_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> MakeDeadLettersListCommand() { return std::make_unique<DeadLettersList>(); }

}  // namespace firn::cli
