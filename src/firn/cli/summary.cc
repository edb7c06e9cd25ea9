#include "firn/cli/summary.h"

#include <algorithm>

#include <fmt/format.h>

#include "firn/base/units.h"
#include "firn/cli/counted.h"

namespace firn::cli {

namespace {

std::string Verdict(const pipeline::PipelineResult& result) {
  switch (result.end) {
    case pipeline::PipelineEnd::kDone:
      return "done";
    case pipeline::PipelineEnd::kFailed:
      return "failed";
    case pipeline::PipelineEnd::kUserError:
      return "cannot run";
    case pipeline::PipelineEnd::kDataStop:
      return "stopped before rows were lost or doubled";
    case pipeline::PipelineEnd::kInterrupted:
      return "interrupted; what was in flight is read again at the next start";
  }
  return "ended";
}

void AddCount(std::string& text, int64_t count, std::string_view what) {
  if (count > 0) text += fmt::format("  {} {}\n", HumanCount(count), what);
}

/// A table name without its catalog: what the engines' snippets call it.
std::string WithoutCatalog(const std::string& table) {
  const size_t dot = table.find('.');
  return dot == std::string::npos ? table : table.substr(dot + 1);
}

std::string PythonUri(const std::string& uri) {
  constexpr std::string_view kPostgres = "postgresql:";
  if (uri.starts_with(kPostgres)) return "postgresql+psycopg2:" + uri.substr(kPostgres.size());
  constexpr std::string_view kScheme = "sqlite:";
  if (!uri.starts_with(kScheme)) return uri;
  std::string path = uri.substr(kScheme.size());
  while (path.starts_with("//")) path.erase(0, 1);
  return "sqlite:///" + path;
}

std::string Quoted(std::string_view text, char quote) {
  std::string out(1, quote);
  for (const char c : text) {
    if (c == quote) out += quote == '\'' ? "'" : "\\";
    out += c;
  }
  return out + quote;
}

/// Of several tables the first one with rows serves as the example; where none has any, the first.
EndedPipeline WithOneTable(EndedPipeline ended) {
  const auto& tables = ended.status.tables;
  auto example =
      std::ranges::find_if(tables, [](const auto& table) { return table.second.rows_committed > 0; });
  if (example == tables.end()) example = tables.begin();
  ended.status.table = example->first;
  ended.status.metadata_location = example->second.metadata_location;
  return ended;
}

std::string Snippets(const EndedPipeline& ended) {
  const pipeline::PipelineStatus& status = ended.status;
  std::string text;
  if (!status.metadata_location.empty()) {
    text += fmt::format("  DuckDB     SELECT count(*) FROM iceberg_scan({});\n",
                        Quoted(status.metadata_location, '\''));
  }
  if (!status.catalog_uri.empty()) {
    const bool is_rest = status.catalog_uri.starts_with("http");
    const std::string warehouse =
        ended.warehouse.empty() ? "" : ", warehouse=" + Quoted(ended.warehouse, '"');
    text += fmt::format(
        "  PyIceberg  load_catalog({}, type=\"{}\", uri={}{}).load_table({}).scan().to_arrow()\n",
        Quoted(ended.catalog_name, '"'), is_rest ? "rest" : "sql", Quoted(PythonUri(status.catalog_uri), '"'),
        warehouse, Quoted(WithoutCatalog(status.table), '"'));
  }
  return text.empty() ? text : "Read it:\n" + text;
}

}  // namespace

std::string ClosingSummary(const EndedPipeline& ended) {
  const pipeline::PipelineStatus& status = ended.status;
  const bool several = status.tables.size() > 1;
  const double seconds = static_cast<double>(std::max<int64_t>(ended.took_ms, 1)) / 1000;
  std::string text =
      fmt::format("{}: {} in {}\n", status.id, Verdict(ended.result), HumanDurationMs(ended.took_ms));
  if (!ended.result.message.empty()) text += fmt::format("  {}\n", ended.result.message);
  const std::string to = several ? Counted(std::ssize(status.tables), "table") : status.table;
  text += fmt::format("  {} to {} in {}, {} ({} rows/s, {} read)\n", Counted(status.rows_committed, "row"),
                      to, Counted(status.commits, "commit"), Counted(status.data_files, "data file"),
                      HumanShort(static_cast<double>(status.rows_committed) / seconds),
                      HumanBytes(status.input_bytes));
  AddCount(text, status.dead_letters, "dead letters");
  AddCount(text, status.skipped, "bad records skipped");
  AddCount(text, status.tombstones_skipped, "tombstones skipped");
  AddCount(text, status.unknown_fields_ignored, "unknown fields ignored");
  const bool worth_reading = ended.result.end == pipeline::PipelineEnd::kDone || status.rows_committed > 0;
  return worth_reading ? text + (several ? Snippets(WithOneTable(ended)) : Snippets(ended)) : text;
}

}  // namespace firn::cli
