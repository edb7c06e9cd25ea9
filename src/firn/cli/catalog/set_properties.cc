#include <fmt/format.h>
#include <fmt/ranges.h>

#include "firn/cli/arguments.h"
#include "firn/cli/catalog/catalog_commands.h"
#include "firn/cli/catalog/place.h"
#include "firn/cli/properties_argument.h"
#include "firn/cli/table/catalog_access.h"

namespace firn::cli {

namespace {

class CatalogSetProperties final : public Command {
 public:
  std::string_view name() const override { return "set-properties"; }
  std::string_view summary() const override { return "Set properties of a namespace"; }

  void Declare(Arguments& arguments) override {
    access_.Declare(arguments);
    arguments.Option("NAMESPACE", namespace_, "catalog.namespace").Required();
    arguments.Option("PROPERTY", properties_, "One or more").Value("KEY=VALUE").Required();
  }

  Result<ExitCode> Run(Context& context) override {
    FIRN_ASSIGN(const Place place, ParseNamespacePlace(namespace_));
    FIRN_ASSIGN(const iceberg::Properties properties, ParseProperties(properties_));
    FIRN_ASSIGN(const OpenedCatalog opened, access_.OpenCatalog(context, place.catalog));
    FIRN_TRY(opened.catalog->UpdateNamespace(place.ns, {}, properties));
    context.out.Write(fmt::format("set {} of {}\n", fmt::join(properties_, ", "), place.ToString()));
    return ExitCode::kDone;
  }

 private:
  CatalogAccess access_;
  std::string namespace_;
  std::vector<std::string> properties_;
};

}  // namespace

std::unique_ptr<Command> MakeCatalogSetPropertiesCommand() {
  return std::make_unique<CatalogSetProperties>();
}

}  // namespace firn::cli
