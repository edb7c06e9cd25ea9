#include "firn/pipeline/config_reader.h"

#include <charconv>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "firn/base/text_distance.h"
#include "firn/config/reference.h"
#include "firn/config/schema.h"
#include "firn/pipeline/key_decoding.h"
#include "firn/pipeline/table_schema.h"

namespace firn::pipeline {

namespace {

using config::Node;
using config::Problems;

constexpr int64_t kMinMemoryBytes = int64_t{64} << 20;
constexpr std::string_view kOwnsTable = "one pipeline of a process owns a table";

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
  Node settings;  ///< the map with `format`; an empty one for the short form
  Node whole;
  std::optional<decode::SchemaRegistryConfig> registry;
  std::optional<Node> key;
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
  DeadLetterFields dead_letters;
};

struct FileFields {
  std::map<std::string, Node> catalogs;
  std::map<std::string, PipelineFields> pipelines;
  ResourceConfig resources;
  std::optional<std::string> listen;
};

template <typename Plugin>
std::vector<std::string> NamesOf(const std::vector<Plugin>& plugins) {
  std::vector<std::string> names;
  for (const Plugin& plugin : plugins) names.push_back(plugin.name);
  return names;
}

template <typename Plugin>
const Plugin* FindPlugin(const std::vector<Plugin>& plugins, std::string_view name) {
  for (const Plugin& plugin : plugins) {
    if (plugin.name == name) return &plugin;
  }
  return nullptr;
}

std::string Suggestion(std::string_view word, const std::vector<std::string>& known) {
  const std::optional<std::string> near = NearestName(word, known);
  return near ? fmt::format("; did you mean \"{}\"?", *near) : std::string();
}

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

/// An id becomes part of a property's name and of a group id.
Result<std::string> ParseId(std::string_view text) {
  const bool good =
      !text.empty() && text.size() <= 200 &&
      text.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") ==
          std::string_view::npos;
  if (good) return std::string(text);
  return Error(ErrorKind::kInvalidArgument,
               fmt::format("\"{}\" is no id: up to 200 letters, digits, '.', '_' and '-'", text));
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
                 "What rows, files being written and prefetched records may take together.",
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

/// Turns what the schemas read into what runs; everything wrong goes to the problems.
class FileBuilder {
 public:
  FileBuilder(const Plugins& plugins, const Node& root, Problems& problems)
      : plugins_(plugins), root_(root), problems_(problems) {}

  PipelineFile Build(FileFields fields) {
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

 private:
  void AddCatalog(const std::string& key, const Node& node) {
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

  void AddPipeline(const Node::Entry& entry, PipelineFields fields) {
    PipelineSetup setup;
    PipelineConfig& config = setup.config;
    config.key = entry.key;
    config.id = fields.id.value_or(entry.key);
    config.commit = fields.commit;
    config.on_bad_record = fields.on_bad_record;
    config.tombstones = fields.tombstones;
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

  void TakeTables(const Node& node, PipelineFields& fields, PipelineConfig& config) {
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
      if (const std::optional<Node> idle = items[i].Find("max_tables");
          idle && config.tables[i].name.literal())
        problems_.Add(*idle, "only limits names with placeholders, and this rule makes one table");
      CheckReach(config, i, name);
    }
  }

  /// A rule behind one that takes everything gets no record; two rules must not own one table.
  void CheckReach(const PipelineConfig& config, size_t index, const Node& name) {
    for (size_t i = 0; i < index; ++i) {
      const TableConfig& earlier = config.tables[i];
      if (earlier.match.topic.empty() && earlier.match.field.empty()) {
        return problems_.Add(name, fmt::format("no record comes this far: rule {} ({}) takes everything",
                                               i + 1, earlier.name.ToString()));
      }
      if (earlier.name.ToString() == config.tables[index].name.ToString()) {
        return problems_.Add(name,
                             fmt::format("rule {} has the same name: one rule owns a table; give one rule "
                                         "a match that covers both",
                                         i + 1));
      }
    }
  }

  /// Patterns and templates parse, and the format can tell the fields that they ask for.
  void CheckRouting(const Node& node, const PipelineSetup& setup) {
    if (setup.config.tables.front().name.name.empty()) return;  // told already
    const Node place = node.Find("tables").value_or(node);
    const auto router = route::Router::Make(RouteRules(setup.config));
    if (!router.ok()) return problems_.Add(place, router.error().ToString());
    if (!(*router)->fields().empty() && !setup.decoder.make_key_reader) {
      problems_.Add(place,
                    fmt::format("{} records cannot be told apart by a field ({}) before they are decoded; "
                                "match by topic, or use a format that can: json",
                                setup.config.format, fmt::join((*router)->fields(), ", ")));
    }
  }

  void RequireCatalog(const TableName& table, const Node& node) {
    if (table.catalog.empty()) return;  // its own problem is told already
    for (const std::string& known : known_catalogs_) {
      if (known == table.catalog) return;
    }
    problems_.Add(
        node,
        known_catalogs_.empty()
            ? fmt::format("there is no catalog \"{}\": the file has no catalogs:", table.catalog)
            : fmt::format("there is no catalog \"{}\" under catalogs:; there is {}{}", table.catalog,
                          fmt::join(known_catalogs_, ", "), Suggestion(table.catalog, known_catalogs_)));
  }

  void TakeDeadLetters(const Node& node, const PipelineFields& fields, PipelineConfig& config) {
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

  static bool IsSole(const PipelineConfig& config) {
    const TableConfig& first = config.tables.front();
    return config.tables.size() == 1 && first.name.literal() && first.match.topic.empty() &&
           first.match.field.empty();
  }

  /// Beside the table; of several tables beside those of the first rule, with the pipeline's name.
  void TakeDefaultDeadLetters(const Node& node, PipelineConfig& config) {
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

  static bool UsesDeadLetters(const PipelineConfig& config) {
    return config.on_bad_record == BadRecordPolicy::kDeadLetter ||
           config.tombstones == TombstonePolicy::kDeadLetter;
  }

  /// Progress, tables and dead letters belong to one pipeline each.
  void CheckIdentity(const Node::Entry& entry, bool id_written, const PipelineConfig& config) {
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

  void Claim(const std::string& what, std::string_view why, const Node::Entry& entry) {
    const auto [owner, fresh] = claims_.emplace(what, entry.key);
    if (!fresh && (owner->second != entry.key || why != kOwnsTable))
      problems_.Add(entry.key_place, entry.value.path(),
                    fmt::format("{} is already used by pipeline \"{}\": {}", what, owner->second, why));
  }

  bool TakeSource(const PipelineFields& fields, PipelineSetup& setup) {
    const SourcePlugin* plugin = FindPlugin(plugins_.sources, fields.source.name);
    if (plugin == nullptr) return false;  // the schema has told it
    std::optional<SourceSetup> source = plugin->parse({setup.config.id}, fields.source.node, problems_);
    if (!source) return false;
    setup.config.on_data_loss = source->on_data_loss;
    setup.config.bounded = source->bounded;
    setup.source = *std::move(source);
    return true;
  }

  bool TakeDecoder(const PipelineFields& fields, PipelineSetup& setup) {
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

  /// `decoder` becomes one of both halves.
  bool TakeKeyDecoder(const PipelineFields& fields, const Node& node, DecoderSetup& decoder) {
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
      problems_.Add(node,
                    fmt::format("records of source {} have no keys; take key: out", fields.source.name));
      return false;
    }
    if (!KeySchema().Read(OnlyKeyFields(node), problems_, &keys)) return false;
    const DecoderContext context{fields.decode.whole, fields.source.name, fields.decode.registry,
                                 keys.column};
    const std::optional<DecoderSetup> key = plugin->parse(context, WithoutKeyFields(node), problems_);
    if (!key) return false;
    decoder = JoinKeyAndValue(keys, *key, std::move(decoder));
    return true;
  }

  /// Schemas of a registry say what the columns are: the table follows them, unless its columns are declared.
  static void TakeEvolution(const DecoderSetup& decoder, TableConfig& table) {
    if (!table.schema_evolution && table.columns.empty()) table.schema_evolution = decoder.evolution;
  }

  const Plugins& plugins_;
  const Node& root_;
  Problems& problems_;
  PipelineFile file_;
  std::vector<std::string> known_catalogs_;
  std::map<std::string, std::string> claims_;  ///< what -> key of the pipeline
};

Result<PipelineFile> ReadTree(const std::optional<Node>& root, const Plugins& plugins, Problems& problems) {
  if (root) {
    const config::Schema<PipelineFields> pipeline_schema = PipelineSchema(plugins);
    FileFields fields;
    FileSchema(pipeline_schema).Read(*root, problems, &fields);
    PipelineFile file = FileBuilder(plugins, *root, problems).Build(std::move(fields));
    if (problems.empty()) return file;
  }
  FIRN_TRY(problems.ToStatus());
  return Error(ErrorKind::kInternal, "a pipeline file was refused without a reason");
}

std::string Section(std::string_view title, std::string_view text,
                    const std::vector<config::FieldDoc>& fields, const std::string& prefix) {
  return fmt::format("\n## {}\n\n{}\n\n{}", title, text, config::RenderReferenceTable(fields, prefix));
}

template <typename Plugin>
std::string PluginSections(const std::vector<Plugin>& plugins, std::string_view title, std::string_view text,
                           const std::string& path) {
  std::string out;
  for (const Plugin& plugin : plugins) {
    std::vector<config::FieldDoc> fields;
    if (plugin.describe) plugin.describe(path, &fields);
    out += Section(fmt::format("{}: {}", title, plugin.name), fmt::format(fmt::runtime(text), plugin.name),
                   fields, path);
  }
  return out;
}

}  // namespace

Result<const CatalogSetup*> PipelineFile::FindCatalog(const std::string& key) const {
  const auto found = catalogs.find(key);
  if (found != catalogs.end()) return &found->second;
  std::vector<std::string> known;
  for (const auto& [name, setup] : catalogs) known.push_back(name);
  return Error(ErrorKind::kNotFound, fmt::format("there is no catalog \"{}\" in {}{}", key,
                                                 fmt::join(paths, ", "), Suggestion(key, known)))
      .WithRemedy(known.empty() ? "Add one under catalogs:."
                                : fmt::format("There is {}.", fmt::join(known, ", ")));
}

Result<PipelineFile> ReadPipelineFiles(const std::vector<std::string>& paths, const Plugins& plugins,
                                       const config::Environment& environment) {
  Problems problems;
  const std::optional<Node> root = config::LoadFiles(paths, environment, problems);
  FIRN_ASSIGN(PipelineFile file, ReadTree(root, plugins, problems));
  file.paths = paths;
  return file;
}

Result<PipelineFile> ReadPipelineText(std::string_view text, const std::string& file_name,
                                      const Plugins& plugins, const config::Environment& environment) {
  Problems problems;
  const std::optional<Node> root = config::LoadText(text, file_name, environment, problems);
  FIRN_ASSIGN(PipelineFile file, ReadTree(root, plugins, problems));
  file.paths = {file_name};
  return file;
}

std::string ConfigurationReference(const Plugins& plugins) {
  const config::Schema<PipelineFields> pipeline_schema = PipelineSchema(plugins);
  std::vector<config::FieldDoc> file_fields;
  FileSchema(pipeline_schema).Describe("", &file_fields);
  std::vector<config::FieldDoc> pipeline_fields;
  pipeline_schema.Describe("", &pipeline_fields);
  std::erase_if(file_fields,
                [](const config::FieldDoc& field) { return field.path.starts_with("pipelines."); });
  std::string text =
      "# Pipeline file\n\n"
      "Written by `firn docs configuration` out of the declarations that read the file; a test holds the two "
      "together.\n\n"
      "The file is YAML. `${NAME}` and `${NAME:-default}` take an environment variable, `${file:PATH}` a "
      "file's text, `$$` is a dollar sign; "
      "they work in every value.\nA relative path is relative to the file that holds it. Several files "
      "merge; the same key twice is an error. "
      "Durations are written `250ms`, `60s`, `1h30m`; sizes `512MiB`, `1GB`.\n"
      "`firn check FILE` reports everything that is wrong at once, with line and remedy.\n";
  text += Section("The file", "Top level.", file_fields, "");
  text += PluginSections(plugins.catalogs, "Catalog", "Keys of `catalogs.<name>` with `type: {}`.", "");
  text += Section("Pipeline", "Keys of `pipelines.<name>`.", pipeline_fields, "");
  text += PluginSections(plugins.sources, "Source", "Keys of `source.{}`.", "");
  std::vector<config::FieldDoc> registry_fields;
  decode::SchemaRegistrySchema().Describe("", &registry_fields);
  text += Section("Schema registry", "Keys of `decode.schema_registry`.", registry_fields, "");
  std::vector<config::FieldDoc> key_fields;
  KeySchema().Describe("", &key_fields);
  text += Section("Keys", "Keys of `decode.key` beside those of its format.", key_fields, "");
  text += PluginSections(plugins.decoders, "Format", "Keys of `decode.value` with `format: {}`.", "");
  return text;
}

}  // namespace firn::pipeline
