#include <fmt/format.h>

#include "firn/cli/arguments.h"
#include "firn/cli/table/catalog_access.h"
#include "firn/cli/table/table_commands.h"
#include "firn/pipeline/table_definition.h"

namespace firn::cli {

namespace {

class TableRename final : public Command {
 public:
  std::string_view name() const override { return "rename"; }
  std::string_view summary() const override {
    return "Give a table another name or namespace in its catalog; its files stay where they are";
  }

  void Declare(Arguments& arguments) override {
    access_.Declare(arguments);
    arguments.Option("TABLE", from_, "catalog.namespace.table").Required();
    arguments.Option("NEW", to_, "catalog.namespace.table; the namespace must exist").Required();
  }

  Result<ExitCode> Run(Context& context) override {
    FIRN_ASSIGN(const pipeline::TableName from, pipeline::ParseTableName(from_));
    FIRN_ASSIGN(const pipeline::TableName to, pipeline::ParseTableName(to_));
    if (from.catalog != to.catalog) {
      return Error(ErrorKind::kInvalidArgument,
                   fmt::format("a table is not renamed from catalog '{}' into catalog '{}'", from.catalog,
                               to.catalog))
          .WithRemedy("Both names have to begin with the same catalog.");
    }
    FIRN_ASSIGN(const NamedTable table, access_.FindTable(context, from_));
    FIRN_TRY(table.catalog->RenameTable(table.identifier, {to.ns, to.name}));
    context.out.Write(fmt::format("renamed {} to {}\n", table.full_name, to.ToString()));
    return ExitCode::kDone;
  }

 private:
  CatalogAccess access_;
  std::string from_;
  std::string to_;
};

}  // namespace

std::unique_ptr<Command> MakeTableRenameCommand() { return std::make_unique<TableRename>(); }

}  // namespace firn::cli
