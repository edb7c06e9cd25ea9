#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "firn/base/time.h"
#include "firn/base/units.h"
#include "firn/cli/arguments.h"
#include "firn/cli/json_output.h"
#include "firn/cli/table/catalog_access.h"
#include "firn/cli/table/table_commands.h"
#include "firn/cli/table/table_text.h"
#include "firn/cli/text_table.h"

namespace firn::cli {

namespace {

std::string CountText(const iceberg::Snapshot& snapshot, const std::string& key) {
  const std::optional<int64_t> count = SummaryCount(snapshot, key);
  return count ? HumanCount(*count) : "-";
}

std::string SummaryTextOr(const iceberg::Snapshot& snapshot, const std::string& key) {
  const auto found = snapshot.summary.find(key);
  return found == snapshot.summary.end() ? "-" : found->second;
}

/// Branches and tags that point at the snapshot.
std::string RefsOf(const iceberg::TableMetadata& metadata, int64_t snapshot_id) {
  std::string text;
  for (const auto& [name, ref] : metadata.refs) {
    if (ref.snapshot_id == snapshot_id) text += (text.empty() ? "" : ", ") + name;
  }
  return text;
}

class TableSnapshots final : public Command {
 public:
  std::string_view name() const override { return "snapshots"; }
  std::string_view summary() const override {
    return "Snapshots, oldest first: what each commit added, and by which pipeline";
  }

  void Declare(Arguments& arguments) override {
    access_.Declare(arguments);
    arguments.Option("TABLE", table_, "catalog.namespace.table").Required();
    arguments.Flag("--json", json_, "JSON with the whole summaries");
  }

  Result<ExitCode> Run(Context& context) override {
    FIRN_ASSIGN(const iceberg::LoadedTable table, access_.LoadTable(context, table_));
    if (json_) {
      PrintJsonOf(context.out, *table.metadata);
    } else {
      PrintText(context.out, *table.metadata);
    }
    return ExitCode::kDone;
  }

 private:
  static void PrintText(Output& out, const iceberg::TableMetadata& metadata) {
    TextTable table({{"SNAPSHOT", Align::kRight},
                     {"COMMITTED AT"},
                     {"OPERATION"},
                     {"ADDED ROWS", Align::kRight},
                     {"ADDED FILES", Align::kRight},
                     {"TOTAL ROWS", Align::kRight},
                     {"PIPELINE"},
                     {"REFS"}});
    for (const iceberg::Snapshot& snapshot : metadata.snapshots) {
      table.AddRow({fmt::format("{}", snapshot.snapshot_id), FormatInstantMs(snapshot.timestamp_ms),
                    snapshot.operation, CountText(snapshot, "added-records"),
                    CountText(snapshot, "added-data-files"), CountText(snapshot, "total-records"),
                    SummaryTextOr(snapshot, "firn.pipeline"), RefsOf(metadata, snapshot.snapshot_id)});
    }
    table.PrintTo(out);
  }

  static void PrintJsonOf(Output& out, const iceberg::TableMetadata& metadata) {
    nlohmann::json snapshots = nlohmann::json::array();
    for (const iceberg::Snapshot& snapshot : metadata.snapshots)
      snapshots.push_back(ToJson(snapshot, metadata.format_version));
    PrintJson(out, {{"snapshots", std::move(snapshots)}});
  }

  CatalogAccess access_;
  std::string table_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> MakeTableSnapshotsCommand() { return std::make_unique<TableSnapshots>(); }

}  // namespace firn::cli
