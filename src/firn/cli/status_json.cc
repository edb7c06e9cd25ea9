#include "firn/cli/status_json.h"

#include <unistd.h>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "firn/base/time.h"
#include "firn/base/units.h"
#include "firn/base/version.h"
#include "firn/cli/text_table.h"

namespace firn::cli {

namespace {

using nlohmann::json;

json InstantOrNull(int64_t ms) { return ms > 0 ? json(FormatInstantMs(ms)) : json(nullptr); }
json CountOrNull(int64_t count) { return count >= 0 ? json(count) : json(nullptr); }

json LagToJson(const pipeline::PipelineStatus& status) {
  json partitions = json::array();
  for (const auto& [partition, lag] : status.lag) {
    const auto age = status.lag_age_ms.find(partition);
    partitions.push_back({{"topic", partition.topic},
                          {"partition", partition.partition},
                          {"lag-records", lag},
                          {"lag-ms", age == status.lag_age_ms.end() ? json(nullptr) : json(age->second)}});
  }
  return partitions;
}

json TableToJson(const pipeline::TableStatus& table) {
  json positions = json::array();
  for (const auto& [partition, position] : table.positions)
    positions.push_back(
        {{"topic", partition.topic}, {"partition", partition.partition}, {"next", position.next}});
  return {{"table", table.name},
          {"state", pipeline::ToString(table.state)},
          {"reason", table.reason},
          {"rows-committed", table.rows_committed},
          {"dead-letters", table.dead_letters},
          {"commits", table.commits},
          {"last-commit", InstantOrNull(table.last_commit_ms)},
          {"last-snapshot-id", table.last_snapshot_id ? json(*table.last_snapshot_id) : json(nullptr)},
          {"metadata-location", table.metadata_location},
          {"positions", std::move(positions)}};
}

json TablesToJson(const pipeline::PipelineStatus& status) {
  json tables = json::array();
  for (const auto& [name, table] : status.tables) tables.push_back(TableToJson(table));
  return tables;
}

json PipelineToJson(const pipeline::PipelineStatus& status) {
  return {{"id", status.id},
          {"table", status.table},
          {"state", pipeline::ToString(status.state)},
          {"reason", status.reason},
          {"rows-committed", status.rows_committed},
          {"rows-decoded", status.rows_decoded},
          {"input-bytes", status.input_bytes},
          {"dead-letters", status.dead_letters},
          {"skipped", status.skipped},
          {"tombstones-skipped", status.tombstones_skipped},
          {"unknown-fields-ignored", status.unknown_fields_ignored},
          {"commits", status.commits},
          {"conflicts", status.conflicts},
          {"data-files", status.data_files},
          {"lag-records", CountOrNull(status.lag_records)},
          {"lag-files", CountOrNull(status.lag_files)},
          {"lag-bytes", CountOrNull(status.lag_bytes)},
          {"freshness-ms", CountOrNull(status.freshness_ms)},
          {"valid-through", InstantOrNull(status.valid_through_ms)},
          {"last-commit", InstantOrNull(status.last_commit_ms)},
          {"last-commit-took-ms", status.last_commit_took_ms},
          {"last-snapshot-id", status.last_snapshot_id ? json(*status.last_snapshot_id) : json(nullptr)},
          {"metadata-location", status.metadata_location},
          {"partitions", LagToJson(status)},
          {"tables", TablesToJson(status)}};
}

std::string CountText(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number_integer() ? HumanCount(found->get<int64_t>()) : "?";
}

std::string LagTextOf(const json& object) {
  const auto files = object.find("lag-files");
  if (files == object.end() || !files->is_number_integer()) return CountText(object, "lag-records");
  return fmt::format("{} files", HumanCount(files->get<int64_t>()));
}

std::string DurationTextOf(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number_integer() ? HumanDurationMs(found->get<int64_t>()) : "?";
}

std::string TextOf(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "-";
}

}  // namespace

json StatusToJson(const std::vector<pipeline::PipelineStatus>& statuses, int64_t started_ms, int64_t now_ms) {
  json pipelines = json::array();
  for (const pipeline::PipelineStatus& status : statuses) pipelines.push_back(PipelineToJson(status));
  return {{"version", Version()},
          {"pid", ::getpid()},
          {"started", InstantOrNull(started_ms)},
          {"now", InstantOrNull(now_ms)},
          {"pipelines", std::move(pipelines)}};
}

namespace {

/// The tables of pipelines with several, a line each.
std::string TablesText(const json& pipelines, bool terminal) {
  TextTable table({{"PIPELINE"},
                   {"TABLE"},
                   {"STATE"},
                   {"ROWS", Align::kRight},
                   {"COMMITS", Align::kRight},
                   {"LAST COMMIT"},
                   {"DEAD LETTERS", Align::kRight}});
  std::string reasons;
  bool any = false;
  for (const json& entry : pipelines) {
    const auto tables = entry.is_object() ? entry.find("tables") : entry.end();
    if (!entry.is_object() || tables == entry.end() || !tables->is_array()) continue;
    const bool itself = tables->size() == 1 && TextOf(tables->front(), "table") == TextOf(entry, "table");
    if (tables->empty() || itself) continue;
    for (const json& each : *tables) {
      any = true;
      table.AddRow({TextOf(entry, "id"), TextOf(each, "table"), TextOf(each, "state"),
                    CountText(each, "rows-committed"), CountText(each, "commits"),
                    TextOf(each, "last-commit"), CountText(each, "dead-letters")});
      const std::string reason = TextOf(each, "reason");
      if (!reason.empty() && reason != "-")
        reasons += fmt::format("{}: {}\n", TextOf(each, "table"), Printable(reason));
    }
  }
  if (!any) return "";
  return "\n" + (terminal ? table.Aligned() : table.TabSeparated()) + reasons;
}

}  // namespace

Result<std::string> StatusText(const json& body, bool terminal) {
  const auto pipelines = body.find("pipelines");
  if (!body.is_object() || pipelines == body.end() || !pipelines->is_array()) {
    return Error(ErrorKind::kCorrupt, "the answer is not the status of a firn process");
  }
  TextTable table({{"PIPELINE"},
                   {"STATE"},
                   {"TABLE"},
                   {"ROWS", Align::kRight},
                   {"LAG", Align::kRight},
                   {"FRESHNESS", Align::kRight},
                   {"COMMITS", Align::kRight},
                   {"LAST COMMIT"},
                   {"DEAD LETTERS", Align::kRight}});
  std::string reasons;
  for (const json& entry : *pipelines) {
    if (!entry.is_object()) continue;
    table.AddRow({TextOf(entry, "id"), TextOf(entry, "state"), TextOf(entry, "table"),
                  CountText(entry, "rows-committed"), LagTextOf(entry), DurationTextOf(entry, "freshness-ms"),
                  CountText(entry, "commits"), TextOf(entry, "last-commit"),
                  CountText(entry, "dead-letters")});
    const std::string reason = TextOf(entry, "reason");
    if (!reason.empty() && reason != "-")
      reasons += fmt::format("{}: {}\n", TextOf(entry, "id"), Printable(reason));
  }
  return (terminal ? table.Aligned() : table.TabSeparated()) + reasons + TablesText(*pipelines, terminal);
}

}  // namespace firn::cli
