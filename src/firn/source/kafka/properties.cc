#include "firn/source/kafka/properties.h"

#include <fmt/format.h>
#include <stdio.h>
#include <stdlib.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "firn/base/text_distance.h"
#include "firn/source/kafka/topic_selection.h"

namespace firn::source::kafka {

namespace {

constexpr std::string_view kPositionsInTable = "positions are kept in the table, never in the group";

struct Decided {
  std::string_view property;
  std::string_view own_key;  ///< empty: cannot be chosen
  std::string_view reason;
};

constexpr std::array kDecided = {
    Decided{"bootstrap.servers", "bootstrap_servers", ""},
    Decided{"metadata.broker.list", "bootstrap_servers", ""},
    Decided{"group.id", "group_id", ""},
    Decided{"group.instance.id", "group_instance_id", ""},
    Decided{"isolation.level", "isolation_level", ""},
    Decided{"auto.offset.reset", "starting_offsets", ""},
    Decided{"topic.blacklist", "topics_pattern", ""},
    Decided{"enable.auto.commit", "", kPositionsInTable},
    Decided{"auto.commit.enable", "", kPositionsInTable},
    Decided{"auto.commit.interval.ms", "", kPositionsInTable},
    Decided{"enable.auto.offset.store", "", kPositionsInTable},
    Decided{"offset.store.method", "", kPositionsInTable},
    Decided{"enable.partition.eof", "", "the ends of partitions are part of the positions"},
    Decided{"partition.assignment.strategy", "", "partitions move cooperatively"},
    Decided{"group.protocol", "", "partitions move cooperatively"},
    Decided{"group.remote.assignor", "", "partitions move cooperatively"},
    Decided{"allow.auto.create.topics", "", "reading must not create topics"},
};

bool MayBeSecret(std::string_view name) {
  constexpr std::array kMarks = {"password", "secret", "token",      "jaas",
                                 ".key",     ".pem",   "credential", "sasl.oauthbearer.config",
                                 "username"};
  return std::ranges::any_of(kMarks,
                             [&](const char* mark) { return name.find(mark) != std::string_view::npos; });
}

/// Every property name librdkafka knows, from the table it prints.
std::vector<std::string> KnownProperties() {
  char* text = nullptr;
  size_t size = 0;
  FILE* stream = open_memstream(&text, &size);
  if (stream == nullptr) return {};
  rd_kafka_conf_properties_show(stream);
  fclose(stream);  // NOLINT(bugprone-unused-return-value): memory, nothing to flush to
  std::vector<std::string> names;
  std::string_view rest(text, size);
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    const size_t bar = line.find('|');
    if (bar == std::string_view::npos) continue;
    const std::string_view name = line.substr(0, line.find(' '));
    if (!name.empty() && name.find('.') != std::string_view::npos && name.size() < bar)
      names.emplace_back(name);
  }
  free(text);
  return names;
}

Error UnknownProperty(std::string_view name) {
  Error error(ErrorKind::kInvalidArgument, fmt::format("librdkafka knows no property '{}'", name));
  const auto nearest = NearestName(name, KnownProperties());
  return nearest ? std::move(error).WithRemedy(fmt::format("The nearest is '{}'.", *nearest)) : error;
}

Error InvalidProperty(std::string_view name, const char* reason) {
  if (MayBeSecret(name)) {
    return Error(ErrorKind::kInvalidArgument,
                 fmt::format("librdkafka refuses the value of '{}' (not shown: it may be a secret)", name));
  }
  return Error(ErrorKind::kInvalidArgument, fmt::format("property '{}': {}", name, reason));
}

Status Set(rd_kafka_conf_t* conf, std::string_view name, std::string_view value) {
  char reason[512];
  const auto outcome =
      rd_kafka_conf_set(conf, std::string(name).c_str(), std::string(value).c_str(), reason, sizeof(reason));
  if (outcome == RD_KAFKA_CONF_OK) return Ok();
  return outcome == RD_KAFKA_CONF_UNKNOWN ? UnknownProperty(name) : InvalidProperty(name, reason);
}

Status CheckNotDecided(std::string_view name) {
  const auto* decided = std::ranges::find(kDecided, name, &Decided::property);
  if (decided == kDecided.end()) return Ok();
  if (!decided->own_key.empty()) {
    return Error(ErrorKind::kInvalidArgument, fmt::format("property '{}' is set by Firn", name))
        .WithRemedy(fmt::format("Use the source's own key '{}'.", decided->own_key));
  }
  return Error(ErrorKind::kInvalidArgument,
               fmt::format("property '{}' is decided by Firn: {}", name, decided->reason))
      .WithRemedy("Remove it.");
}

using Settings = std::vector<std::pair<std::string, std::string>>;

/// Read-ahead is bounded by bytes of payload and, because librdkafka keeps some hundred bytes of its own
/// beside each message, by their number. Queues are checked before a fetch, which may then add
/// `fetch.max.bytes`.
Settings PrefetchSettings(const Prefetch& prefetch) {
  constexpr int64_t kMessageOverheadBytes = 512;
  constexpr int64_t kMinFetchBytes =
      1'000'000;  // librdkafka's message.max.bytes, below which it would not go anyhow
  constexpr int64_t kMaxFetchBytes = int64_t{50} << 20;
  const int64_t fetch_bytes = std::clamp(prefetch.bytes / 4, kMinFetchBytes, kMaxFetchBytes);
  const int64_t lane_bytes = std::max<int64_t>(prefetch.bytes - fetch_bytes, 0) / std::max(prefetch.lanes, 1);
  const int64_t payload_kbytes = std::clamp<int64_t>(lane_bytes / 2 / 1024, 64, 2'097'151);
  const int64_t messages = std::clamp<int64_t>(lane_bytes / 2 / kMessageOverheadBytes, 1'000, 1'000'000);
  return {{"fetch.max.bytes", std::to_string(fetch_bytes)},
          {"queued.max.messages.kbytes", std::to_string(payload_kbytes)},
          {"queued.min.messages", std::to_string(messages)}};
}

Settings DefaultSettings(ClientRole role, const Prefetch& prefetch) {
  Settings settings = {
      {"client.id", "firn"},
      {"session.timeout.ms", "10000"},
      {"topic.metadata.refresh.interval.ms", "10000"},
      {"check.crcs", "true"},
      {"reconnect.backoff.max.ms", "2000"},
      {"socket.keepalive.enable", "true"},
      {"enable.metrics.push", "false"},
      // A lane empties its queue in bursts; waiting the default second after each full queue would starve it.
      {"fetch.queue.backoff.ms", "5"},
  };
  const Settings sized = role == ClientRole::kReader
                             ? PrefetchSettings(prefetch)
                             : Settings{{"fetch.wait.max.ms", "50"}, {"queued.max.messages.kbytes", "4096"}};
  settings.insert(settings.end(), sized.begin(), sized.end());
  return settings;
}

Settings DecidedSettings(const KafkaConfig& config, ClientRole role) {
  const bool committed = config.isolation_level == IsolationLevel::kReadCommitted;
  Settings settings = {
      {"bootstrap.servers", config.bootstrap_servers},
      {"group.id", config.group_id},
      {"isolation.level", committed ? "read_committed" : "read_uncommitted"},
      {"auto.offset.reset", "error"},
      {"topic.blacklist", std::string(InternalTopicsPattern())},
      {"enable.auto.commit", "false"},
      {"enable.auto.offset.store", "false"},
      {"enable.partition.eof", "true"},
      {"partition.assignment.strategy", "cooperative-sticky"},
      {"allow.auto.create.topics", "false"},
  };
  if (role == ClientRole::kReader && !config.group_instance_id.empty()) {
    settings.emplace_back("group.instance.id", config.group_instance_id);
  }
  return settings;
}

}  // namespace

Status CheckProperty(std::string_view name, std::string_view value) {
  FIRN_TRY(CheckNotDecided(name));
  const ConfPtr conf(rd_kafka_conf_new());
  return Set(conf.get(), name, value);
}

Result<ConfPtr> MakeConf(const KafkaConfig& config, ClientRole role, const Prefetch& prefetch) {
  ConfPtr conf(rd_kafka_conf_new());
  for (const auto& [name, value] : DefaultSettings(role, prefetch)) FIRN_TRY(Set(conf.get(), name, value));
  for (const auto& [name, value] : config.properties) {
    FIRN_TRY(CheckNotDecided(name));
    FIRN_TRY(Set(conf.get(), name, value));
  }
  for (const auto& [name, value] : DecidedSettings(config, role)) FIRN_TRY(Set(conf.get(), name, value));
  return conf;
}

}  // namespace firn::source::kafka
