#include "firn/pipeline/file_builder.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "firn/pipeline/key_decoding.h"
#include "firn/pipeline/plugin_names.h"
#include "firn/pipeline/table_schema.h"

namespace firn::pipeline {

namespace {

using config::Node;

constexpr std::string_view kOwnsTable = "one pipeline of a process owns a table";

}  // namespace

PipelineFile FileBuilder::Build(FileFields fields) {
  for (const auto& [key, node] : fields.catalogs) AddCatalog(key, node);
  const std::vector<Node::Entry> entries = root_.Find("pipelines").value_or(Node()).Entries();
  for (const Node::Entry& entry : entries) {
    const auto found = fields.pipelines.find(entry.key);
    if (found != fields.pipelines.end()) AddPipeline(entry, std::move(found->second));
  }
  file_.resources = fields.resources;
  file_.listen = std::move(fields.listen);
  return std::move(file_);
}

void FileBuilder::AddCatalog(const std::string& key, const Node& node) {
  known_catalogs_.push_back(key);
  if (key.empty() || key.find('.') != std::string::npos) {
    problems_.Add(node, "a catalog's key must not be empty or have a dot: table names begin with it");
  }
  if (!node.is_map()) return problems_.Add(node, "expected a map with the keys of a catalog");
  const std::optional<Node> type = node.Find("type");
  const std::vector<std::string> types = NamesOf(plugins_.catalogs);
  if (!type)
    return problems_.Add(node,
                         fmt::format("the key \"type\" is missing; there is {}", fmt::join(types, ", ")));
  const CatalogPlugin* plugin = FindPlugin(plugins_.catalogs, type->text());
  if (plugin == nullptr) {
    return problems_.Add(*type, fmt::format("\"{}\" is no type of catalog; there is {}{}", type->text(),
                                            fmt::join(types, ", "), Suggestion(type->text(), types)));
  }
  if (std::optional<CatalogSetup> setup = plugin->parse(key, node, problems_))
    file_.catalogs.emplace(key, *std::move(setup));
}

void FileBuilder::AddPipeline(const Node::Entry& entry, PipelineFields fields) {
  PipelineSetup setup;
  PipelineConfig& config = setup.config;
  config.key = entry.key;
  config.id = fields.id.value_or(entry.key);
  config.commit = fields.commit;
  config.on_bad_record = fields.on_bad_record;
  config.tombstones = fields.tombstones;
  config.max_record_bytes = fields.max_record_bytes;
  TakeTables(entry.value, fields, config);
  TakeDeadLetters(entry.value, fields, config);
  CheckIdentity(entry, fields.id.has_value(), config);
  const bool kafka_columns = std::ranges::any_of(config.tables, &TableConfig::kafka_columns);
  if (kafka_columns && !fields.source.name.empty() && fields.source.name != "kafka") {
    problems_.Add(
        entry.key_place, entry.value.path(),
        fmt::format("kafka_columns: is for a Kafka source, and this one is {}", fields.source.name));
  }
  const bool has_source = TakeSource(fields, setup);
  const bool has_decoder = TakeDecoder(fields, setup);  // reads on after a bad source: all problems at once
  if (has_source && has_decoder && setup.source.of_files && setup.decoder.files == nullptr) {
    problems_.Add(fields.source.node, fmt::format("the format {} does not come from files; give decode "
                                                  "another one, or read from another source",
                                                  setup.config.format));
  }
  if (has_decoder) CheckRouting(entry.value, setup);
  if (has_source && has_decoder) file_.pipelines.push_back(std::move(setup));
}

void FileBuilder::TakeTables(const Node& node, PipelineFields& fields, PipelineConfig& config) {
  const std::optional<Node> list = node.Find("tables");
  if (!list) {
    if (fields.table) config.tables.front().name = *std::move(fields.table);
    if (!config.tables.front().name.literal())
      problems_.Add(node.Find("table").value_or(node), "placeholders belong into a rule under tables:");
    return RequireCatalog(config.tables.front().name, node.Find("table").value_or(node));
  }
  const std::vector<Node> items = list->Items();
  if (fields.tables.empty() || items.size() != fields.tables.size()) return;  // told already
  config.tables = std::move(fields.tables);
  for (size_t i = 0; i < items.size(); ++i) {
    const Node name = items[i].Find("name").value_or(items[i]);
    RequireCatalog(config.tables[i].name, name);
    CheckTable(config.tables[i], items[i], problems_);
    if (const std::optional<Node> idle = items[i].Find("max_tables"); idle && config.tables[i].name.literal())
      problems_.Add(*idle, "only limits names with placeholders, and this rule makes one table");
    CheckReach(config, i, name);
  }
}

void FileBuilder::CheckReach(const PipelineConfig& config, size_t index, const Node& name) {
  for (size_t i = 0; i < index; ++i) {
    const TableConfig& earlier = config.tables[i];
    if (earlier.match.topic.empty() && earlier.match.field.empty()) {
      return problems_.Add(name, fmt::format("no record comes this far: rule {} ({}) takes everything", i + 1,
                                             earlier.name.ToString()));
    }
    if (earlier.name.ToString() == config.tables[index].name.ToString()) {
      return problems_.Add(name,
                           fmt::format("rule {} has the same name: one rule owns a table; give one rule "
                                       "a match that covers both",
                                       i + 1));
    }
  }
}

void FileBuilder::CheckRouting(const Node& node, const PipelineSetup& setup) {
  if (setup.config.tables.front().name.name.empty()) return;  // told already
  const Node place = node.Find("tables").value_or(node);
  const auto router = route::Router::Make(RouteRules(setup.config));
  if (!router.ok()) return problems_.Add(place, router.error().ToString());
  if (!(*router)->fields().empty() && !setup.decoder.make_key_reader) {
    problems_.Add(
        place, fmt::format(
                   "{} records cannot be told apart by a field ({}) before they are decoded; "
                   "match by topic, or use a format that can: json, avro, or csv with a header or `columns:`",
                   setup.config.format, fmt::join((*router)->fields(), ", ")));
  }
}

void FileBuilder::RequireCatalog(const TableName& table, const Node& node) {
  if (table.catalog.empty()) return;  // its own problem is told already
  for (const std::string& known : known_catalogs_) {
    if (known == table.catalog) return;
  }
  problems_.Add(
      node, known_catalogs_.empty()
                ? fmt::format("there is no catalog \"{}\": the file has no catalogs:", table.catalog)
                : fmt::format("there is no catalog \"{}\" under catalogs:; there is {}{}", table.catalog,
                              fmt::join(known_catalogs_, ", "), Suggestion(table.catalog, known_catalogs_)));
}

void FileBuilder::TakeDeadLetters(const Node& node, const PipelineFields& fields, PipelineConfig& config) {
  DeadLetterConfig& dead_letters = config.dead_letters;
  dead_letters.keep_payload = fields.dead_letters.keep_payload;
  dead_letters.fail_above_ratio = fields.dead_letters.fail_above.ratio;
  dead_letters.fail_above_min_records = fields.dead_letters.fail_above.min_records;
  const std::optional<Node> written = node.Find("dead_letters");
  if (fields.dead_letters.table) {
    dead_letters.table = *fields.dead_letters.table;
    RequireCatalog(dead_letters.table, written->Find("table").value_or(*written));
  } else {
    TakeDefaultDeadLetters(node, config);
  }
  if (written && !UsesDeadLetters(config) && IsSole(config)) {
    problems_.Add(
        *written,
        "nothing goes to dead letters here: on_bad_record, tombstones and unknown_fields say otherwise; "
        "take dead_letters out or set on_bad_record: dead_letter");
  }
}

bool FileBuilder::IsSole(const PipelineConfig& config) {
  const TableConfig& first = config.tables.front();
  return config.tables.size() == 1 && first.name.literal() && first.match.topic.empty() &&
         first.match.field.empty();
}

void FileBuilder::TakeDefaultDeadLetters(const Node& node, PipelineConfig& config) {
  TableName& name = config.dead_letters.table;
  name = config.tables.front().name;
  if (name.name.empty()) return;  // told already
  if (!IsSole(config)) name.name = route::NamePart(config.id);
  name.name += "_dead_letters";
  if (!name.literal()) {
    problems_.Add(
        node.Find("tables").value_or(node),
        "the namespace has placeholders: say where dead letters go with dead_letters: {table: ...}");
  }
}

bool FileBuilder::UsesDeadLetters(const PipelineConfig& config) {
  return config.on_bad_record == BadRecordPolicy::kDeadLetter ||
         config.tombstones == TombstonePolicy::kDeadLetter;
}

void FileBuilder::CheckIdentity(const Node::Entry& entry, bool id_written, const PipelineConfig& config) {
  const Node& node = entry.value;
  if (!id_written) {
    if (const Result<std::string> id = ParseId(entry.key); !id.ok())
      problems_.Add(entry.key_place, node.path(), id.error().ToString() + "; set id:");
  }
  Claim("id " + config.id, "two pipelines cannot share their progress", entry);
  for (const TableConfig& table : config.tables) {
    if (!table.name.name.empty()) Claim("table " + table.name.ToString(), kOwnsTable, entry);
  }
  if ((UsesDeadLetters(config) || !IsSole(config)) && !config.dead_letters.table.name.empty()) {
    Claim("table " + config.dead_letters.table.ToString(), "dead letters need a table of their own", entry);
  }
}

void FileBuilder::Claim(const std::string& what, std::string_view why, const Node::Entry& entry) {
  const auto [owner, fresh] = claims_.emplace(what, entry.key);
  if (!fresh && (owner->second != entry.key || why != kOwnsTable))
    problems_.Add(entry.key_place, entry.value.path(),
                  fmt::format("{} is already used by pipeline \"{}\": {}", what, owner->second, why));
}

bool FileBuilder::TakeSource(const PipelineFields& fields, PipelineSetup& setup) {
  const SourcePlugin* plugin = FindPlugin(plugins_.sources, fields.source.name);
  if (plugin == nullptr) return false;  // the schema has told it
  std::optional<SourceSetup> source = plugin->parse({setup.config.id}, fields.source.node, problems_);
  if (!source) return false;
  setup.config.on_data_loss = source->on_data_loss;
  setup.config.bounded = source->bounded;
  setup.source = *std::move(source);
  return true;
}

bool FileBuilder::TakeDecoder(const PipelineFields& fields, PipelineSetup& setup) {
  const DecoderPlugin* plugin = FindPlugin(plugins_.decoders, fields.decode.format);
  if (plugin == nullptr) return false;
  std::optional<DecoderSetup> decoder =
      plugin->parse({fields.decode.whole, fields.source.name, fields.decode.registry, {}},
                    fields.decode.settings, problems_);
  if (!decoder) return false;
  setup.config.format = plugin->name;
  for (TableConfig& table : setup.config.tables) TakeEvolution(*decoder, table);
  if (fields.decode.key && !TakeKeyDecoder(fields, *fields.decode.key, *decoder)) return false;
  setup.decoder = WithKafkaColumns(*std::move(decoder));
  return true;
}

bool FileBuilder::TakeKeyDecoder(const PipelineFields& fields, const Node& node, DecoderSetup& decoder) {
  const std::vector<std::string> formats = NamesOf(plugins_.decoders);
  const std::string format = node.Find("format").value_or(Node()).text();
  const DecoderPlugin* plugin = FindPlugin(plugins_.decoders, format);
  KeyFields keys;
  if (!node.is_map() || plugin == nullptr) {
    problems_.Add(node, fmt::format("expected a map with format: {}{}", fmt::join(formats, ", "),
                                    Suggestion(format, formats)));
    return false;
  }
  if (fields.source.name != "kafka") {
    problems_.Add(node, fmt::format("records of source {} have no keys; take key: out", fields.source.name));
    return false;
  }
  if (!KeySchema().Read(OnlyKeyFields(node), problems_, &keys)) return false;
  const DecoderContext context{fields.decode.whole, fields.source.name, fields.decode.registry, keys.column};
  const std::optional<DecoderSetup> key = plugin->parse(context, WithoutKeyFields(node), problems_);
  if (!key) return false;
  decoder = JoinKeyAndValue(keys, *key, std::move(decoder));
  return true;
}

void FileBuilder::TakeEvolution(const DecoderSetup& decoder, TableConfig& table) {
  if (!table.schema_evolution && table.columns.empty()) table.schema_evolution = decoder.evolution;
}

}  // namespace firn::pipeline
