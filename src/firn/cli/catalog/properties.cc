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

class CatalogProperties final : public Command {
 public:
  std::string_view name() const override { return "properties"; }
  std::string_view summary() const override { return "Properties of a namespace"; }

  void Declare(Arguments& arguments) override {
    access_.Declare(arguments);
    arguments.Option("NAMESPACE", namespace_, "catalog.namespace").Required();
    arguments.Flag("--json", json_, "JSON with stable keys");
  }

  Result<ExitCode> Run(Context& context) override {
    FIRN_ASSIGN(const Place place, ParseNamespacePlace(namespace_));
    FIRN_ASSIGN(const OpenedCatalog opened, access_.OpenCatalog(context, place.catalog));
    FIRN_ASSIGN(const iceberg::Properties properties, opened.catalog->LoadNamespace(place.ns));
    if (json_) {
      PrintJson(context.out,
                {{"catalog", place.catalog}, {"namespace", place.ns}, {"properties", properties}});
      return ExitCode::kDone;
    }
    TextTable table({{"KEY"}, {"VALUE"}});
    for (const auto& [key, value] : properties) table.AddRow({key, value});
    table.PrintTo(context.out);
    return ExitCode::kDone;
  }

 private:
  CatalogAccess access_;
  std::string namespace_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> MakeCatalogPropertiesCommand() { return std::make_unique<CatalogProperties>(); }

}  // namespace firn::cli
