#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "firn/config/problems.h"
#include "firn/config/schema.h"

namespace firn::source::kafka {

enum class StartAt : uint8_t { kEarliest, kLatest, kOffsets };
enum class IsolationLevel : uint8_t { kReadCommitted, kReadUncommitted };
/// What to do when the log was trimmed past our position.
enum class OnDataLoss : uint8_t { kFail, kEarliest };
/// What to do when the topic or the cluster is not the one we read.
enum class OnSourceRecreated : uint8_t { kFail };

/// Where a first run starts to read. Later runs resume from the table, whatever this says.
struct StartingOffsets {
  StartAt at = StartAt::kEarliest;
  std::map<std::string, std::map<int32_t, int64_t>>
      offsets;  ///< kOffsets, by topic and partition; others start at their first record
};

/// `source.kafka` of a pipeline.
struct KafkaConfig {
  std::string bootstrap_servers;
  std::vector<std::string> topics;
  std::string topics_pattern;
  std::string group_id;
  std::string group_instance_id;
  StartingOffsets starting_offsets;
  std::optional<int64_t> starting_timestamp_ms;
  OnDataLoss on_data_loss = OnDataLoss::kFail;
  OnSourceRecreated on_source_recreated = OnSourceRecreated::kFail;
  IsolationLevel isolation_level = IsolationLevel::kReadCommitted;
  std::map<std::string, std::string> properties;  ///< librdkafka's own names; may hold secrets
  bool headers = true;  ///< fill RawBatch::headers; not a key of the file, the pipeline decides
};

/// The keys with their bounds and documentation.
const config::Schema<KafkaConfig>& KafkaSchema();

/// Reads the node of `source.kafka`; everything that is wrong goes to `problems`. The group of a pipeline
/// that names none is `firn-<pipeline_id>`.
std::optional<KafkaConfig> ParseKafkaConfig(const config::Node& node, std::string_view pipeline_id,
                                            config::Problems& problems);

}  // namespace firn::source::kafka
