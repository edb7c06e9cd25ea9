#include "firn/app/plugins/plugins.h"

#include <utility>

#include "firn/catalog/sql/config.h"
#include "firn/catalog/sql/sql_catalog.h"

namespace firn::app {

namespace {

Result<std::shared_ptr<iceberg::Catalog>> OpenSqlCatalog(const catalog::sql::SqlCatalogConfig& config,
                                                         const PluginDeps& deps) {
  FIRN_ASSIGN(std::unique_ptr<catalog::sql::SqlCatalog> opened,
              catalog::sql::SqlCatalog::Open(config, {deps.stores, deps.clock, deps.ids}));
  return std::shared_ptr<iceberg::Catalog>(std::move(opened));
}

}  // namespace

pipeline::CatalogPlugin Sql(const PluginDeps& deps) {
  const auto parse = [deps](const std::string& key, const config::Node& node,
                            config::Problems& problems) -> std::optional<pipeline::CatalogSetup> {
    catalog::sql::SqlCatalogConfig config;
    if (!catalog::sql::SqlCatalogSchema().Read(node, problems, &config)) return std::nullopt;
    if (config.name.empty()) config.name = key;
    pipeline::CatalogSetup setup{key, "sql", config.name, "sqlite:" + config.database_path, config.warehouse,
                                 {}};
    setup.open = [config, deps] { return OpenSqlCatalog(config, deps); };
    return setup;
  };
  const auto describe = [](const std::string& path, std::vector<config::FieldDoc>* out) {
    catalog::sql::SqlCatalogSchema().Describe(path, out);
  };
  return {"sql", parse, describe};
}

}  // namespace firn::app
