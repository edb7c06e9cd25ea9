#include "firn/pipeline/config_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "firn/config/schema.h"

namespace firn::pipeline {
namespace {

using testing::HasSubstr;

struct FakeKeys {
  std::string type;
  std::string place;
};

const config::Schema<FakeKeys>& FakeSourceSchema() {
  static const auto schema =
      config::Schema<FakeKeys>().Required("place", &FakeKeys::place, config::Text(), "Where.");
  return schema;
}

const config::Schema<FakeKeys>& FakeCatalogSchema() {
  static const auto schema = config::Schema<FakeKeys>()
                                 .Required("type", &FakeKeys::type, config::Text(), "Kind.")
                                 .Field("place", &FakeKeys::place, config::Text(), "Where.");
  return schema;
}

/// One plug-in of each kind, without anything behind it.
Plugins FakePlugins() {
  Plugins plugins;
  plugins.sources.push_back(
      {"kafka",
       [](const SourceContext& context, const config::Node& node,
          config::Problems& problems) -> std::optional<SourceSetup> {
         FakeKeys keys;
         if (!FakeSourceSchema().Read(node, problems, &keys)) return std::nullopt;
         return SourceSetup{"kafka", keys.place + " for " + context.pipeline_id, OnDataLoss::kEarliest, {}};
       },
       [](const std::string& path, std::vector<config::FieldDoc>* out) {
         FakeSourceSchema().Describe(path, out);
       }});
  plugins.decoders.push_back(
      {"json",
       [](const DecoderContext&, const config::Node&, config::Problems&) -> std::optional<DecoderSetup> {
         return DecoderSetup{"json", {}, {}};
       },
       {}});
  plugins.catalogs.push_back({"sql",
                              [](const std::string& key, const config::Node& node,
                                 config::Problems& problems) -> std::optional<CatalogSetup> {
                                FakeKeys keys;
                                if (!FakeCatalogSchema().Read(node, problems, &keys)) return std::nullopt;
                                return CatalogSetup{key, keys.type, key, "", "", {}};
                              },
                              [](const std::string& path, std::vector<config::FieldDoc>* out) {
                                FakeCatalogSchema().Describe(path, out);
                              }});
  return plugins;
}

Result<PipelineFile> Read(const std::string& text) {
  return ReadPipelineText(text, "f.yaml", FakePlugins(), config::SystemEnvironment());
}

std::string ProblemsOf(const std::string& text) {
  const Result<PipelineFile> file = Read(text);
  return file.ok() ? "" : file.error().ToString();
}

constexpr char kCatalog[] = "catalogs:\n  lake: {type: sql}\n";

/// A pipeline that is right, with more lines of its own (indented by four).
std::string Flights(const std::string& more) {
  return std::string(kCatalog) +
         "pipelines:\n  flights:\n    source: {kafka: {place: here}}\n    decode: json\n" + more;
}

TEST(ConfigReader, ShortFormsAndDefaults) {
  const Result<PipelineFile> file = Read(Flights("    table: lake.travel.flights\n"));
  ASSERT_TRUE(file.ok()) << file.error().ToString();
  const PipelineSetup& setup = file->pipelines.at(0);
  EXPECT_EQ(setup.config.id, "flights");
  EXPECT_EQ(setup.config.tables.front().name.ToString(), "lake.travel.flights");
  EXPECT_EQ(setup.config.dead_letters.table.ToString(), "lake.travel.flights_dead_letters");
  EXPECT_EQ(setup.config.commit.interval_ms, 60'000);
  EXPECT_EQ(setup.config.commit.max_input_bytes, int64_t{512} << 20);
  EXPECT_EQ(setup.config.format, "json");
  EXPECT_EQ(setup.config.on_data_loss, OnDataLoss::kEarliest);
  EXPECT_EQ(setup.source.summary, "here for flights");
  EXPECT_FALSE(file->listen.has_value());
}

std::string Decode(const std::string& decode) {
  return std::string(kCatalog) +
         "pipelines:\n  flights:\n    source: {kafka: {place: here}}\n    table: lake.t.t\n" +
         "    decode: " + decode + "\n";
}

TEST(ConfigReader, KeysHaveAFormatOfTheirOwn) {
  EXPECT_EQ(ProblemsOf(Decode("{key: {format: json, column: k, prefix: k_}, value: {format: json}}")), "");
  EXPECT_THAT(ProblemsOf(Decode("{key: {format: jsn}, value: {format: json}}")),
              HasSubstr("did you mean \"json\"?"));
  EXPECT_THAT(ProblemsOf(Decode("{key: json, value: {format: json}}")),
              HasSubstr("expected a map with format"));
  EXPECT_THAT(ProblemsOf(Decode("{key: {format: json, column: []}, value: {format: json}}")),
              HasSubstr("column"));
}

TEST(ConfigReader, KafkaColumnsArriveAtTheTable) {
  const auto file = Read(Flights("    tables: [{name: lake.travel.flights, kafka_columns: true}]\n"));
  ASSERT_TRUE(file.ok()) << file.error().ToString();
  EXPECT_TRUE(file->pipelines.at(0).config.tables.front().kafka_columns);
}

TEST(ConfigReader, EveryKeyArrives) {
  const Result<PipelineFile> file = Read(
      std::string(kCatalog) +
      "pipelines:\n"
      "  flights:\n"
      "    id: f1\n"
      "    source: {kafka: {place: here}}\n"
      "    decode: {value: {format: json}}\n"
      "    tables:\n"
      "      - name: lake.travel.flights\n"
      "        columns:\n"
      "          - {name: flight_date, type: timestamp, from: date, unit: millis}\n"
      "          - {name: delay, type: int, required: true, doc: minutes}\n"
      "        partition_by: [\"day(flight_date)\"]\n"
      "        sort_by: [delay]\n"
      "        format_version: 3\n"
      "        properties: {write.parquet.compression-codec: zstd}\n"
      "        branch: audit\n"
      "        schema_evolution: add\n"
      "        unknown_fields: dead_letter\n"
      "        max_columns: 50\n"
      "    commit: {interval: 5s, max_records: 10, max_input_bytes: 1MiB}\n"
      "    on_bad_record: skip\n"
      "    tombstones: dead_letter\n"
      "    dead_letters: {table: lake.travel.bad, payload: none, fail_above: {ratio: 0.5, min_records: 7}}\n"
      "resources: {memory: 1GiB, threads: 2}\n"
      "listen: 127.0.0.1:8321\n");
  ASSERT_TRUE(file.ok()) << file.error().ToString();
  const PipelineConfig& config = file->pipelines.at(0).config;
  EXPECT_EQ(config.id, "f1");
  EXPECT_EQ(config.key, "flights");
  EXPECT_EQ(config.tables.front().columns.at(0).from, "date");
  EXPECT_EQ(config.tables.front().columns.at(0).unit, decode::TimeUnit::kMillis);
  EXPECT_TRUE(config.tables.front().columns.at(1).required);
  EXPECT_EQ(config.tables.front().format_version, 3);
  EXPECT_EQ(config.tables.front().branch, "audit");
  EXPECT_EQ(config.tables.front().schema_evolution, decode::Evolution::kAdd);
  EXPECT_EQ(config.tables.front().unknown_fields, decode::UnknownFields::kDeadLetter);
  EXPECT_EQ(config.tables.front().max_columns, 50);
  EXPECT_EQ(config.commit.max_records, 10);
  EXPECT_EQ(config.on_bad_record, BadRecordPolicy::kSkip);
  EXPECT_EQ(config.tombstones, TombstonePolicy::kDeadLetter);
  EXPECT_EQ(config.dead_letters.table.name, "bad");
  EXPECT_FALSE(config.dead_letters.keep_payload);
  EXPECT_EQ(config.dead_letters.fail_above_min_records, 7);
  EXPECT_EQ(file->resources.memory_bytes, int64_t{1} << 30);
  EXPECT_EQ(file->listen, "127.0.0.1:8321");
}

TEST(ConfigReader, EverythingWrongIsToldAtOnceWithItsPlace) {
  const std::string problems = ProblemsOf(
      "catalogs:\n"
      "  lake: {type: sqlite}\n"
      "pipelines:\n"
      "  flights:\n"
      "    source: {kafak: {place: here}}\n"
      "    decode: jason\n"
      "    table: like.travel.flights\n"
      "    commit: {intervall: 5s, max_records: 0}\n");
  EXPECT_THAT(problems,
              HasSubstr("f.yaml:2:16: catalogs.lake.type: \"sqlite\" is no type of catalog; there is sql"));
  EXPECT_THAT(problems, HasSubstr("f.yaml:5:"));
  EXPECT_THAT(problems, HasSubstr("kafak"));
  EXPECT_THAT(problems, HasSubstr("f.yaml:6:13: pipelines.flights.decode: \"jason\" is no format; there is "
                                  "json; did you mean \"json\"?"));
  EXPECT_THAT(
      problems,
      HasSubstr("there is no catalog \"like\" under catalogs:; there is lake; did you mean \"lake\"?"));
  EXPECT_THAT(problems, HasSubstr("intervall"));
  EXPECT_THAT(problems, HasSubstr("did you mean \"interval\"?"));
  EXPECT_THAT(problems, HasSubstr("max_records"));
}

TEST(ConfigReader, ReservedAndCollidingColumnsAreRefused) {
  const std::string problems =
      ProblemsOf(Flights("    tables:\n      - name: lake.travel.flights\n        columns:\n"
                         "          - {name: _file, type: string}\n"
                         "          - {name: Delay, type: int}\n"
                         "          - {name: delay, type: long}\n"
                         "          - {name: id, type: integer}\n"
                         "          - {name: at, type: timestamp_ns}\n"
                         "          - {name: n, type: int, unit: millis}\n"
                         "          - {name: h, type: string, encoding: hex}\n"));
  EXPECT_THAT(problems, HasSubstr("columns[0].name: Iceberg reserves the name _file"));
  EXPECT_THAT(problems, HasSubstr("columns[2].name: Delay and delay differ only in case"));
  EXPECT_THAT(problems, HasSubstr("columns[3].type: type 'integer'"));
  EXPECT_THAT(problems, HasSubstr("columns[4].type: timestamp_ns needs format_version: 3"));
  EXPECT_THAT(problems, HasSubstr("columns[5].unit: a unit is for dates, times and timestamps"));
  EXPECT_THAT(problems, HasSubstr("columns[6].encoding: an encoding is for text that stands for binary"));
}

TEST(ConfigReader, AnEncodingIsForColumnsThatHoldBytes) {
  const auto columns = [](const std::string& type) {
    return Flights(
        "    tables:\n      - name: lake.travel.flights\n        columns:\n"
        "          - {name: b, type: '" +
        type + "', encoding: hex}\n");
  };
  for (const char* type :
       {"binary", "fixed[4]", "list<binary>", "struct<a: int, b: map<string, fixed[2]>>"}) {
    const auto file = Read(columns(type));
    ASSERT_TRUE(file.ok()) << file.error().ToString();
    EXPECT_EQ(file->pipelines.at(0).config.tables.front().columns.at(0).encoding,
              decode::BytesEncoding::kHex);
  }
  EXPECT_THAT(
      ProblemsOf(columns("list<string>")),
      HasSubstr("columns[0].encoding: an encoding is for text that stands for binary or fixed, and this "
                "column is list<string>"));
}

TEST(ConfigReader, PartitionAndSortFieldsAreHeldAgainstTheColumns) {
  const std::string problems = ProblemsOf(
      Flights("    tables:\n      - name: lake.travel.flights\n        columns: [{name: delay, type: int}]\n"
              "        partition_by: [delay, day(delay)]\n        sort_by: [dealy]\n"));
  EXPECT_THAT(problems, HasSubstr("partition_by[1]"));
  EXPECT_THAT(problems, HasSubstr("sort_by[0]"));
}

TEST(ConfigReader, ContradictionsAreProblems) {
  EXPECT_THAT(ProblemsOf(Flights("")), HasSubstr("table"));
  EXPECT_THAT(ProblemsOf(Flights("    table: lake.a.b\n    tables: [{name: lake.a.b}]\n")),
              HasSubstr("tables"));
  EXPECT_THAT(ProblemsOf(Flights("    tables: [{name: lake.a.b}, {name: lake.a.c}]\n")),
              HasSubstr("rule 1 (lake.a.b) takes everything"));
  EXPECT_THAT(ProblemsOf(Flights("    tables: [{name: lake.a.b, create: false, partition_by: [x]}]\n")),
              HasSubstr("create: false makes none"));
  EXPECT_THAT(ProblemsOf(Flights(
                  "    table: lake.a.b\n    on_bad_record: fail\n    dead_letters: {payload: none}\n")),
              HasSubstr("nothing goes to dead letters here"));
  EXPECT_THAT(ProblemsOf(Flights("    table: lake.a.b\n    dead_letters: {table: lake.a.b}\n")),
              HasSubstr("dead letters need a table of their own"));
  EXPECT_THAT(ProblemsOf(Flights("    table: lake.a.b\nlisten: 8321\n")), HasSubstr("is not HOST:PORT"));
  EXPECT_THAT(ProblemsOf(Flights("    table: lake.a.b\n    id: \"a@b\"\n")), HasSubstr("is no id"));
}

TEST(ConfigReader, RulesOfManyTablesArrive) {
  const Result<PipelineFile> file = Read(
      Flights("    tables:\n"
              "      - {match: {topic: \"shop\\\\.(.*)\"}, name: \"lake.shop.{topic:1}\", max_tables: 7}\n"
              "      - {match: {topic: events}, name: \"lake.shop.{topic}_events\"}\n"));
  ASSERT_TRUE(file.ok()) << file.error().ToString();
  const PipelineConfig& config = file->pipelines.at(0).config;
  ASSERT_EQ(config.tables.size(), 2U);
  EXPECT_EQ(config.tables[0].match.topic, "shop\\.(.*)");
  EXPECT_EQ(config.tables[0].name.ToString(), "lake.shop.{topic:1}");
  EXPECT_EQ(config.tables[0].max_tables, 7);
  EXPECT_EQ(config.dead_letters.table.ToString(), "lake.shop.flights_dead_letters")
      << "the pipeline's, not that of one table";
  EXPECT_EQ(RouteRules(config)[1].name, "lake.shop.{topic}_events");
}

TEST(ConfigReader, RulesThatCannotWorkAreProblems) {
  const auto problems = [](const std::string& rules) {
    return ProblemsOf(Flights("    tables: [" + rules + "]\n"));
  };
  EXPECT_THAT(problems("{name: lake.a.b, match: {topic: \"(\"}}"), HasSubstr("no regular expression"));
  EXPECT_THAT(problems("{name: \"lake.a.{topic:2}\", match: {topic: \"(.*)\"}}"),
              HasSubstr("there is no group 2"));
  EXPECT_THAT(problems("{name: \"{topic}.a.b\"}"), HasSubstr("the catalog must be written out"));
  EXPECT_THAT(problems("{name: lake.a.b, match: {topic: a}, max_tables: 3}"), HasSubstr("makes one table"));
  EXPECT_THAT(problems("{name: lake.a.b, match: {topic: a}}, {name: lake.a.b, match: {topic: b}}"),
              HasSubstr("one rule owns a table"));
  EXPECT_THAT(problems("{name: lake.a.b, match: {field: {type: x}}}"),
              HasSubstr("cannot be told apart by a field"))
      << "this test's format has no key reader";
  EXPECT_THAT(problems("{name: \"lake.{topic}.b\"}"), HasSubstr("say where dead letters go"));
  EXPECT_THAT(ProblemsOf(Flights("    table: \"lake.a.{topic}\"\n")), HasSubstr("a rule under tables:"));
}

TEST(ConfigReader, PipelinesShareNeitherProgressNorTables) {
  const std::string problems =
      ProblemsOf(Flights("    table: lake.a.b\n"
                         "  other:\n    id: flights\n    source: {kafka: {place: there}}\n    decode: json\n "
                         "   table: lake.a.b\n"));
  EXPECT_THAT(problems, HasSubstr("id flights is already used by pipeline \"flights\""));
  EXPECT_THAT(problems, HasSubstr("table lake.a.b is already used by pipeline \"flights\""));
}

TEST(ConfigReader, CatalogsAloneAreAFileToo) {
  const Result<PipelineFile> file = Read(kCatalog);
  ASSERT_TRUE(file.ok()) << file.error().ToString();
  EXPECT_TRUE(file->FindCatalog("lake").ok());
  EXPECT_THAT(file->FindCatalog("lak").error().ToString(), HasSubstr("did you mean \"lake\"?"));
}

TEST(ConfigReader, ReferenceNamesEveryKey) {
  const std::string page = ConfigurationReference(FakePlugins());
  for (const char* key : {"catalogs", "place", "on_bad_record", "dead_letters.fail_above.ratio",
                          "tables[].columns[].unit", "listen", "memory"}) {
    EXPECT_THAT(page, HasSubstr(key));
  }
}

}  // namespace
}  // namespace firn::pipeline
