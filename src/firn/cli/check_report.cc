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

std::string FilesText(const pipeline::PipelineConfig& config) {
  const std::string commits = HumanCount(CommitsPerDay(config.commit));
  if (config.table.partition_by.empty())
    return fmt::format("at least {} data files a day, one or more per commit", commits);
  return fmt::format(
      "at least {} data files a day, one or more per commit and table partition it touches ({})", commits,
      fmt::join(config.table.partition_by, ", "));
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

std::string Statement(const pipeline::PipelineConfig& config) {
  if (!config.table.create) return "";
  if (config.table.columns.empty())
    return Line("columns", "inferred from a sample of the records ('firn run --dry-run' shows them)");
  const Result<iceberg::SchemaPtr> schema =
      pipeline::SchemaOfColumns(config.table.columns, config.table.format_version);
  if (!schema.ok()) return "";  // reported when the file was read
  const Result<iceberg::NewTable> definition = pipeline::TableDefinition(config.table, *schema);
  if (!definition.ok()) return "";
  return "\n" + pipeline::CreateTableStatement(config.table.name.ToString(), *definition) + "\n";
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
  if (findings.catalog) text += Line("catalog", With(config.table.name.catalog, findings.catalog));
  text += Line("table", With(config.table.name.ToString(), findings.table));
  text += Line("commits", CommitText(config.commit));
  text += Line("files", FilesText(config));
  text += Line("bad records", PolicyText(config));
  return text + Statement(config);
}

}  // namespace firn::cli
