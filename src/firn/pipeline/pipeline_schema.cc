#include "firn/pipeline/pipeline_schema.h"

#include <charconv>
#include <utility>

#include <fmt/format.h>

#include "firn/pipeline/plugin_names.h"
#include "firn/pipeline/table_schema.h"

namespace firn::pipeline {

namespace {

using config::Node;
using config::Problems;

constexpr int64_t kMaxRecordBytes = int64_t{512} << 20;
constexpr int64_t kMinMemoryBytes = int64_t{128} << 20;

/// `127.0.0.1:8321`, `[::1]:8321`, `localhost:0`.
Result<std::string> ParseListenAddress(std::string_view text) {
  const size_t colon = text.rfind(':');
  const std::string_view port = colon == std::string_view::npos ? "" : text.substr(colon + 1);
  int number = -1;
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), number);
  const bool good = colon != 0 && !port.empty() && error == std::errc() && end == port.data() + port.size() &&
                    number >= 0 && number <= 65535;
  if (good) return std::string(text);
  return Error(ErrorKind::kInvalidArgument,
               fmt::format("\"{}\" is not HOST:PORT, for example 127.0.0.1:8321", text));
}

const config::Schema<CommitConfig>& CommitSchema() {
  static const auto schema =
      config::Schema<CommitConfig>()
          .Field("interval", &CommitConfig::interval_ms, config::Duration({.min = 100, .max = 86'400'000}),
                 "A batch is committed at the latest this long after its first record.")
          .Field("max_records", &CommitConfig::max_records, config::Integer<int64_t>({.min = 1}),
                 "A batch is committed when it holds this many records.")
          .Field("max_input_bytes", &CommitConfig::max_input_bytes, config::Bytes({.min = 1024}),
                 "A batch is committed when it has taken this many bytes of payload.");
  return schema;
}

const config::Schema<FailAboveFields>& FailAboveSchema() {
  static const auto schema =
      config::Schema<FailAboveFields>()
          .Field("ratio", &FailAboveFields::ratio, config::Number({.min = 0, .max = 1}),
                 "Share of bad records above which the pipeline stops.")
          .Field("min_records", &FailAboveFields::min_records, config::Integer<int64_t>({.min = 1}),
                 "The share counts from this many records on.");
  return schema;
}

const config::Schema<DeadLetterFields>& DeadLetterSchema() {
  static const auto schema =
      config::Schema<DeadLetterFields>()
          .Field("table", &DeadLetterFields::table, TableNameText(),
                 "Table of the bad records, one per pipeline.", "<table>_dead_letters")
          .Field("payload", &DeadLetterFields::keep_payload,
                 config::Choice<bool>({{"full", true}, {"none", false}}),
                 "Whether key and value of the records are kept; `replay` needs them.")
          .Field("fail_above", &DeadLetterFields::fail_above, config::Object(FailAboveSchema()),
                 "A wrong schema must not drain a topic: above this the pipeline stops before it moves on.");
  return schema;
}

const config::Schema<ResourceConfig>& ResourceSchema() {
  static const auto schema =
      config::Schema<ResourceConfig>()
          .Field("memory", &ResourceConfig::memory_bytes, config::Bytes({.min = kMinMemoryBytes}),
                 "Of the whole process: rows, files being written, records read ahead, and what the program "
                 "itself needs.",
                 "half of the control group's or machine's memory")
          .Field("threads", &ResourceConfig::threads, config::Integer<int32_t>({.min = 1, .max = 1024}),
                 "Lanes that decode and write.", "the CPUs of the control group or machine");
  return schema;
}

config::TypePtr<DecodeFields> DecodeType(const std::vector<std::string>& formats) {
  const auto read_map = [formats](const Node& node, Problems& problems, DecodeFields* out) {
    struct ValueKeys {
      Node value;
      std::optional<Node> key;
      std::optional<decode::SchemaRegistryConfig> registry;
    };
    static const auto schema =
        config::Schema<ValueKeys>()
            .Required("value", &ValueKeys::value, config::Raw("map"), "Format of the record's value.")
            .Field("key", &ValueKeys::key, config::Raw("map"), "Format of the record's key.")
            .Field("schema_registry", &ValueKeys::registry, config::Object(decode::SchemaRegistrySchema()),
                   "Where the schemas of the records are registered.");
    ValueKeys keys;
    if (!schema.Read(node, problems, &keys)) return false;
    const std::optional<Node> format = keys.value.Find("format");
    if (!format) {
      problems.Add(keys.value, "the key \"format\" is missing");
      return false;
    }
    *out = {format->text(), keys.value, node, std::move(keys.registry), std::move(keys.key)};
    return true;
  };
  const auto read = [formats, read_map](const Node& node, Problems& problems, DecodeFields* out) {
    if (node.is_scalar()) {
      *out = {node.text(), Node(), node, std::nullopt, std::nullopt};
    } else if (!read_map(node, problems, out)) {
      return false;
    }
    for (const std::string& format : formats) {
      if (format == out->format) return true;
    }
    problems.Add(node, fmt::format("\"{}\" is no format; there is {}{}", out->format,
                                   fmt::join(formats, ", "), Suggestion(out->format, formats)));
    return false;
  };
  return config::Custom<DecodeFields>("word or map", read, fmt::format("{}", fmt::join(formats, ", ")), {});
}

}  // namespace

Result<std::string> ParseId(std::string_view text) {
  const bool good =
      !text.empty() && text.size() <= 200 &&
      text.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") ==
          std::string_view::npos;
  if (good) return std::string(text);
  return Error(ErrorKind::kInvalidArgument,
               fmt::format("\"{}\" is no id: up to 200 letters, digits, '.', '_' and '-'", text));
}

config::Schema<PipelineFields> PipelineSchema(const Plugins& plugins) {
  return config::Schema<PipelineFields>()
      .Field(
          "id", &PipelineFields::id, config::Parsed<std::string>("text", ParseId),
          "Identity of the pipeline's progress in the table. Renaming the key is harmless where id is set.",
          "the key")
      .Required("source", &PipelineFields::source, config::OneKeyOf(NamesOf(plugins.sources)),
                "Where records come from.")
      .Required("decode", &PipelineFields::decode, DecodeType(NamesOf(plugins.decoders)),
                "How records are read: a format, short for `{value: {format: ...}}`.")
      .Field("table", &PipelineFields::table, TableNameText(),
             "Short for `tables:` with one rule that has a name only.")
      .Field(
          "tables", &PipelineFields::tables, config::ListOf(config::Object(TableSchema()), false),
          "Where records go and how those tables are made: a list of rules, the first that matches decides.")
      .Field("commit", &PipelineFields::commit, config::Object(CommitSchema()),
             "A batch is committed when the first of these is reached.")
      .Field("on_bad_record", &PipelineFields::on_bad_record,
             config::Choice<BadRecordPolicy>({{"dead_letter", BadRecordPolicy::kDeadLetter},
                                              {"fail", BadRecordPolicy::kFail},
                                              {"skip", BadRecordPolicy::kSkip}}),
             "A record that cannot become a row: kept in the dead-letter table, the end of the run, or "
             "skipped and counted.")
      .Field("tombstones", &PipelineFields::tombstones,
             config::Choice<TombstonePolicy>(
                 {{"skip", TombstonePolicy::kSkip}, {"dead_letter", TombstonePolicy::kDeadLetter}}),
             "A record without a value: skipped and counted, or a dead letter.")
      .Field("max_record_bytes", &PipelineFields::max_record_bytes,
             config::Bytes({.min = 1024, .max = kMaxRecordBytes}),
             "A record whose key and value are longer is a bad record (`record_too_long`).")
      .Field("dead_letters", &PipelineFields::dead_letters, config::Object(DeadLetterSchema()),
             "The table of bad records.")
      .ExactlyOneOf({"table", "tables"});
}

config::Schema<FileFields> FileSchema(const config::Schema<PipelineFields>& pipeline) {
  return config::Schema<FileFields>()
      .Field("catalogs", &FileFields::catalogs, config::MapOf(config::Raw("map")),
             "Catalogs by the name that table names begin with.")
      .Field("pipelines", &FileFields::pipelines, config::MapOf(config::Object(pipeline)),
             "Pipelines by name.")
      .Field("resources", &FileFields::resources, config::Object(ResourceSchema()), "Of the process.")
      .Field("listen", &FileFields::listen, config::Parsed<std::string>("host:port", ParseListenAddress),
             "Address of `/metrics`, `/health/live`, `/health/ready` and `/status` of `firn run`.", "off");
}

}  // namespace firn::pipeline
