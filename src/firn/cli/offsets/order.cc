#include "firn/cli/offsets/order.h"

#include <charconv>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "firn/cli/arguments.h"
#include "firn/cli/json_output.h"
#include "firn/cli/services.h"
#include "firn/cli/text_table.h"
#include "firn/commit/committer.h"
#include "firn/runtime/ids.h"

namespace firn::cli {

namespace {

using pipeline::PlannedPositions;
using pipeline::PositionMove;

/// Whoever gives the order waits for it: no longer than this.
constexpr int64_t kRetryLimitMs = 60'000;

Error NotAnOffset(std::string_view text) {
  return Error(ErrorKind::kInvalidArgument, fmt::format("'{}' is no TOPIC:PARTITION=OFFSET", text))
      .WithRemedy("For example --offset orders:3=1200.");
}

template <typename T>
bool ParseNumber(std::string_view text, T& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} && end == text.data() + text.size() && number >= 0;
}

std::string Direction(const PositionMove& move) {
  if (!move.to) return "found anew: from its first record";
  if (!move.from) return "new";
  const int64_t distance = *move.to - *move.from;
  return distance > 0 ? fmt::format("{} skipped", distance) : fmt::format("{} read again", -distance);
}

std::string NumberText(const std::optional<int64_t>& number) {
  return number ? std::to_string(*number) : "-";
}

void Print(const PlannedPositions& planned, Output& out) {
  TextTable table({{"TOPIC"},
                   {"PARTITION", Align::kRight},
                   {"FROM", Align::kRight},
                   {"TO", Align::kRight},
                   {"POSITIONS"}});
  for (const PositionMove& move : planned.moves) {
    table.AddRow({move.partition.topic, std::to_string(move.partition.partition), NumberText(move.from),
                  NumberText(move.to), Direction(move)});
  }
  if (!table.empty()) table.PrintTo(out);
}

nlohmann::json AsJson(const PlannedPositions& planned, const std::string& outcome) {
  nlohmann::json moves = nlohmann::json::array();
  for (const PositionMove& move : planned.moves) {
    moves.push_back({{"topic", move.partition.topic},
                     {"partition", move.partition.partition},
                     {"from", move.from ? nlohmann::json(*move.from) : nlohmann::json()},
                     {"to", move.to ? nlohmann::json(*move.to) : nlohmann::json()}});
  }
  return {{"moves", std::move(moves)}, {"outcome", outcome}};
}

Result<int64_t> Commit(Context& context, const ChosenPipeline& chosen, const PlannedPositions& planned) {
  const pipeline::TableConfig& table = chosen.config().tables.front();
  FIRN_ASSIGN(auto catalog, chosen.Catalog(context, table.name));
  commit::CommitterConfig config;
  config.table = {table.name.ns, table.name.name};
  config.pipeline_id = chosen.config().id;
  config.branch = table.branch;
  config.retry_limit_ms = kRetryLimitMs;
  config.unknown_limit_ms = kRetryLimitMs;
  commit::Committer committer(catalog, config, context.services.clock(), runtime::SystemIds());
  commit::CommitOutcome outcome =
      committer.CommitOrder(planned.order, context.services.stop_requests().abort);
  if (const auto* done = std::get_if<commit::Committed>(&outcome)) return done->snapshot_id;
  if (const auto* done = std::get_if<commit::AlreadyCommitted>(&outcome)) return done->snapshot_id;
  if (auto* conflict = std::get_if<commit::ConflictExhausted>(&outcome)) return std::move(conflict->error);
  if (auto* rejected = std::get_if<commit::Rejected>(&outcome)) return std::move(rejected->error);
  return commit::StopOnUnknown(std::get<commit::UnknownOutcome>(outcome));
}

Result<PlannedPositions> Plan(Context& context, const ChosenPipeline& chosen,
                              const pipeline::PositionTarget& target) {
  FIRN_ASSIGN(const bool one_table, pipeline::HasOneTable(chosen.config()));
  if (!one_table) {
    return Error(ErrorKind::kUnsupported,
                 "positions of a pipeline of several tables are not set by this command: each of its tables "
                 "has its "
                 "own, and all are read from one bound")
        .WithDomain(ErrorDomain::kUser)
        .WithRemedy("Read the records in question again with a pipeline of one table and an id of its own.");
  }
  FIRN_ASSIGN(const iceberg::LoadedTable table, chosen.Load(context, chosen.config().tables.front().name));
  FIRN_ASSIGN(const auto source, chosen.OpenSource());
  auto planned = pipeline::PlanPositions(table, chosen.config(), *source, target);
  source->Close();
  return planned;
}

}  // namespace

void OrderOptions::Declare(Arguments& arguments) {
  arguments.Option("--topic", topics, "Only partitions of this topic; may be repeated")
      .Value("TOPIC")
      .Repeated();
  arguments.Flag("--yes", yes, "Do it; without, only show what would change");
  arguments.Flag("--json", json, "For programs");
}

Result<std::pair<record::SourcePartition, int64_t>> ParseOffsetArgument(std::string_view text) {
  const size_t equals = text.rfind('=');
  if (equals == std::string_view::npos) return NotAnOffset(text);
  const std::string_view place = text.substr(0, equals);
  const size_t colon = place.rfind(':');
  if (colon == std::string_view::npos || colon == 0) return NotAnOffset(text);
  record::SourcePartition partition{std::string(place.substr(0, colon)), 0};
  int64_t offset = 0;
  if (!ParseNumber(place.substr(colon + 1), partition.partition) ||
      !ParseNumber(text.substr(equals + 1), offset))
    return NotAnOffset(text);
  return std::pair{std::move(partition), offset};
}

Result<ExitCode> GiveOrder(Context& context, const ChosenPipeline& chosen,
                           const pipeline::PositionTarget& target, const OrderOptions& options) {
  FIRN_ASSIGN(const PlannedPositions planned, Plan(context, chosen, target));
  std::string outcome = "dry-run";
  std::string words = "Nothing was changed: give --yes to do it.";
  if (!planned.needed) {
    outcome = "nothing-to-do";
    words = "The pipeline goes on exactly there: nothing to do.";
  } else if (options.yes) {
    FIRN_ASSIGN_CTX(const int64_t snapshot, Commit(context, chosen, planned),
                    "table " + chosen.config().tables.front().name.ToString());
    outcome = "committed";
    words = fmt::format("Committed as snapshot {}.", snapshot);
  } else if (planned.moves.empty()) {
    words = "The numbers stay; the table as it is now would be accepted. " + words;
  }
  if (options.json) {
    PrintJson(context.out, AsJson(planned, outcome));
    return ExitCode::kDone;
  }
  Print(planned, context.out);
  context.out.Write(words + "\n");
  return ExitCode::kDone;
}

}  // namespace firn::cli
