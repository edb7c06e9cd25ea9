#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "firn/cli/arguments.h"
#include "firn/cli/json_output.h"
#include "firn/cli/table/catalog_access.h"
#include "firn/cli/table/table_commands.h"
#include "firn/cli/table/table_text.h"

namespace firn::cli {

namespace {

class TableSchema final : public Command {
 public:
  std::string_view name() const override { return "schema"; }
  std::string_view summary() const override {
    return "Columns with ids, types and notes, nested ones indented";
  }

  void Declare(Arguments& arguments) override {
    access_.Declare(arguments);
    arguments.Option("TABLE", table_, "catalog.namespace.table").Required();
    arguments.Option("--id", schema_id_, "Another schema of the table's history").Value("N");
    arguments.Flag("--json", json_, "Iceberg's schema JSON");
  }

  Result<ExitCode> Run(Context& context) override {
    FIRN_ASSIGN(const iceberg::LoadedTable table, access_.LoadTable(context, table_));
    const iceberg::SchemaPtr schema =
        schema_id_ ? table.metadata->FindSchema(*schema_id_) : table.metadata->schema();
    if (schema == nullptr) {
      return Error(ErrorKind::kNotFound, fmt::format("{} has no schema {}", table_, *schema_id_))
          .WithRemedy(fmt::format("It has {}.", KnownIds(*table.metadata)));
    }
    if (json_) {
      PrintJson(context.out, ToJson(*schema));
    } else {
      context.out.Write(SchemaText(*schema, context.out.is_terminal()));
    }
    return ExitCode::kDone;
  }

 private:
  static std::string KnownIds(const iceberg::TableMetadata& metadata) {
    std::vector<int32_t> ids;
    for (const iceberg::SchemaPtr& schema : metadata.schemas) ids.push_back(schema->schema_id());
    return fmt::format("{}", fmt::join(ids, ", "));
  }

  CatalogAccess access_;
  std::string table_;
  std::optional<int32_t> schema_id_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> MakeTableSchemaCommand() { return std::make_unique<TableSchema>(); }

}  // namespace firn::cli
