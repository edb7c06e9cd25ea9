#include <fmt/format.h>

#include "firn/cli/arguments.h"
#include "firn/cli/catalog/catalog_commands.h"
#include "firn/cli/catalog/place.h"
#include "firn/cli/table/catalog_access.h"

namespace firn::cli {

namespace {

class CatalogDropNamespace final : public Command {
 public:
  std::string_view name() const override { return "drop-namespace"; }
  std::string_view summary() const override { return "Take an empty namespace out of its catalog"; }

  void Declare(Arguments& arguments) override {
    access_.Declare(arguments);
    arguments.Option("NAMESPACE", namespace_, "catalog.namespace").Required();
  }

  Result<ExitCode> Run(Context& context) override {
    FIRN_ASSIGN(const Place place, ParseNamespacePlace(namespace_));
    FIRN_ASSIGN(const OpenedCatalog opened, access_.OpenCatalog(context, place.catalog));
    FIRN_TRY(opened.catalog->DropNamespace(place.ns));
    context.out.Write(fmt::format("dropped {}\n", place.ToString()));
    return ExitCode::kDone;
  }

 private:
  CatalogAccess access_;
  std::string namespace_;
};

}  // namespace

std::unique_ptr<Command> MakeCatalogDropNamespaceCommand() {
  return std::make_unique<CatalogDropNamespace>();
}

}  // namespace firn::cli
