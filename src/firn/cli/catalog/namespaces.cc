#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "firn/cli/arguments.h"
#include "firn/cli/catalog/catalog_commands.h"
#include "firn/cli/catalog/place.h"
#include "firn/cli/json_output.h"
#include "firn/cli/table/catalog_access.h"
#include "firn/cli/text_table.h"

namespace firn::cli {

namespace {

class CatalogNamespaces final : public Command {
 public:
  std::string_view name() const override { return "namespaces"; }
  std::string_view summary() const override {
    return "Namespaces of all catalogs, of one, or below a namespace";
  }

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
      FIRN_TRY(AddBelow(catalog, place.ns));
    }
    Print(context.out);
    return ExitCode::kDone;
  }

 private:
  Status AddBelow(const OpenedCatalog& catalog, const iceberg::Namespace& parent) {
    FIRN_ASSIGN(const std::vector<iceberg::Namespace> children, catalog.catalog->ListNamespaces(parent));
    for (const iceberg::Namespace& child : children) {
      found_.push_back({catalog.key, child});
      FIRN_TRY(AddBelow(catalog, child));
    }
    return Ok();
  }

  void Print(Output& out) const {
    if (json_) return PrintJson(out);
    TextTable table({{"NAMESPACE"}});
    for (const Place& place : found_) table.AddRow({place.ToString()});
    table.PrintTo(out);
  }

  void PrintJson(Output& out) const {
    nlohmann::json namespaces = nlohmann::json::array();
    for (const Place& place : found_)
      namespaces.push_back({{"catalog", place.catalog}, {"namespace", place.ns}});
    cli::PrintJson(out, {{"namespaces", std::move(namespaces)}});
  }

  CatalogAccess access_;
  std::string place_;
  bool json_ = false;
  std::vector<Place> found_;
};

}  // namespace

std::unique_ptr<Command> MakeCatalogNamespacesCommand() { return std::make_unique<CatalogNamespaces>(); }

}  // namespace firn::cli
