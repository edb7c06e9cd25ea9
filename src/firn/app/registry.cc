#include "firn/app/registry.h"

#include <string_view>

#include <fmt/format.h>

#include "firn/app/plugins/plugins.h"
#include "firn/store/local/local_path.h"
#include "firn/store/local/local_store.h"
#include "firn/store/metered_store.h"

namespace firn::app {

namespace {

class SchemeResolver final : public store::StoreResolver {
 public:
  explicit SchemeResolver(obs::Metrics& metrics)
      : local_(
            std::make_shared<store::MeteredStore>(std::make_shared<store::LocalStore>(), "local", metrics)) {}

  Result<std::shared_ptr<store::Store>> Resolve(std::string_view location,
                                                const store::StoreAccess& /*access*/) override {
    if (store::IsLocalLocation(location)) return local_;
    return Error(ErrorKind::kUnsupported, fmt::format("no store for {}", location))
        .WithRemedy("This version writes to local folders: file:///path or /path.");
  }

 private:
  const std::shared_ptr<store::Store> local_;
};

}  // namespace

pipeline::Plugins MakePlugins(const PluginDeps& deps) {
  return {
      .sources = {Kafka(deps)},
      .decoders = {Json(deps)},
      .catalogs = {Sql(deps), Rest(deps)},
  };
}

std::shared_ptr<store::StoreResolver> MakeStoreResolver(obs::Metrics& metrics) {
  return std::make_shared<SchemeResolver>(metrics);
}

}  // namespace firn::app
