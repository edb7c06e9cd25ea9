#include <utility>

#include "firn/app/plugins/plugins.h"
#include "firn/catalog/rest/config.h"
#include "firn/catalog/rest/rest_catalog.h"
#include "firn/http/aws/chain.h"

namespace firn::app {

namespace {

/// The keys of AWS's default chain, looked for when the first request is signed.
catalog::rest::AwsCredentialsSource AwsChain(const PluginDeps& deps) {
  auto chain = http::aws::DefaultCredentials(
      http::aws::SystemAwsDeps(http::MakeHttpClient({}), *deps.clock, *deps.ids));
  return [chain]() -> Result<http::sigv4::Credentials> {
    FIRN_ASSIGN(http::aws::AwsCredentials found, chain->Get());
    return std::move(found.keys);
  };
}

Result<std::shared_ptr<iceberg::Catalog>> OpenRestCatalog(const catalog::rest::RestCatalogConfig& config,
                                                          const PluginDeps& deps) {
  FIRN_ASSIGN(
      std::unique_ptr<catalog::rest::RestCatalog> opened,
      catalog::rest::RestCatalog::Open(
          config,
          {.stores = deps.stores, .clock = deps.clock, .ids = deps.ids, .aws_credentials = AwsChain(deps)}));
  return std::shared_ptr<iceberg::Catalog>(std::move(opened));
}

}  // namespace

pipeline::CatalogPlugin Rest(const PluginDeps& deps) {
  const auto parse = [deps](const std::string& key, const config::Node& node,
                            config::Problems& problems) -> std::optional<pipeline::CatalogSetup> {
    catalog::rest::RestCatalogConfig config;
    if (!catalog::rest::RestCatalogSchema().Read(node, problems, &config)) return std::nullopt;
    config.name = key;
    pipeline::CatalogSetup setup{key, "rest", key, config.uri, config.warehouse.value_or(""), {}};
    setup.open = [config = std::move(config), deps] { return OpenRestCatalog(config, deps); };
    return setup;
  };
  const auto describe = [](const std::string& path, std::vector<config::FieldDoc>* out) {
    catalog::rest::RestCatalogSchema().Describe(path, out);
  };
  return {"rest", parse, describe};
}

}  // namespace firn::app
