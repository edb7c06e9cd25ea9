#include <algorithm>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "firn/cli/arguments.h"
#include "firn/cli/commands.h"
#include "firn/cli/config_files.h"
#include "firn/cli/counted.h"
#include "firn/cli/json_output.h"
#include "firn/cli/pipeline_access.h"
#include "firn/cli/services.h"
#include "firn/cli/table/catalog_access.h"
#include "firn/cli/text_table.h"
#include "firn/verify/verdict.h"

namespace firn::cli {

namespace {

using verify::Finding;
using verify::OffsetRange;
using verify::PartitionReport;

constexpr size_t kShown = 10;

std::string PlaceText(const PartitionReport& report) {
  return fmt::format("{}[{}]", report.partition.topic, report.partition.partition);
}

std::string RangeText(const OffsetRange& range) {
  return range.size() == 1 ? fmt::format("{}", range.from)
                           : fmt::format("{} to {}", range.from, range.to - 1);
}

void PrintFinding(const PartitionReport& report, std::string_view words, const Finding& finding,
                  Output& out) {
  if (finding.empty()) return;
  std::string listed;
  for (size_t i = 0; i < std::min(kShown, finding.listed.size()); ++i)
    listed += fmt::format("{}{}", i == 0 ? "" : ", ", RangeText(finding.listed[i]));
  const int64_t more = finding.ranges - static_cast<int64_t>(std::min(kShown, finding.listed.size()));
  if (more > 0) listed += fmt::format(" and {} more", Counted(more, "range"));
  out.Write(
      fmt::format("{}: {} {}: {}\n", PlaceText(report), Counted(finding.offsets, "offset"), words, listed));
}

nlohmann::json FindingJson(const Finding& finding) {
  nlohmann::json ranges = nlohmann::json::array();
  for (const OffsetRange& range : finding.listed) ranges.push_back({range.from, range.to});
  return {{"offsets", finding.offsets}, {"ranges", finding.ranges}, {"listed", std::move(ranges)}};
}

nlohmann::json ReportJson(const PartitionReport& report) {
  nlohmann::json json = {{"topic", report.partition.topic},
                         {"partition", report.partition.partition},
                         {"rows", report.rows},
                         {"first", report.rows > 0 ? nlohmann::json(report.first) : nlohmann::json()},
                         {"end", report.rows > 0 ? nlohmann::json(report.end) : nlohmann::json()},
                         {"holes", FindingJson(report.holes)},
                         {"tail", FindingJson(report.tail)},
                         {"unproven", FindingJson(report.unproven)},
                         {"repeated", FindingJson(report.repeated)},
                         {"repeated-rows", report.repeated_rows},
                         {"dead-letters", report.dead_letters},
                         {"tombstones", report.tombstones},
                         {"waiting", report.waiting}};
  if (report.log) {
    json["log-first"] = report.log->first;
    json["log-end"] = report.log->end.value_or(report.log->first);
  }
  return json;
}

class VerifyCommand final : public Command {
 public:
  std::string_view name() const override { return "verify"; }
  std::string_view summary() const override {
    return "Holes, repeats and missing ranges of a table that keeps topic, partition and offset";
  }

  void Declare(Arguments& arguments) override {
    access_.Declare(arguments);
    arguments.Option("TABLE", tables_, "catalog.namespace.table; several are looked at as one").Required();
    arguments
        .Option("--pipeline", pipeline_,
                "Pipeline of the files: its source is asked, its dead letters are accounted for")
        .Value("ID");
    arguments.Option("--topic-column", columns_.topic, "Default: _kafka.topic, topic or kafka_topic")
        .Value("COLUMN");
    arguments.Option("--partition-column", columns_.partition, "Likewise").Value("COLUMN");
    arguments.Option("--offset-column", columns_.offset, "Likewise").Value("COLUMN");
    arguments.Option("--topic", columns_.topic_name, "The topic of all rows, where no column tells")
        .Value("TOPIC");
    arguments.Option("--branch", branch_, "Branch to look at").Value("NAME").Default(branch_);
    arguments.Flag("--from-log-start", from_log_start_,
                   "What the log holds before the table's first row is missing as well");
    arguments.Flag("--only-provable", only_provable_,
                   "Let pass what is missing where the log no longer tells whether there was a record");
    arguments.Flag("--json", json_, "For programs");
  }

  Result<ExitCode> Run(Context& context) override {
    FIRN_TRY(CheckArguments());
    verify::TableOffsets rows;
    verify::TableOffsets letters;
    verify::VerifyFacts facts;
    facts.rows = &rows;
    facts.letters = &letters;
    facts.from_log_start = from_log_start_;
    std::optional<ChosenPipeline> chosen;
    if (!pipeline_.empty()) {
      FIRN_ASSIGN(chosen, ChoosePipeline(context, access_.files(), pipeline_));
    }
    FIRN_TRY(ReadTables(context, chosen, rows, facts));
    if (chosen) FIRN_TRY(ReadLetters(context, *chosen, letters));
    FIRN_ASSIGN(const auto reports, Reports(context, chosen, facts));
    const bool clean = rows.rows_without_position == 0 &&
                       std::ranges::all_of(reports, [this](const auto& report) { return Passes(report); });
    if (json_) {
      PrintAsJson(rows, reports, clean, context.out);
    } else {
      Print(rows, reports, clean, context.out);
    }
    return clean ? ExitCode::kDone : ExitCode::kFailed;
  }

 private:
  Status CheckArguments() const {
    if (!columns_.topic.empty() && !columns_.topic_name.empty())
      return Error(ErrorKind::kInvalidArgument, "--topic and --topic-column exclude each other");
    if (from_log_start_ && pipeline_.empty())
      return Error(ErrorKind::kInvalidArgument, "--from-log-start needs a log to look at")
          .WithRemedy("Name a pipeline that reads it: --pipeline ID.");
    return Ok();
  }

  Status ReadTables(Context& context, const std::optional<ChosenPipeline>& chosen, verify::TableOffsets& rows,
                    verify::VerifyFacts& facts) {
    for (const std::string& name : tables_) {
      FIRN_ASSIGN(const iceberg::LoadedTable table, access_.LoadTable(context, name));
      FIRN_ASSIGN_CTX(const auto columns, verify::FindPositionColumns(*table.metadata->schema(), columns_),
                      "table " + name);
      FIRN_ASSIGN_CTX(const auto expected,
                      verify::ExpectationsOf(*table.metadata, chosen ? chosen->config().id : "", branch_),
                      "table " + name);
      verify::MergeExpectations(facts.expected, expected);
      const Status added =
          verify::AddOffsets(table, columns, branch_ == iceberg::kMainBranch ? "" : branch_, rows);
      if (!added.ok()) return Error(added.error()).WithContext("table " + name);
    }
    return Ok();
  }

  static Status ReadLetters(Context& context, const ChosenPipeline& chosen, verify::TableOffsets& letters) {
    const pipeline::TableName& name = chosen.config().dead_letters.table;
    const Result<iceberg::LoadedTable> table = chosen.Load(context, name);
    if (!table.ok() && table.error().kind() == ErrorKind::kNotFound) return Ok();  // none was ever set aside
    if (!table.ok()) return table.error();
    return verify::AddOffsets(*table, {"topic", "partition", "offset", ""}, "", letters);
  }

  static Result<std::vector<PartitionReport>> Reports(Context& context,
                                                      const std::optional<ChosenPipeline>& chosen,
                                                      const verify::VerifyFacts& facts) {
    if (!chosen) return verify::VerifyNumbers(facts);
    FIRN_ASSIGN(const auto source, chosen->OpenSource());
    auto reports = verify::VerifyAgainstLog(facts, *source, context.services.clock());
    source->Close();
    return reports;
  }

  bool Passes(const PartitionReport& report) const {
    const bool unproven = !report.unproven.empty() && !only_provable_;
    return report.holes.empty() && report.tail.empty() && report.repeated.empty() && !unproven;
  }

  static void PrintAsJson(const verify::TableOffsets& rows, const std::vector<PartitionReport>& reports,
                          bool clean, Output& out) {
    nlohmann::json partitions = nlohmann::json::array();
    for (const PartitionReport& report : reports) partitions.push_back(ReportJson(report));
    PrintJson(out, {{"clean", clean},
                    {"rows", rows.rows},
                    {"rows-without-position", rows.rows_without_position},
                    {"partitions", std::move(partitions)}});
  }

  void Print(const verify::TableOffsets& rows, const std::vector<PartitionReport>& reports, bool clean,
             Output& out) const {
    TextTable table({{"TOPIC"},
                     {"PARTITION", Align::kRight},
                     {"ROWS", Align::kRight},
                     {"FROM", Align::kRight},
                     {"TO", Align::kRight},
                     {"MISSING", Align::kRight},
                     {"REPEATED", Align::kRight},
                     {"SET ASIDE", Align::kRight},
                     {"TOMBSTONES", Align::kRight},
                     {"WAITING", Align::kRight}});
    for (const PartitionReport& report : reports) {
      const auto number = [&](int64_t value) {
        return report.rows > 0 ? std::to_string(value) : std::string("-");
      };
      table.AddRow({report.partition.topic, std::to_string(report.partition.partition),
                    std::to_string(report.rows), number(report.first), number(report.end),
                    std::to_string(report.holes.offsets + report.tail.offsets + report.unproven.offsets),
                    std::to_string(report.repeated.offsets), std::to_string(report.dead_letters),
                    std::to_string(report.tombstones), std::to_string(report.waiting)});
    }
    if (!table.empty()) table.PrintTo(out);
    const std::string_view without = pipeline_.empty() ? "without a row" : "of records without a row";
    for (const PartitionReport& report : reports) {
      PrintFinding(report, without, report.holes, out);
      PrintFinding(report, fmt::format("{} at the end", without), report.tail, out);
      PrintFinding(report, "without a row, which the log no longer holds", report.unproven, out);
      PrintFinding(report, "in more than one row", report.repeated, out);
    }
    if (rows.rows_without_position > 0)
      out.Write(fmt::format("{} without a position\n", Counted(rows.rows_without_position, "row")));
    out.Write(fmt::format("{} in {}: {}\n", Counted(rows.rows, "row"),
                          Counted(std::ssize(reports), "partition"),
                          clean ? "nothing is missing, nothing is there twice" : "NOT each record once"));
  }

  CatalogAccess access_;
  std::vector<std::string> tables_;
  verify::PositionColumns columns_;
  std::string pipeline_;
  std::string branch_ = iceberg::kMainBranch;
  bool from_log_start_ = false;
  bool only_provable_ = false;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> MakeVerifyCommand() { return std::make_unique<VerifyCommand>(); }

}  // namespace firn::cli
