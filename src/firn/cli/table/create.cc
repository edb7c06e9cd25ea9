#include <fmt/format.h>

#include "firn/cli/arguments.h"
#include "firn/cli/properties_argument.h"
#include "firn/cli/table/catalog_access.h"
#include "firn/cli/table/column_argument.h"
#include "firn/cli/table/table_commands.h"
#include "firn/pipeline/table_definition.h"

namespace firn::cli {

namespace {

class TableCreate final : public Command {
 public:
  std::string_view name() const override { return "create"; }
  std::string_view summary() const override { return "Make a table (and its namespace)"; }

  void Declare(Arguments& arguments) override {
    access_.Declare(arguments);
    arguments.Option("TABLE", table_, "catalog.namespace.table").Required();
    Repeated(arguments, "--column", columns_,
             R"("name type" or "name type required", in order; types as in pipeline files)")
        .Value("COLUMN")
        .Required();
    Repeated(arguments, "--partition-by", partition_by_,
             "day(ts), bucket(16, id), truncate(4, code), name ...")
        .Value("FIELD");
    Repeated(arguments, "--sort-by", sort_by_, "name, name desc, bucket(8, id) asc nulls last ...")
        .Value("FIELD");
    Repeated(arguments, "--property", properties_, "Table property").Value("KEY=VALUE");
    arguments.Option("--format-version", format_version_, "2 (default) or 3").Value("N");
    arguments.Flag("--dry-run", dry_run_, "Show the statement and change nothing");
  }

  Result<ExitCode> Run(Context& context) override {
    FIRN_ASSIGN(const iceberg::NewTable definition, Definition());
    if (dry_run_) {
      FIRN_ASSIGN(const NamedTable table, access_.FindTable(context, table_));
      context.out.Write(pipeline::CreateTableStatement(table.full_name, definition) + "\n");
      return ExitCode::kDone;
    }
    FIRN_ASSIGN(const NamedTable table, access_.NewTable(context, table_));
    FIRN_TRY(EnsureNamespace(*table.catalog, table.identifier.ns));
    FIRN_ASSIGN(const iceberg::LoadedTable created, table.catalog->CreateTable(table.identifier, definition));
    context.out.Write(fmt::format("created {} at {}\n", table.full_name, created.metadata->location));
    return ExitCode::kDone;
  }

 private:
  static Argument Repeated(Arguments& arguments, const std::string& name, std::vector<std::string>& values,
                           const std::string& text) {
    return arguments.Option(name, values, text + "; may be repeated").Repeated();
  }

  Result<iceberg::NewTable> Definition() const {
    if (format_version_ != 2 && format_version_ != 3) {
      return Error(ErrorKind::kInvalidArgument,
                   fmt::format("--format-version {} is not 2 or 3", format_version_));
    }
    pipeline::TableConfig config;
    config.format_version = format_version_;
    config.partition_by = partition_by_;
    config.sort_by = sort_by_;
    for (const std::string& text : columns_) {
      FIRN_ASSIGN(pipeline::ColumnConfig column, ParseColumnArgument(text));
      config.columns.push_back(std::move(column));
    }
    FIRN_ASSIGN_CTX(config.properties, ParseProperties(properties_), "--property");
    FIRN_ASSIGN(const iceberg::SchemaPtr schema,
                pipeline::SchemaOfColumns(config.columns, config.format_version));
    return pipeline::TableDefinition(config, schema);
  }

  static Status EnsureNamespace(iceberg::Catalog& catalog, const iceberg::Namespace& ns) {
    FIRN_ASSIGN(const bool exists, catalog.NamespaceExists(ns));
    if (exists) return Ok();
    Status created = catalog.CreateNamespace(ns, {});
    if (!created.ok() && created.error().kind() == ErrorKind::kAlreadyExists)
      return Ok();  // another process was faster
    return created;
  }

  CatalogAccess access_;
  std::string table_;
  std::vector<std::string> columns_;
  std::vector<std::string> partition_by_;
  std::vector<std::string> sort_by_;
  std::vector<std::string> properties_;
  int format_version_ = 2;
  bool dry_run_ = false;
};

}  // namespace

std::unique_ptr<Command> MakeTableCreateCommand() { return std::make_unique<TableCreate>(); }

}  // namespace firn::cli
