#include <algorithm>
#include <functional>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "firn/iceberg/scan/row_json.h"
#include "firn/pipeline/patience.h"
#include "firn/pipeline/pipeline.h"
#include "firn/pipeline/sample.h"
#include "firn/pipeline/sorter.h"
#include "firn/pipeline/start_plan.h"
#include "firn/pipeline/table_definition.h"
#include "firn/pipeline/table_setup.h"
#include "firn/pipeline/target.h"

namespace firn::pipeline {

namespace {

constexpr int64_t kSampleWaitMs = 10'000;
constexpr size_t kShownRows = 10;
constexpr size_t kShownLetters = 5;
constexpr size_t kShownTables = 50;
constexpr size_t kDescribedTables = 5;

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
Result<iceberg::TableMetadata> TableOrDefinition(const TableConfig& config, const PipelineDeps& deps,
                                                 const std::function<Result<decode::InferredSchema>()>& infer,
                                                 std::string& text) {
  auto loaded = deps.catalogs.at(config.name.catalog)->LoadTable(Identifier(config.name));
  if (loaded.ok()) {
    FIRN_TRY(CheckDeclaredColumns(config, *loaded->metadata));
    text += fmt::format("Table {} exists ({}).\n", config.name.ToString(), loaded->metadata->location);
    return *loaded->metadata;
  }
  if (loaded.error().kind() != ErrorKind::kNotFound || !config.create) return std::move(loaded).error();
  iceberg::SchemaPtr schema;
  if (config.columns.empty()) {
    FIRN_ASSIGN(auto inferred, infer());
    schema = std::move(inferred.schema);
    for (const std::string& note : inferred.notes) text += note + "\n";
  } else {
    FIRN_ASSIGN(schema, SchemaOfColumns(config.columns, config.format_version));
  }
  FIRN_ASSIGN(auto definition, TableDefinition(config, schema));
  text += fmt::format("Table {} would be made:\n{}\n", config.name.ToString(),
                      CreateTableStatement(config.name.ToString(), definition));
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
  const TableName& table = config.tables.front().name;
  if (!table.literal()) return positions;
  auto known = TablePositions(*deps.catalogs.at(table.catalog), config);
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
  return text;
}

/// The sample, told apart as a run would.
struct SortedSample {
  std::map<std::string, std::pair<TargetPtr, std::vector<record::RawBatch>>> tables;  ///< by name
  std::vector<record::DeadLetter> letters;
};

Result<SortedSample> SortSample(const PipelineConfig& config, const PipelineDeps& deps, TargetBook& book,
                                const std::shared_ptr<const route::Router>& router,
                                std::vector<record::RawBatch> sample) {
  std::unique_ptr<decode::KeyReader> keys;
  if (!router->fields().empty()) {
    if (!deps.make_key_reader)
      return Error(ErrorKind::kUnsupported, config.format + " records cannot be told apart by a field");
    FIRN_ASSIGN(keys, deps.make_key_reader(router->fields()));
  }
  Sorter sorter(router, book, std::move(keys));
  SortedSample sorted;
  for (record::RawBatch& raw : sample) {
    FIRN_TRY(CallPatiently(BriefPatience(*deps.clock), [&] { return sorter.Prepare(raw); }));
    Sorted parts = sorter.Sort(std::move(raw));
    std::ranges::move(parts.letters, std::back_inserter(sorted.letters));
    for (SortedRecords& part : parts.parts) {
      auto& table = sorted.tables[part.target->name];
      table.first = part.target;
      table.second.push_back(std::move(part.raw));
    }
  }
  return sorted;
}

// Which tables the sample goes to, and what would go to none.
std::string DescribeRouting(const SortedSample& sorted) {
  std::string text = fmt::format("The sample goes to {} tables:\n", sorted.tables.size());
  size_t shown = 0;
  for (const auto& [name, table] : sorted.tables) {
    if (shown++ == kShownTables) {
      text += fmt::format("  ... and {} more\n", sorted.tables.size() - kShownTables);
      break;
    }
    int64_t records = 0;
    for (const record::RawBatch& raw : table.second) records += static_cast<int64_t>(raw.size());
    text += fmt::format("  {}  {} records (rule {})\n", name, records, table.first->rule + 1);
  }
  std::map<std::string, std::pair<int64_t, const record::DeadLetter*>> reasons;
  for (const record::DeadLetter& letter : sorted.letters) {
    auto& [count, example] = reasons[letter.reason];
    ++count;
    example = &letter;
  }
  for (const auto& [reason, found] : reasons) {
    text += fmt::format("  no table ({}): {} records, for example {}[{}] offset {}: {}\n", reason,
                        found.first, found.second->partition.topic, found.second->partition.partition,
                        found.second->offset, found.second->message);
  }
  return text;
}

Result<std::string> DescribeTable(const PipelineConfig& config, const PipelineDeps& deps,
                                  const TableConfig& own,
                                  const std::function<Result<decode::InferredSchema>()>& infer,
                                  const std::vector<record::RawBatch>& sample) {
  std::string text;
  FIRN_ASSIGN(auto table, TableOrDefinition(own, deps, infer, text));
  FIRN_ASSIGN(auto bound, BindSchema(config, own, table, deps.pool));
  Decoded decoded;
  for (const record::RawBatch& raw : sample) FIRN_TRY(DecodeOne(deps, bound, raw, decoded));
  return text + Describe(decoded);
}

}  // namespace

Result<std::string> DryRun(const PipelineConfig& config, const PipelineDeps& deps, int64_t sample_records) {
  FIRN_ASSIGN(auto router, route::Router::Make(RouteRules(config)));
  FIRN_ASSIGN(auto source, deps.make_source(1));
  FIRN_TRY(source->Open());
  FIRN_ASSIGN(auto positions, SamplePositions(config, deps, *source));
  FIRN_TRY(source->Subscribe(/*bounded=*/true));
  FIRN_ASSIGN(auto sample, ReadSample(*source, positions, sample_records, kSampleWaitMs, *deps.clock));
  source->Close();
  TargetBook book(config);
  FIRN_ASSIGN(auto sorted, SortSample(config, deps, book, router, std::move(sample)));
  std::string text = router->sole() ? std::string() : DescribeRouting(sorted);
  if (router->sole() && sorted.tables.empty()) sorted.tables[config.tables.front().name.ToString()] = {};
  size_t shown = 0;
  for (const auto& [name, table] : sorted.tables) {
    if (shown++ == kDescribedTables) break;
    TableConfig own = config.tables.at(table.first == nullptr ? 0 : table.first->rule);
    FIRN_ASSIGN(own.name, ParseTableName(name));
    const auto infer = [&]() -> Result<decode::InferredSchema> {
      return router->sole()
                 ? InferFromSource(deps, BriefPatience(*deps.clock))
                 : CallPatiently(BriefPatience(*deps.clock), [&] { return deps.infer_schema(table.second); });
    };
    FIRN_ASSIGN(auto described, DescribeTable(config, deps, own, infer, table.second));
    text += described;
  }
  return text + "Nothing was written.\n";
}

}  // namespace firn::pipeline
