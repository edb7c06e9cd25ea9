#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "firn/cli/arguments.h"
#include "firn/cli/catalog/place.h"
#include "firn/cli/json_output.h"
#include "firn/cli/table/catalog_access.h"
#include "firn/cli/table/table_commands.h"
#include "firn/cli/text_table.h"

namespace firn::cli {

namespace {

class TableList final : public Command {
 public:
  std::string_view name() const override { return "list"; }
  std::string_view summary() const override { return "Tables of a catalog or namespace"; }

  void Declare(Arguments& arguments) override {
    access_.Declare(arguments);
    arguments.Option("PLACE", place_, "Catalog or catalog.namespace (default: all catalogs)");
    arguments.Flag("--json", json_, "JSON with stable keys");
  }

  Result<ExitCode> Run(Context& context) override {
    if (place_.empty()) {
      FIRN_ASSIGN(const std::vector<OpenedCatalog> catalogs, access_.OpenAll(context));
      for (const OpenedCatalog& catalog : catalogs)
        FIRN_TRY_CTX(AddBelow(catalog, {}), "catalog " + catalog.key);
    } else {
      FIRN_ASSIGN(const Place place, ParsePlace(place_));
      FIRN_ASSIGN(const OpenedCatalog catalog, access_.OpenCatalog(context, place.catalog));
      FIRN_TRY(RequireNamespace(*catalog.catalog, place.ns));
      FIRN_TRY(AddBelow(catalog, place.ns));
    }
    Print(context.out);
    return ExitCode::kDone;
  }

 private:
  static Status RequireNamespace(iceberg::Catalog& catalog, const iceberg::Namespace& ns) {
    if (ns.empty()) return Ok();
    FIRN_ASSIGN(const bool exists, catalog.NamespaceExists(ns));
    if (exists) return Ok();
    return Error(ErrorKind::kNotFound, fmt::format("there is no namespace {}", fmt::join(ns, ".")));
  }

  Status AddBelow(const OpenedCatalog& catalog, const iceberg::Namespace& ns) {
    if (!ns.empty()) {
      FIRN_ASSIGN(const std::vector<iceberg::TableIdentifier> tables, catalog.catalog->ListTables(ns));
      for (const iceberg::TableIdentifier& table : tables) found_.push_back({catalog.key, table});
    }
    FIRN_ASSIGN(const std::vector<iceberg::Namespace> children, catalog.catalog->ListNamespaces(ns));
    for (const iceberg::Namespace& child : children) FIRN_TRY(AddBelow(catalog, child));
    return Ok();
  }

  void Print(Output& out) const {
    if (json_) return PrintJson(out);
    TextTable table({{"TABLE"}});
    for (const auto& [catalog, identifier] : found_)
      table.AddRow({fmt::format("{}.{}", catalog, identifier.ToString())});
    table.PrintTo(out);
  }

  void PrintJson(Output& out) const {
    nlohmann::json tables = nlohmann::json::array();
    for (const auto& [catalog, identifier] : found_) {
      tables.push_back({{"catalog", catalog}, {"namespace", identifier.ns}, {"name", identifier.name}});
    }
    cli::PrintJson(out, {{"tables", std::move(tables)}});
  }

  CatalogAccess access_;
  std::string place_;
  bool json_ = false;
  std::vector<std::pair<std::string, iceberg::TableIdentifier>> found_;
};

}  // namespace

std::unique_ptr<Command> MakeTableListCommand() { return std::make_unique<TableList>(); }

}  // namespace firn::cli
