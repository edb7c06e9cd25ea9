#include "firn/app/registry.h"

#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "firn/catalog/sql/config.h"
#include "firn/catalog/sql/sql_catalog.h"
#include "firn/decode/json/infer_schema.h"
#include "firn/decode/json/json_decoder.h"
#include "firn/source/kafka/config.h"
#include "firn/source/kafka/kafka_source.h"
#include "firn/store/local/local_path.h"
#include "firn/store/local/local_store.h"
#include "firn/store/metered_store.h"

namespace firn::app {

namespace {

using pipeline::CatalogPlugin;
using pipeline::CatalogSetup;
using pipeline::DecoderPlugin;
using pipeline::DecoderSetup;
using pipeline::SourcePlugin;
using pipeline::SourceSetup;

// --- sources ---

std::string KafkaSummary(const source::kafka::KafkaConfig& config) {
  const std::string topics = config.topics.empty() ? fmt::format("topics like {}", config.topics_pattern)
                                                   : fmt::format("topics {}", fmt::join(config.topics, ", "));
  return fmt::format("kafka {}, {}, group {}", config.bootstrap_servers, topics, config.group_id);
}

SourcePlugin Kafka(const PluginDeps& deps) {
  namespace kafka = source::kafka;
  const auto parse = [deps](const pipeline::SourceContext& context, const config::Node& node,
                            config::Problems& problems) -> std::optional<SourceSetup> {
    std::optional<kafka::KafkaConfig> config = kafka::ParseKafkaConfig(node, context.pipeline_id, problems);
    if (!config) return std::nullopt;
    SourceSetup setup;
    setup.type = "kafka";
    setup.summary = KafkaSummary(*config);
    setup.on_data_loss = config->on_data_loss == kafka::OnDataLoss::kFail ? pipeline::OnDataLoss::kFail
                                                                          : pipeline::OnDataLoss::kEarliest;
    setup.make = [config = *std::move(config), deps](int lanes) {
      kafka::KafkaDeps own;
      own.lanes = lanes;
      own.prefetch_bytes = deps.prefetch_bytes();
      return kafka::MakeKafkaSource(config, own);
    };
    return setup;
  };
  const auto describe = [](const std::string& path, std::vector<config::FieldDoc>* out) {
    kafka::KafkaSchema().Describe(path, out);
  };
  return {"kafka", parse, describe};
}

// --- formats ---

/// JSON has no keys of its own beside `format`.
struct JsonKeys {
  std::string format = "json";
};

const config::Schema<JsonKeys>& JsonSchema() {
  static const auto schema = config::Schema<JsonKeys>().Field("format", &JsonKeys::format, config::Text(),
                                                              "`json`: each value is one object.");
  return schema;
}

DecoderPlugin Json() {
  const auto parse = [](const config::Node& node, config::Problems& problems) -> std::optional<DecoderSetup> {
    JsonKeys keys;
    if (!JsonSchema().Read(node, problems, &keys)) return std::nullopt;
    return DecoderSetup{"json", decode::MakeJsonDecoder, decode::InferSchema};
  };
  const auto describe = [](const std::string& path, std::vector<config::FieldDoc>* out) {
    JsonSchema().Describe(path, out);
  };
  return {"json", parse, describe};
}

// --- catalogs ---

Result<std::shared_ptr<iceberg::Catalog>> OpenSqlCatalog(const catalog::sql::SqlCatalogConfig& config,
                                                         const PluginDeps& deps) {
  FIRN_ASSIGN(std::unique_ptr<catalog::sql::SqlCatalog> opened,
              catalog::sql::SqlCatalog::Open(config, {deps.stores, deps.clock, deps.ids}));
  return std::shared_ptr<iceberg::Catalog>(std::move(opened));
}

CatalogPlugin Sql(const PluginDeps& deps) {
  const auto parse = [deps](const std::string& key, const config::Node& node,
                            config::Problems& problems) -> std::optional<CatalogSetup> {
    catalog::sql::SqlCatalogConfig config;
    if (!catalog::sql::SqlCatalogSchema().Read(node, problems, &config)) return std::nullopt;
    if (config.name.empty()) config.name = key;
    CatalogSetup setup{key, "sql", config.name, "sqlite:" + config.database_path, config.warehouse, {}};
    setup.open = [config, deps] { return OpenSqlCatalog(config, deps); };
    return setup;
  };
  const auto describe = [](const std::string& path, std::vector<config::FieldDoc>* out) {
    catalog::sql::SqlCatalogSchema().Describe(path, out);
  };
  return {"sql", parse, describe};
}

// --- stores ---

class SchemeResolver final : public store::StoreResolver {
 public:
  explicit SchemeResolver(obs::Metrics& metrics)
      : local_(
            std::make_shared<store::MeteredStore>(std::make_shared<store::LocalStore>(), "local", metrics)) {}

  Result<std::shared_ptr<store::Store>> Resolve(std::string_view location) override {
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
      .decoders = {Json()},
      .catalogs = {Sql(deps)},
  };
}

std::shared_ptr<store::StoreResolver> MakeStoreResolver(obs::Metrics& metrics) {
  return std::make_shared<SchemeResolver>(metrics);
}

}  // namespace firn::app
