#include "firn/source/kafka/config.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "firn/source/kafka/properties.h"
#include "firn/source/kafka/topic_selection.h"

namespace firn::source::kafka {

namespace {

constexpr std::string_view kOffsetsForm = "`earliest`, `latest` or {topic: {partition: offset}}";

/// Kafka's own rule for names.
bool IsTopicName(std::string_view name) {
  constexpr size_t kMaxLength = 249;
  const auto legal = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-';
  };
  return !name.empty() && name.size() <= kMaxLength && name != "." && name != ".." &&
         std::ranges::all_of(name, legal);
}

Result<std::string> ParseTopicName(std::string_view text) {
  if (IsTopicName(text)) return std::string(text);
  return Error(ErrorKind::kInvalidArgument,
               fmt::format("'{}' is not a topic name (letters, digits, '.', '_', '-')", text))
      .WithRemedy("A pattern goes under topics_pattern.");
}

template <typename Int>
bool ReadNumber(const config::Node& node, std::string_view text, std::string_view what,
                config::Problems& problems, Int* out) {
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), *out);
  if (code == std::errc() && end == text.data() + text.size() && *out >= 0) return true;
  problems.Add(node, fmt::format("'{}' is not {} (a whole number from 0 on)", text, what));
  return false;
}

bool ReadTopicOffsets(const config::Node& topic, config::Problems& problems,
                      std::map<int32_t, int64_t>* out) {
  if (!topic.is_map()) {
    problems.Add(topic, "expected a map of partition to offset");
    return false;
  }
  bool good = true;
  for (const auto& [key, place, value] : topic.Entries()) {
    int32_t partition = 0;
    int64_t offset = 0;
    const bool read = ReadNumber(value, key, "a partition", problems, &partition) &&
                      ReadNumber(value, value.text(), "an offset", problems, &offset);
    if (read) out->emplace(partition, offset);
    good &= read;
  }
  return good;
}

bool ReadStartingOffsets(const config::Node& node, config::Problems& problems, StartingOffsets* out) {
  *out = {};
  if (node.is_scalar() && node.text() == "earliest") return true;
  if (node.is_scalar() && node.text() == "latest") {
    out->at = StartAt::kLatest;
    return true;
  }
  if (!node.is_map()) {
    problems.Add(node, fmt::format("expected {}", kOffsetsForm));
    return false;
  }
  out->at = StartAt::kOffsets;
  bool good = true;
  for (const auto& [topic, place, partitions] : node.Entries()) {
    good &= ReadTopicOffsets(partitions, problems, &out->offsets[topic]);
  }
  return good;
}

bool ReadProperties(const config::Node& node, config::Problems& problems,
                    std::map<std::string, std::string>* out) {
  if (!node.is_map()) {
    problems.Add(node, "expected a map of librdkafka's properties");
    return false;
  }
  out->clear();
  bool good = true;
  for (const auto& [name, place, value] : node.Entries()) {
    const Status checked = CheckProperty(name, value.text());
    if (!checked.ok()) problems.Add(value, checked.error().ToString());
    good &= checked.ok();
    out->emplace(name, value.text());
  }
  return good;
}

std::string ShowStartingOffsets(const StartingOffsets& start) {
  return start.at == StartAt::kLatest ? "latest" : "earliest";
}

void CheckPattern(const KafkaConfig& config, config::Checker& check) {
  if (config.topics_pattern.empty()) return;
  if (const auto selection = TopicSelection::Make(config); !selection.ok()) {
    check.Fail("topics_pattern", selection.error().ToString());
  }
}

void CheckStartingTopics(const KafkaConfig& config, config::Checker& check) {
  const auto selection = TopicSelection::Make(config);
  if (!selection.ok()) return;
  for (const auto& [topic, offsets] : config.starting_offsets.offsets) {
    if (!selection->Matches(topic)) {
      check.Fail("starting_offsets", fmt::format("names topic '{}', which this source does not read", topic));
    }
  }
}

}  // namespace

const config::Schema<KafkaConfig>& KafkaSchema() {
  using Config = KafkaConfig;
  static const auto schema =
      config::Schema<Config>()
          .Required("bootstrap_servers", &Config::bootstrap_servers, config::Text(),
                    "Brokers to begin with, `host:port`, comma separated.")
          .Field("topics", &Config::topics,
                 config::ListOf(config::Parsed<std::string>("topic", ParseTopicName), /*allow_empty=*/false),
                 "The topics to read. Either these or `topics_pattern`.")
          .Field("topics_pattern", &Config::topics_pattern, config::Text(),
                 "Every topic whose whole name matches this POSIX extended regular expression, also topics "
                 "made later.")
          .Field("group_id", &Config::group_id, config::Text(),
                 "Consumer group that spreads the partitions over the pipeline's processes.",
                 "firn-<pipeline id>")
          .Field("group_instance_id", &Config::group_instance_id, config::Text(),
                 "Static membership: a restarted process gets its partitions back without a rebalance. One "
                 "name a process.")
          .Field("starting_offsets", &Config::starting_offsets,
                 config::Custom<StartingOffsets>("start", ReadStartingOffsets, std::string(kOffsetsForm),
                                                 ShowStartingOffsets),
                 "Where the first run starts; partitions not named start at their first record. Later runs "
                 "resume from the table.")
          .Field("starting_timestamp", &Config::starting_timestamp_ms, config::Instant(),
                 "The first run starts at the first record of this time or later.")
          .Field(
              "on_data_loss", &Config::on_data_loss,
              config::Choice<OnDataLoss>({{"fail", OnDataLoss::kFail}, {"earliest", OnDataLoss::kEarliest}}),
              "The log was trimmed past our position: stop, or go on at its first record.")
          .Field("on_source_recreated", &Config::on_source_recreated,
                 config::Choice<OnSourceRecreated>({{"fail", OnSourceRecreated::kFail}}),
                 "The topic or the cluster is not the one that was read: stop; `firn offsets` decides.")
          .Field("isolation_level", &Config::isolation_level,
                 config::Choice<IsolationLevel>({{"read_committed", IsolationLevel::kReadCommitted},
                                                 {"read_uncommitted", IsolationLevel::kReadUncommitted}}),
                 "Whether records of open and aborted transactions are read.")
          .Field("properties", &Config::properties,
                 config::Custom<std::map<std::string, std::string>>("map of librdkafka's properties",
                                                                    ReadProperties),
                 "Any librdkafka property (security.protocol, sasl.*, ssl.*, fetch.* ...) but those that "
                 "Firn decides.")
          .ExactlyOneOf({"topics", "topics_pattern"})
          .Exclusive({"starting_offsets", "starting_timestamp"})
          .Check(CheckPattern)
          .Check(CheckStartingTopics);
  return schema;
}

std::optional<KafkaConfig> ParseKafkaConfig(const config::Node& node, std::string_view pipeline_id,
                                            config::Problems& problems) {
  KafkaConfig config;
  if (!KafkaSchema().Read(node, problems, &config)) return std::nullopt;
  if (config.group_id.empty()) config.group_id = fmt::format("firn-{}", pipeline_id);
  return config;
}

}  // namespace firn::source::kafka
