#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "firn/cli/arguments.h"
#include "firn/cli/json_output.h"
#include "firn/cli/offsets/offsets_commands.h"
#include "firn/cli/pipeline_access.h"
#include "firn/cli/text_table.h"
#include "firn/pipeline/position_order.h"
#include "firn/pipeline/table_definition.h"

namespace firn::cli {

namespace {

using pipeline::PartitionStanding;
using pipeline::TableStanding;

std::string NumberText(const std::optional<int64_t>& number) {
  return number ? std::to_string(*number) : "-";
}

std::optional<int64_t> Lag(const PartitionStanding& partition) {
  if (!partition.end) return std::nullopt;
  return std::max<int64_t>(0, *partition.end - partition.position.value_or(partition.first.value_or(0)));
}

nlohmann::json NumberJson(const std::optional<int64_t>& number) {
  return number ? nlohmann::json(*number) : nlohmann::json();
}

nlohmann::json AsJson(const std::string& pipeline, const std::vector<TableStanding>& standings) {
  nlohmann::json tables = nlohmann::json::array();
  for (const TableStanding& standing : standings) {
    nlohmann::json partitions = nlohmann::json::array();
    for (const PartitionStanding& partition : standing.partitions) {
      partitions.push_back({{"topic", partition.partition.topic},
                            {"partition", partition.partition.partition},
                            {"position", NumberJson(partition.position)},
                            {"log-first", NumberJson(partition.first)},
                            {"log-end", NumberJson(partition.end)},
                            {"lag", NumberJson(Lag(partition))},
                            {"state", partition.state}});
    }
    tables.push_back({{"table", standing.table.empty() ? nlohmann::json() : nlohmann::json(standing.table)},
                      {"epoch", standing.epoch},
                      {"state", standing.state},
                      {"goes-on", standing.goes_on},
                      {"partitions", std::move(partitions)}});
  }
  return {{"pipeline", pipeline}, {"tables", std::move(tables)}};
}

void Print(const TableStanding& standing, Output& out) {
  const std::string name = standing.table.empty() ? "all tables" : fmt::format("table {}", standing.table);
  const std::string epoch = standing.epoch > 0 ? fmt::format(", epoch {}", standing.epoch) : "";
  out.Write(fmt::format("{}{}: {}{}\n", name, epoch, standing.goes_on ? "" : "STOPS: ", standing.state));
  TextTable table({{"TOPIC"},
                   {"PARTITION", Align::kRight},
                   {"POSITION", Align::kRight},
                   {"LOG FROM", Align::kRight},
                   {"LOG TO", Align::kRight},
                   {"LAG", Align::kRight},
                   {"STATE"}});
  for (const PartitionStanding& partition : standing.partitions) {
    table.AddRow({partition.partition.topic, std::to_string(partition.partition.partition),
                  NumberText(partition.position), NumberText(partition.first), NumberText(partition.end),
                  NumberText(Lag(partition)), partition.state});
  }
  if (!table.empty()) table.PrintTo(out);
}

class OffsetsShow final : public Command {
 public:
  std::string_view name() const override { return "show"; }
  std::string_view summary() const override {
    return "Where a pipeline stands in its tables, and in the log";
  }

  void Declare(Arguments& arguments) override {
    access_.Declare(arguments);
    arguments.Flag("--offline", offline_, "Do not ask the source");
    arguments.Flag("--json", json_, "For programs");
  }

  Result<ExitCode> Run(Context& context) override {
    FIRN_ASSIGN(const ChosenPipeline chosen, access_.Choose(context));
    std::unique_ptr<source::Source> source;
    if (!offline_) {
      FIRN_ASSIGN(source, chosen.OpenSource());
    }
    auto standings = Standings(context, chosen, source.get());
    if (source != nullptr) source->Close();
    if (!standings.ok()) return std::move(standings).error();
    if (json_) {
      PrintJson(context.out, AsJson(chosen.config().id, *standings));
    } else {
      for (const TableStanding& standing : *standings) Print(standing, context.out);
    }
    return ExitCode::kDone;
  }

 private:
  static Result<std::vector<TableStanding>> Standings(Context& context, const ChosenPipeline& chosen,
                                                      source::Source* source) {
    const pipeline::PipelineConfig& config = chosen.config();
    FIRN_ASSIGN(const bool one_table, pipeline::HasOneTable(config));
    if (one_table) {
      FIRN_ASSIGN(const iceberg::LoadedTable table, chosen.Load(context, config.tables.front().name));
      FIRN_ASSIGN(TableStanding standing, pipeline::StandingOf(table, config, source));
      return std::vector<TableStanding>{std::move(standing)};
    }
    FIRN_ASSIGN(const iceberg::LoadedTable control, chosen.Load(context, config.dead_letters.table));
    return pipeline::SharedStandings(control, config, source,
                                     [&](const std::string& name) -> Result<iceberg::LoadedTable> {
                                       FIRN_ASSIGN(const auto parsed, pipeline::ParseTableName(name));
                                       return chosen.Load(context, parsed);
                                     });
  }

  PipelineAccess access_;
  bool offline_ = false;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> MakeOffsetsShowCommand() { return std::make_unique<OffsetsShow>(); }

}  // namespace firn::cli
