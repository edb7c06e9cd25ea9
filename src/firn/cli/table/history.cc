#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "firn/base/time.h"
#include "firn/cli/arguments.h"
#include "firn/cli/json_output.h"
#include "firn/cli/table/catalog_access.h"
#include "firn/cli/table/table_commands.h"
#include "firn/cli/text_table.h"

namespace firn::cli {

namespace {

/// Ids from the head of main down to the root or the first expired parent.
std::set<int64_t> AncestorsOfMain(const iceberg::TableMetadata& metadata) {
  std::set<int64_t> ancestors;
  const iceberg::Snapshot* snapshot = metadata.current_snapshot();
  while (snapshot != nullptr && ancestors.insert(snapshot->snapshot_id).second &&
         snapshot->parent_snapshot_id) {
    snapshot = metadata.FindSnapshot(*snapshot->parent_snapshot_id);
  }
  return ancestors;
}

class TableHistory final : public Command {
 public:
  std::string_view name() const override { return "history"; }
  std::string_view summary() const override {
    return "When which snapshot became current, rollbacks included";
  }

  void Declare(Arguments& arguments) override {
    access_.Declare(arguments);
    arguments.Option("TABLE", table_, "catalog.namespace.table").Required();
    arguments.Flag("--json", json_, "JSON with stable keys");
  }

  Result<ExitCode> Run(Context& context) override {
    FIRN_ASSIGN(const iceberg::LoadedTable table, access_.LoadTable(context, table_));
    const std::set<int64_t> ancestors = AncestorsOfMain(*table.metadata);
    nlohmann::json entries = nlohmann::json::array();
    TextTable text({{"MADE CURRENT AT"}, {"SNAPSHOT", Align::kRight}, {"ANCESTOR OF MAIN"}});
    for (const iceberg::SnapshotLogEntry& entry : table.metadata->snapshot_log) {
      const bool ancestor = ancestors.contains(entry.snapshot_id);
      const std::string time = FormatInstantMs(entry.timestamp_ms);
      text.AddRow({time, fmt::format("{}", entry.snapshot_id), ancestor ? "yes" : "no"});
      entries.push_back(
          {{"made-current-at", time}, {"snapshot-id", entry.snapshot_id}, {"is-current-ancestor", ancestor}});
    }
    if (json_) {
      PrintJson(context.out, {{"history", std::move(entries)}});
    } else {
      text.PrintTo(context.out);
    }
    return ExitCode::kDone;
  }

 private:
  CatalogAccess access_;
  std::string table_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> MakeTableHistoryCommand() { return std::make_unique<TableHistory>(); }

}  // namespace firn::cli
