#include <fmt/format.h>
#include <fmt/ranges.h>

#include "firn/cli/arguments.h"
#include "firn/cli/catalog/catalog_commands.h"
#include "firn/cli/catalog/place.h"
#include "firn/cli/table/catalog_access.h"

namespace firn::cli {

namespace {

class CatalogUnsetProperties final : public Command {
 public:
  std::string_view name() const override { return "unset-properties"; }
  std::string_view summary() const override { return "Take properties of a namespace away"; }

  void Declare(Arguments& arguments) override {
    access_.Declare(arguments);
    arguments.Option("NAMESPACE", namespace_, "catalog.namespace").Required();
    arguments.Option("KEY", keys_, "One or more; one that is not set is no error").Required();
  }

  Result<ExitCode> Run(Context& context) override {
    FIRN_ASSIGN(const Place place, ParseNamespacePlace(namespace_));
    FIRN_ASSIGN(const OpenedCatalog opened, access_.OpenCatalog(context, place.catalog));
    FIRN_TRY(opened.catalog->UpdateNamespace(place.ns, keys_, {}));
    context.out.Write(fmt::format("unset {} of {}\n", fmt::join(keys_, ", "), place.ToString()));
    return ExitCode::kDone;
  }

 private:
  CatalogAccess access_;
  std::string namespace_;
  std::vector<std::string> keys_;
};

}  // namespace

std::unique_ptr<Command> MakeCatalogUnsetPropertiesCommand() {
  return std::make_unique<CatalogUnsetProperties>();
}

}  // namespace firn::cli
