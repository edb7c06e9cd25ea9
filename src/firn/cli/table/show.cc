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

std::string CountOr(const std::optional<int64_t>& count, std::string_view otherwise) {
  return count ? HumanCount(*count) : std::string(otherwise);
}

std::string SnapshotLine(const iceberg::Snapshot* snapshot) {
  if (snapshot == nullptr) return "none";
  return fmt::format("{}  {}  {}", snapshot->snapshot_id, FormatInstantMs(snapshot->timestamp_ms),
                     snapshot->operation);
}

std::string ContentLine(const iceberg::Snapshot* snapshot) {
  if (snapshot == nullptr) return "0 rows";
  std::string text =
      fmt::format("{} rows, {} data files", CountOr(SummaryCount(*snapshot, "total-records"), "?"),
                  CountOr(SummaryCount(*snapshot, "total-data-files"), "?"));
  const std::optional<int64_t> deletes = SummaryCount(*snapshot, "total-delete-files");
  if (deletes.value_or(0) > 0) text += fmt::format(", {} delete files", HumanCount(*deletes));
  const std::optional<int64_t> bytes = SummaryCount(*snapshot, "total-files-size");
  return bytes ? text + ", " + HumanBytes(*bytes) : text;
}

class TableShow final : public Command {
 public:
  std::string_view name() const override { return "show"; }
  std::string_view summary() const override {
    return "A table at a glance: where it is, layout, columns, properties";
  }

  void Declare(Arguments& arguments) override {
    access_.Declare(arguments);
    arguments.Option("TABLE", table_, "catalog.namespace.table").Required();
    arguments.Flag("--json", json_, "The whole table metadata as JSON, with its location");
  }

  Result<ExitCode> Run(Context& context) override {
    FIRN_ASSIGN(const iceberg::LoadedTable table, access_.LoadTable(context, table_));
    if (json_) {
      PrintJson(context.out, {{"table", table_},
                              {"metadata-location", table.metadata_location},
                              {"metadata", ToJson(*table.metadata)}});
    } else {
      PrintText(context.out, table);
    }
    return ExitCode::kDone;
  }

 private:
  void PrintText(Output& out, const iceberg::LoadedTable& table) const {
    const iceberg::TableMetadata& metadata = *table.metadata;
    const iceberg::Snapshot* head = metadata.current_snapshot();
    const auto line = [&](std::string_view title, std::string_view text) {
      out.Write(fmt::format("{:<16}{}\n", title, Printable(text)));
    };
    line("table", table_);
    line("location", metadata.location);
    line("metadata", table.metadata_location);
    line("uuid", metadata.table_uuid);
    line("format", fmt::format("version {}", metadata.format_version));
    line("snapshot", SnapshotLine(head));
    line("content", ContentLine(head));
    line("partitioned by", SpecText(metadata.spec(), *metadata.schema()));
    line("sorted by", OrderText(metadata.sort_order(), *metadata.schema()));
    out.Write("\n" + SchemaText(*metadata.schema(), out.is_terminal()));
    if (!metadata.properties.empty()) out.Write("\n");
    for (const auto& [key, value] : metadata.properties)
      out.Write(fmt::format("{} = {}\n", Printable(key), Printable(value)));
  }

  CatalogAccess access_;
  std::string table_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> MakeTableShowCommand() { return std::make_unique<TableShow>(); }

}  // namespace firn::cli
