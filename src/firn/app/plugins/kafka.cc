#include "firn/app/plugins/plugins.h"

#include <utility>

#include <fmt/format.h>

#include "firn/source/kafka/config.h"
#include "firn/source/kafka/kafka_source.h"

namespace firn::app {

namespace {

std::string KafkaSummary(const source::kafka::KafkaConfig& config) {
  const std::string topics = config.topics.empty() ? fmt::format("topics like {}", config.topics_pattern)
                                                   : fmt::format("topics {}", fmt::join(config.topics, ", "));
  return fmt::format("kafka {}, {}, group {}", config.bootstrap_servers, topics, config.group_id);
}

}  // namespace

pipeline::SourcePlugin Kafka(const PluginDeps& deps) {
  namespace kafka = source::kafka;
  const auto parse = [deps](const pipeline::SourceContext& context, const config::Node& node,
                            config::Problems& problems) -> std::optional<pipeline::SourceSetup> {
    std::optional<kafka::KafkaConfig> config = kafka::ParseKafkaConfig(node, context.pipeline_id, problems);
    if (!config) return std::nullopt;
    pipeline::SourceSetup setup;
    setup.type = "kafka";
    setup.summary = KafkaSummary(*config);
    setup.on_data_loss = config->on_data_loss == kafka::OnDataLoss::kFail ? pipeline::OnDataLoss::kFail
                                                                          : pipeline::OnDataLoss::kEarliest;
    setup.make = [config = *std::move(config), deps](const pipeline::SourceParts& parts) {
      kafka::KafkaDeps own;
      own.lanes = parts.lanes;
      own.prefetch_bytes = deps.prefetch_bytes();
      own.stop = deps.stop;
      return kafka::MakeKafkaSource(config, own);
    };
    return setup;
  };
  const auto describe = [](const std::string& path, std::vector<config::FieldDoc>* out) {
    kafka::KafkaSchema().Describe(path, out);
  };
  return {"kafka", parse, describe};
}

}  // namespace firn::app
