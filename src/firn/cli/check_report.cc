#include "firn/cli/check_report.h"

#include <algorithm>

#include <fmt/format.h>

#include "firn/base/units.h"
#include "firn/pipeline/table_definition.h"

namespace firn::cli {

namespace {

constexpr int64_t kMsPerDay = 86'400'000;

std::string Line(std::string_view title, std::string_view text) {
  return fmt::format("  {:<13} {}\n", title, text);
}

std::string With(std::string text, const std::optional<std::string>& finding) {
  return finding ? fmt::format("{} ({})", text, *finding) : text;
}

std::string CommitText(const pipeline::CommitConfig& commit) {
  return fmt::format(
      "every {}, {} records or {}, whichever is first: about {} a day while records arrive, none while idle",
      DurationText(commit.interval_ms), HumanCount(commit.max_records), BytesText(commit.max_input_bytes),
      HumanCount(CommitsPerDay(commit)));
}

bool IsSole(const pipeline::PipelineConfig& config) {
  const pipeline::TableConfig& first = config.tables.front();
  return config.tables.size() == 1 && first.name.literal() && first.match.topic.empty() &&
         first.match.field.empty();
}

/// What a rule takes, in the order in which it is asked.
std::string MatchText(const pipeline::TableConfig& rule) {
  std::string text = rule.match.topic.empty() ? "any topic" : fmt::format("topics like {}", rule.match.topic);
  for (const auto& [path, pattern] : rule.match.field) text += fmt::format(", {} like {}", path, pattern);
  return text;
}

std::string TableLines(const pipeline::PipelineConfig& config, const CheckFindings& findings) {
  const auto finding = [&](size_t rule) {
    return rule < findings.tables.size() ? findings.tables[rule] : std::nullopt;
  };
  if (IsSole(config)) return Line("table", With(config.tables.front().name.ToString(), finding(0)));
  std::string text;
  for (size_t i = 0; i < config.tables.size(); ++i) {
    const pipeline::TableConfig& rule = config.tables[i];
    std::string name = rule.name.ToString();
    if (!rule.name.literal()) name += fmt::format(", at most {} tables", HumanCount(rule.max_tables));
    text +=
        Line(fmt::format("rule {}", i + 1), fmt::format("{} -> {}", MatchText(rule), With(name, finding(i))));
  }
  return text +
         Line("no rule", "dead letters (no_route); the dead-letter table holds the lower bound as well: " +
                             config.dead_letters.table.ToString());
}

std::string FilesText(const pipeline::PipelineConfig& config) {
  const std::string commits = HumanCount(CommitsPerDay(config.commit));
  const std::string whose = IsSole(config) ? "" : " and table";
  std::vector<std::string> partitions;
  for (const pipeline::TableConfig& rule : config.tables)
    partitions.insert(partitions.end(), rule.partition_by.begin(), rule.partition_by.end());
  if (partitions.empty())
    return fmt::format("at least {} data files a day{}, one or more per commit", commits, whose);
  return fmt::format(
      "at least {} data files a day{}, one or more per commit and table partition it touches ({})", commits,
      whose, fmt::join(partitions, ", "));
}

std::string PolicyText(const pipeline::PipelineConfig& config) {
  switch (config.on_bad_record) {
    case pipeline::BadRecordPolicy::kDeadLetter:
      return fmt::format("to {}; stops above {:.3g} % of {} records", config.dead_letters.table.ToString(),
                         config.dead_letters.fail_above_ratio * 100,
                         HumanCount(config.dead_letters.fail_above_min_records));
    case pipeline::BadRecordPolicy::kFail:
      return "stop the pipeline";
    case pipeline::BadRecordPolicy::kSkip:
      return "are skipped and counted";
  }
  return "";
}

std::string Statement(const pipeline::TableConfig& table) {
  if (!table.create) return "";
  if (table.columns.empty())
    return Line("columns", "inferred from a sample of the records ('firn run --dry-run' shows them)");
  const Result<iceberg::SchemaPtr> schema = pipeline::SchemaOfColumns(table.columns, table.format_version);
  if (!schema.ok()) return "";  // reported when the file was read
  const Result<iceberg::NewTable> definition = pipeline::TableDefinition(table, *schema);
  if (!definition.ok()) return "";
  return "\n" + pipeline::CreateTableStatement(table.name.ToString(), *definition) + "\n";
}

}  // namespace

int64_t CommitsPerDay(const pipeline::CommitConfig& commit) {
  const int64_t interval_ms = std::max<int64_t>(commit.interval_ms, 1);
  return (kMsPerDay + interval_ms - 1) / interval_ms;
}

std::string PipelineReport(const pipeline::PipelineSetup& setup, const CheckFindings& findings) {
  const pipeline::PipelineConfig& config = setup.config;
  std::string text = fmt::format("pipeline {}\n", config.id);
  text += Line("source", With(setup.source.summary, findings.source));
  text += Line("decode", setup.decoder.format);
  if (findings.catalog) text += Line("catalog", With(config.tables.front().name.catalog, findings.catalog));
  text += TableLines(config, findings);
  text += Line("commits", CommitText(config.commit));
  text += Line("files", FilesText(config));
  text += Line("bad records", PolicyText(config));
  for (const pipeline::TableConfig& rule : config.tables) text += Statement(rule);
  return text;
}

}  // namespace firn::cli
