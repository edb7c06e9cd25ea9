#include <fmt/format.h>

#include "firn/cli/arguments.h"
#include "firn/cli/table/catalog_access.h"
#include "firn/cli/table/table_commands.h"

namespace firn::cli {

namespace {

class TableDrop final : public Command {
 public:
  std::string_view name() const override { return "drop"; }
  std::string_view summary() const override {
    return "Take a table out of its catalog; its files stay unless --purge";
  }

  void Declare(Arguments& arguments) override {
    access_.Declare(arguments);
    arguments.Option("TABLE", table_, "catalog.namespace.table").Required();
    arguments.Flag("--purge", purge_, "Delete its data and metadata files too: this cannot be undone");
  }

  Result<ExitCode> Run(Context& context) override {
    FIRN_ASSIGN(const NamedTable table, access_.FindTable(context, table_));
    // Only for the location, which brings the table back; one whose metadata cannot be read must still be
    // droppable.
    const Result<iceberg::LoadedTable> loaded = table.catalog->LoadTable(table.identifier);
    FIRN_TRY(table.catalog->DropTable(table.identifier, purge_));
    const std::string where =
        loaded.ok() && !purge_ ? fmt::format(" (its files stay: {})", loaded->metadata_location) : "";
    context.out.Write(fmt::format("dropped {}{}\n", table.full_name, where));
    return ExitCode::kDone;
  }

 private:
  CatalogAccess access_;
  std::string table_;
  bool purge_ = false;
};

}  // namespace

std::unique_ptr<Command> MakeTableDropCommand() { return std::make_unique<TableDrop>(); }

}  // namespace firn::cli
