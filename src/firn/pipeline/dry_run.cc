#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "firn/iceberg/scan/row_json.h"
#include "firn/pipeline/pipeline.h"
#include "firn/pipeline/sample.h"
#include "firn/pipeline/start_plan.h"
#include "firn/pipeline/table_definition.h"
#include "firn/pipeline/table_setup.h"

namespace firn::pipeline {

namespace {

constexpr int64_t kSampleWaitMs = 10'000;
constexpr size_t kShownRows = 10;
constexpr size_t kShownLetters = 5;

/// What a sample became, in words and in rows.
struct Decoded {
  int64_t records = 0;
  int64_t tombstones = 0;
  int64_t unknown_fields = 0;
  std::vector<record::DeadLetter> letters;
  std::vector<nlohmann::ordered_json> rows;
  std::vector<std::string> new_fields;
};

// The table as it is, or as it would be made.
Result<iceberg::TableMetadata> TableOrDefinition(const PipelineConfig& config, const PipelineDeps& deps,
                                                 std::string& text) {
  auto loaded = deps.catalog->LoadTable(Identifier(config.table.name));
  if (loaded.ok()) {
    FIRN_TRY(CheckDeclaredColumns(config.table, *loaded->metadata));
    text += fmt::format("Table {} exists ({}).\n", config.table.name.ToString(), loaded->metadata->location);
    return *loaded->metadata;
  }
  if (loaded.error().kind() != ErrorKind::kNotFound || !config.table.create) return std::move(loaded).error();
  iceberg::SchemaPtr schema;
  if (config.table.columns.empty()) {
    FIRN_ASSIGN(auto inferred, InferFromSource(deps, BriefPatience(*deps.clock)));
    schema = std::move(inferred.schema);
    for (const std::string& note : inferred.notes) text += note + "\n";
  } else {
    FIRN_ASSIGN(schema, SchemaOfColumns(config.table.columns, config.table.format_version));
  }
  FIRN_ASSIGN(auto definition, TableDefinition(config.table, schema));
  text += fmt::format("Table {} would be made:\n{}\n", config.table.name.ToString(),
                      CreateTableStatement(config.table.name.ToString(), definition));
  definition.uuid = deps.ids->Uuid();
  definition.location = "not-written";
  return iceberg::NewTableMetadata(definition, deps.clock->NowMs());
}

Result<record::Positions> SamplePositions(const PipelineConfig& config, const PipelineDeps& deps,
                                          source::Source& source) {
  FIRN_ASSIGN(auto all, source.ListPartitions());
  std::vector<record::SourcePartition> partitions;
  for (const auto& [partition, bound] : all) partitions.push_back(partition);
  FIRN_ASSIGN(auto positions, source.ResolveStart(partitions));
  auto known = TablePositions(*deps.catalog, config);
  if (!known.ok()) return positions;
  for (auto& [partition, position] : positions) {
    if (auto at = known->find(partition); at != known->end())
      position.next = std::max(at->second.next, all.at(partition).first);
  }
  return positions;
}

// New fields are told, not made: the rest of the batch is decoded without evolution.
Status DecodeOne(const PipelineDeps& deps, decode::BoundSchema bound, const record::RawBatch& raw,
                 Decoded& decoded) {
  size_t begin = 0;
  while (begin < raw.size()) {
    FIRN_ASSIGN(auto decoder, deps.make_decoder(bound));
    FIRN_ASSIGN(auto result,
                CallPatiently(BriefPatience(*deps.clock), [&] { return decoder->Decode(raw, begin); }));
    begin += result.consumed;
    decoded.records += static_cast<int64_t>(result.consumed);
    decoded.tombstones += result.counters.tombstones_skipped;
    decoded.unknown_fields += result.counters.unknown_fields_ignored;
    std::ranges::move(result.dead_letters, std::back_inserter(decoded.letters));
    if (result.batch.rows != nullptr && decoded.rows.size() < kShownRows) {
      FIRN_ASSIGN(auto rows, iceberg::RowsToJson(*result.batch.rows, *bound.schema));
      std::ranges::move(rows, std::back_inserter(decoded.rows));
    }
    if (!result.delta) continue;
    for (const auto& field : result.delta->added)
      decoded.new_fields.push_back(fmt::format("{} {}", field.name, field.type->ToString()));
    const auto is_kafka = [](const auto& field) { return field.name == decode::kKafkaColumn; };
    if (std::ranges::any_of(result.delta->added, is_kafka)) {
      bound.kafka_columns = false;
    } else {
      bound.evolution = decode::Evolution::kNone;
    }
  }
  return Ok();
}

std::string Describe(Decoded& decoded) {
  std::ranges::sort(decoded.new_fields);
  const auto repeated = std::ranges::unique(decoded.new_fields);
  decoded.new_fields.erase(repeated.begin(), repeated.end());
  std::string text =
      fmt::format("Sample: {} records, {} bad, {} tombstones, {} fields without a column.\n", decoded.records,
                  decoded.letters.size(), decoded.tombstones, decoded.unknown_fields);
  for (const std::string& field : decoded.new_fields) text += fmt::format("  would add column {}\n", field);
  for (size_t i = 0; i < std::min(kShownLetters, decoded.letters.size()); ++i) {
    const record::DeadLetter& letter = decoded.letters[i];
    text += fmt::format("  bad: {}[{}] offset {}: {} ({})\n", letter.partition.topic,
                        letter.partition.partition, letter.offset, letter.message, letter.reason);
  }
  if (!decoded.rows.empty()) text += "First rows:\n";
  for (size_t i = 0; i < std::min(kShownRows, decoded.rows.size()); ++i)
    text += "  " + decoded.rows[i].dump() + "\n";
  return text + "Nothing was written.\n";
}

}  // namespace

Result<std::string> DryRun(const PipelineConfig& config, const PipelineDeps& deps, int64_t sample_records) {
  std::string text;
  FIRN_ASSIGN(auto table, TableOrDefinition(config, deps, text));
  FIRN_ASSIGN(auto bound, BindSchema(config, table, deps.pool));
  FIRN_ASSIGN(auto source, deps.make_source(1));
  FIRN_TRY(source->Open());
  FIRN_ASSIGN(auto positions, SamplePositions(config, deps, *source));
  FIRN_TRY(source->Subscribe(/*bounded=*/true));
  FIRN_ASSIGN(auto sample, ReadSample(*source, positions, sample_records, kSampleWaitMs));
  source->Close();
  Decoded decoded;
  for (const record::RawBatch& raw : sample) FIRN_TRY(DecodeOne(deps, bound, raw, decoded));
  return text + Describe(decoded);
}

}  // namespace firn::pipeline
