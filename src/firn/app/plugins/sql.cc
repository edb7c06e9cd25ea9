#include "firn/app/plugins/plugins.h"

#include <filesystem>
#include <utility>

#include "firn/catalog/sql/config.h"
#include "firn/catalog/sql/sql_catalog.h"
#include "firn/store/local/local_path.h"
#include "firn/store/probe.h"

namespace firn::app {

namespace {

namespace fs = std::filesystem;
using catalog::sql::SqlCatalog;
using catalog::sql::SqlCatalogConfig;
using Opener = Result<std::unique_ptr<SqlCatalog>> (*)(SqlCatalogConfig, catalog::sql::SqlCatalogDeps);

Result<std::shared_ptr<iceberg::Catalog>> OpenSqlCatalog(Opener open, const SqlCatalogConfig& config,
                                                         const PluginDeps& deps) {
  FIRN_ASSIGN(std::unique_ptr<SqlCatalog> opened, open(config, {deps.stores, deps.clock, deps.ids}));
  return std::shared_ptr<iceberg::Catalog>(std::move(opened));
}

/// Where the first table's folder would be made: a look must not leave folders behind.
Result<std::string> NearestFolder(const std::string& warehouse) {
  FIRN_ASSIGN(const store::LocalLocation location, store::ParseLocalLocation(warehouse));
  fs::path path = location.path;
  std::error_code failed;
  while (!fs::exists(path, failed) && path.has_parent_path() && path != path.parent_path())
    path = path.parent_path();
  if (fs::is_directory(path, failed)) return location.scheme + path.string();
  return Error(ErrorKind::kInvalidArgument, path.string() + " is not a folder")
      .WithRemedy("Move it away, or name another warehouse.");
}

Status ProbeWarehouse(const SqlCatalogConfig& config, const PluginDeps& deps) {
  std::string folder = config.warehouse;
  if (store::IsLocalLocation(folder)) {
    FIRN_ASSIGN(folder, NearestFolder(folder));
  }
  FIRN_ASSIGN(const std::shared_ptr<store::Store> probed,
              deps.stores->Resolve(folder, store::ToStoreAccess(config.s3)));
  return store::ProbeWritable(*probed, folder, deps.ids->Uuid());
}

}  // namespace

pipeline::CatalogPlugin Sql(const PluginDeps& deps) {
  const auto parse = [deps](const std::string& key, const config::Node& node,
                            config::Problems& problems) -> std::optional<pipeline::CatalogSetup> {
    catalog::sql::SqlCatalogConfig config;
    if (!catalog::sql::SqlCatalogSchema().Read(node, problems, &config)) return std::nullopt;
    if (config.name.empty()) config.name = key;
    pipeline::CatalogSetup setup;
    setup.key = key;
    setup.type = "sql";
    setup.name = config.name;
    setup.uri = db::PlaceOf(config.database);
    setup.warehouse = config.warehouse;
    setup.open = [config, deps] { return OpenSqlCatalog(&SqlCatalog::Open, config, deps); };
    setup.open_existing = [config, deps] { return OpenSqlCatalog(&SqlCatalog::OpenExisting, config, deps); };
    setup.probe_warehouse = [config, deps] { return ProbeWarehouse(config, deps); };
    return setup;
  };
  const auto describe = [](const std::string& path, std::vector<config::FieldDoc>* out) {
    catalog::sql::SqlCatalogSchema().Describe(path, out);
  };
  return {"sql", parse, describe};
}

}  // namespace firn::app
