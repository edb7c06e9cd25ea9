#include <fmt/format.h>

#include "firn/cli/arguments.h"
#include "firn/cli/catalog/catalog_commands.h"
#include "firn/cli/catalog/place.h"
#include "firn/cli/properties_argument.h"
#include "firn/cli/table/catalog_access.h"

namespace firn::cli {

namespace {

class CatalogCreateNamespace final : public Command {
 public:
  std::string_view name() const override { return "create-namespace"; }
  std::string_view summary() const override { return "Make a namespace"; }

  void Declare(Arguments& arguments) override {
    access_.Declare(arguments);
    arguments.Option("NAMESPACE", namespace_, "catalog.namespace").Required();
    arguments.Option("--property", properties_, "Property of the namespace; may be repeated")
        .Value("KEY=VALUE")
        .Repeated();
  }

  Result<ExitCode> Run(Context& context) override {
    FIRN_ASSIGN(const Place place, ParseNamespacePlace(namespace_));
    FIRN_ASSIGN_CTX(const iceberg::Properties properties, ParseProperties(properties_), "--property");
    FIRN_ASSIGN(const OpenedCatalog opened, access_.OpenOrMakeCatalog(context, place.catalog));
    FIRN_TRY(opened.catalog->CreateNamespace(place.ns, properties));
    context.out.Write(fmt::format("created {}\n", place.ToString()));
    return ExitCode::kDone;
  }

 private:
  CatalogAccess access_;
  std::string namespace_;
  std::vector<std::string> properties_;
};

}  // namespace

std::unique_ptr<Command> MakeCatalogCreateNamespaceCommand() {
  return std::make_unique<CatalogCreateNamespace>();
}

}  // namespace firn::cli
