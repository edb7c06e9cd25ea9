#include <fmt/format.h>
#include <iterator>

#include <nlohmann/json.hpp>

#include "firn/base/units.h"
#include "firn/cli/arguments.h"
#include "firn/cli/counted.h"
#include "firn/cli/table/catalog_access.h"
#include "firn/cli/table/row_printer.h"
#include "firn/cli/table/table_commands.h"
#include "firn/cli/table/table_text.h"
#include "firn/iceberg/scan/row_json.h"
#include "firn/iceberg/scan/table_scan.h"

namespace firn::cli {

namespace {

/// `a,b , "odd, name"` -> columns.
std::vector<std::string> SplitColumns(const std::string& text) {
  std::vector<std::string> columns(1);
  bool quoted = false;
  for (const char c : text) {
    if (c == '"') {
      quoted = !quoted;
    } else if (c == ',' && !quoted) {
      columns.emplace_back();
    } else if (c != ' ' || quoted || !columns.back().empty()) {
      columns.back() += c;
    }
  }
  for (std::string& column : columns) column.erase(column.find_last_not_of(' ') + 1);
  return columns;
}

class TableRead final : public Command {
 public:
  std::string_view name() const override { return "read"; }
  std::string_view summary() const override {
    return "Rows of a table, with files pruned by partition and bounds";
  }

  void Declare(Arguments& arguments) override {
    access_.Declare(arguments);
    arguments.Option("TABLE", table_, "catalog.namespace.table").Required();
    arguments.Option("--columns", columns_, "Only these, in this order: a,b,c.d (default: all)")
        .Value("LIST");
    arguments.Option("--where", options_.where, "\"delay > 30 and origin in ('SEA', 'PDX')\"")
        .Value("FILTER");
    arguments.Option("--limit", options_.limit, "At most this many rows").Value("N");
    arguments.Option("--snapshot", snapshot_id_, "Of this snapshot instead of the current one").Value("ID");
    arguments.Option("--as-of", as_of_, "Of the snapshot that was current then (2026-01-31T10:00:00Z)")
        .Value("TIME");
    arguments.Option("--format", format_, "table (default), csv or jsonl").Value("FORMAT");
  }

  Result<ExitCode> Run(Context& context) override {
    FIRN_ASSIGN(const RowFormat format, ParseRowFormat(format_));
    FIRN_ASSIGN(const iceberg::LoadedTable table, access_.LoadTable(context, table_));
    FIRN_ASSIGN(const iceberg::TableScan scan, MakeScan(table));
    FIRN_ASSIGN(iceberg::ScanPlan plan, scan.Plan());
    const std::string files = FilesText(plan);
    FIRN_ASSIGN(const std::unique_ptr<iceberg::RowStream> rows, scan.Read(std::move(plan)));
    const std::unique_ptr<RowPrinter> printer = MakeRowPrinter(format, *scan.schema(), context.out);
    FIRN_ASSIGN(const int64_t count, PrintAll(*rows, *scan.schema(), *printer, context.out));
    if (context.out.is_terminal()) context.err.Write(fmt::format("{}, {}\n", Counted(count, "row"), files));
    return ExitCode::kDone;
  }

 private:
  Result<iceberg::TableScan> MakeScan(const iceberg::LoadedTable& table) {
    if (snapshot_id_ && !as_of_.empty())
      return Error(ErrorKind::kInvalidArgument, "--snapshot and --as-of exclude each other");
    if (options_.limit.value_or(0) < 0)
      return Error(ErrorKind::kInvalidArgument, "--limit must not be negative");
    if (!columns_.empty()) options_.columns = SplitColumns(columns_);
    options_.snapshot_id = snapshot_id_;
    if (!as_of_.empty()) {
      FIRN_ASSIGN(options_.as_of_ms, ParseInstantMs(as_of_));
    }
    return iceberg::TableScan::Make(table.metadata, table.store, options_);
  }

  static std::string FilesText(const iceberg::ScanPlan& plan) {
    return fmt::format("{} read, {} ruled out by partition or bounds, {} of {} left unread",
                       Counted(std::ssize(plan.tasks), "data file"), HumanCount(plan.files_skipped),
                       HumanCount(plan.manifests_skipped), Counted(plan.manifests, "manifest"));
  }

  /// Ends early, without an error, when nobody reads any more.
  static Result<int64_t> PrintAll(iceberg::RowStream& rows, const iceberg::Schema& schema,
                                  RowPrinter& printer, Output& out) {
    int64_t count = 0;
    while (!out.closed()) {
      FIRN_ASSIGN(const std::shared_ptr<arrow::RecordBatch> batch, rows.Next());
      if (batch == nullptr) break;
      FIRN_ASSIGN(const std::vector<nlohmann::ordered_json> objects, iceberg::RowsToJson(*batch, schema));
      for (const nlohmann::ordered_json& row : objects) printer.Print(row);
      count += static_cast<int64_t>(objects.size());
    }
    printer.End();
    return count;
  }

  CatalogAccess access_;
  std::string table_;
  std::string columns_;
  std::optional<int64_t> snapshot_id_;
  std::string as_of_;
  std::string format_ = "table";
  iceberg::ScanOptions options_;
};

}  // namespace

std::unique_ptr<Command> MakeTableReadCommand() { return std::make_unique<TableRead>(); }

}  // namespace firn::cli
