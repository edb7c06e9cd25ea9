#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "firn/base/result.h"
#include "firn/config/node.h"
#include "firn/config/schema.h"
#include "firn/decode/schema_registry/config.h"
#include "firn/pipeline/config.h"
#include "firn/pipeline/config_reader.h"
#include "firn/pipeline/pipeline_file.h"

/// What the keys of a file say, before plug-ins have read theirs and before anything is checked that two keys
/// say together (FileBuilder).
namespace firn::pipeline {

struct FailAboveFields {
  double ratio = DeadLetterConfig{}.fail_above_ratio;
  int64_t min_records = DeadLetterConfig{}.fail_above_min_records;
};

struct DeadLetterFields {
  std::optional<TableName> table;
  bool keep_payload = true;
  FailAboveFields fail_above;
};

struct DecodeFields {
  std::string format;
  config::Node settings;  ///< the map with `format`; an empty one for the short form
  config::Node whole;
  std::optional<decode::SchemaRegistryConfig> registry;
  std::optional<config::Node> key;
};

struct PipelineFields {
  std::optional<std::string> id;
  config::Selection source;
  DecodeFields decode;
  std::optional<TableName> table;
  std::vector<TableConfig> tables;
  CommitConfig commit;
  BadRecordPolicy on_bad_record = BadRecordPolicy::kDeadLetter;
  TombstonePolicy tombstones = TombstonePolicy::kSkip;
  int64_t max_record_bytes = PipelineConfig{}.max_record_bytes;
  DeadLetterFields dead_letters;
};

struct FileFields {
  std::map<std::string, config::Node> catalogs;
  std::map<std::string, PipelineFields> pipelines;
  ResourceConfig resources;
  std::optional<std::string> listen;
};

/// The keys of `pipelines.<name>`.
config::Schema<PipelineFields> PipelineSchema(const Plugins& plugins);
/// The whole file; `pipeline` must live as long.
config::Schema<FileFields> FileSchema(const config::Schema<PipelineFields>& pipeline);

/// An id becomes part of a property's name and of a group id.
Result<std::string> ParseId(std::string_view text);

}  // namespace firn::pipeline
