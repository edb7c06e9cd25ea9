#include "firn/config/schema.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <sstream>

#include "firn/config/load.h"
#include "firn/config/reference.h"

namespace firn::config {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

enum class OnFull { kFlush, kWait };

struct InnerConfig {
  std::string name;
  int32_t retries = 3;
};

struct OuterConfig {
  int64_t interval_ms = 60'000;
  int64_t max_bytes = int64_t{512} << 20;
  double ratio = 0.05;
  bool create = true;
  OnFull on_full = OnFull::kFlush;
  std::optional<std::string> note;
  Secret password;
  std::string folder = "lake";
  std::vector<std::string> topics = {"a"};
  std::map<std::string, std::string> properties;
  std::vector<InnerConfig> inners;
  InnerConfig one;
  std::optional<Selection> source;
  int64_t start_ms = 0;
};

const Schema<InnerConfig>& InnerSchema() {
  static const auto schema =
      Schema<InnerConfig>()
          .Required("name", &InnerConfig::name, Text(), "Its name.")
          .Field("retries", &InnerConfig::retries, Integer<int32_t>({.min = 0, .max = 9}), "Tries.");
  return schema;
}

Result<InnerConfig> InnerFromName(std::string_view text) {
  if (text == "bad") return Error(ErrorKind::kInvalidArgument, "bad is no name");
  return InnerConfig{std::string(text), 1};
}

const Schema<OuterConfig>& OuterSchema() {
  static const auto schema =
      Schema<OuterConfig>()
          .Field("interval", &OuterConfig::interval_ms, Duration({.min = 1000, .max = 3'600'000}),
                 "How often.")
          .Field("max_bytes", &OuterConfig::max_bytes, Bytes({.min = 1024}), "How much.")
          .Field("ratio", &OuterConfig::ratio, Number({.min = 0, .max = 1}), "Share.")
          .Field("create", &OuterConfig::create, Boolean(), "Make it | or not.")
          .Field("on_full", &OuterConfig::on_full,
                 Choice<OnFull>({{"flush", OnFull::kFlush}, {"wait", OnFull::kWait}}), "Then.")
          .Field("note", &OuterConfig::note, Text(), "A note.", "the id")
          .Field("password", &OuterConfig::password, SecretText(), "Secret.")
          .Field("folder", &OuterConfig::folder, Path(), "Where.")
          .Field("topics", &OuterConfig::topics, ListOf(Text(), false), "Topics.")
          .Field("properties", &OuterConfig::properties, MapOf(Text({.allow_empty = true})), "More.")
          .Field("inners", &OuterConfig::inners,
                 ListOf(OrShort<InnerConfig>(Object(InnerSchema()), "name", InnerFromName)), "Many.")
          .Field("one", &OuterConfig::one, Object(InnerSchema()), "One.")
          .Field("source", &OuterConfig::source, OneKeyOf({"kafka", "files"}), "From.")
          .Field("start", &OuterConfig::start_ms, Instant(), "Since.")
          .Retired("period", "write interval")
          .Exclusive({"ratio", "max_bytes"})
          .Check([](const OuterConfig& config, Checker& check) {
            if (!config.create && config.note) check.Fail("note", "needs create: true");
          });
  return schema;
}

class SchemaTest : public testing::Test {
 protected:
  bool Read(const std::string& text) {
    problems_ = {};
    config_ = {};
    const auto root = LoadText(text, "f.yaml", SystemEnvironment(), problems_);
    EXPECT_TRUE(root.has_value()) << problems_.ToString();
    return root && OuterSchema().Read(*root, problems_, &config_);
  }
  std::string ProblemsOf(const std::string& text) {
    EXPECT_FALSE(Read(text)) << text;
    return problems_.ToString();
  }

  Problems problems_;
  OuterConfig config_;
};

TEST_F(SchemaTest, ReadsEveryKindOfValue) {
  ASSERT_TRUE(Read(R"(
interval: 5m
max_bytes: 1MiB
create: false
on_full: wait
password: hush
folder: ../data/x
topics: [t1, "t2"]
properties: {fetch.bytes: 12, empty: ""}
inners: [short, {name: long, retries: 9}]
one: {name: single}
source: {kafka: {bootstrap_servers: h}}
start: 2026-01-01T00:00:00+01:00
)")) << problems_.ToString();
  EXPECT_EQ(config_.interval_ms, 300'000);
  EXPECT_EQ(config_.max_bytes, 1 << 20);
  EXPECT_FALSE(config_.create);
  EXPECT_EQ(config_.on_full, OnFull::kWait);
  EXPECT_EQ(config_.password.Reveal(), "hush");
  EXPECT_EQ(config_.folder, (std::filesystem::current_path() / "../data/x").lexically_normal().string());
  EXPECT_THAT(config_.topics, ElementsAre("t1", "t2"));
  EXPECT_EQ(config_.properties.at("fetch.bytes"), "12");
  ASSERT_EQ(config_.inners.size(), 2U);
  EXPECT_EQ(config_.inners[0].retries, 1);
  EXPECT_EQ(config_.inners[1].retries, 9);
  EXPECT_EQ(config_.source->name, "kafka");
  EXPECT_EQ(config_.source->node.path(), "source.kafka");
  EXPECT_EQ(config_.start_ms, 1'767'222'000'000);
}

TEST_F(SchemaTest, MissingKeysKeepTheirDefaults) {
  ASSERT_TRUE(Read("create: true\n"));
  EXPECT_EQ(config_.interval_ms, 60'000);
  EXPECT_EQ(config_.note, std::nullopt);
  EXPECT_THAT(config_.topics, ElementsAre("a"));
}

TEST_F(SchemaTest, UnknownKeysNameTheNearestAndWhatIsAllowed) {
  EXPECT_EQ(ProblemsOf("one:\n  name: x\n  retires: 3\n"),
            "f.yaml:3:3: one.retires: unknown key; did you mean \"retries\"? (allowed: name, retries)");
  EXPECT_THAT(ProblemsOf("period: 5s\n"), HasSubstr("this key is gone: write interval"));
}

TEST_F(SchemaTest, AllProblemsAreToldAtOnceWithTheirPlaces) {
  EXPECT_EQ(
      ProblemsOf(
          "interval: 60\nratio: 2\ncreate: yes\non_full: flsh\ntopics: []\none: {retries: x}\nbogus: 1\n"),
      "f.yaml:1:11: interval: '60' is not a duration: a whole number with a unit (ms, s, m, h, d), like 60s "
      "or 1h30m\n"
      "f.yaml:2:8: ratio: 2 is out of range: 0 to 1\n"
      "f.yaml:3:9: create: expected true or false, found \"yes\"\n"
      "f.yaml:4:10: on_full: \"flsh\" is not one of flush, wait; did you mean \"flush\"?\n"
      "f.yaml:5:9: topics: the list must not be empty\n"
      "f.yaml:6:6: one: the key \"name\" is missing: Its name.\n"
      "f.yaml:6:16: one.retries: expected a whole number, found \"x\"\n"
      "f.yaml:7:1: bogus: unknown key (allowed: interval, max_bytes, ratio, create, on_full, note, password, "
      "folder, "
      "topics, properties, inners, one, source, start)");
}

TEST_F(SchemaTest, WrongKindsSayWhatWasFound) {
  EXPECT_THAT(ProblemsOf("interval: {a: 1}\n"), HasSubstr("expected a duration, found a map"));
  EXPECT_THAT(ProblemsOf("interval:\n"), HasSubstr("expected a duration, found nothing"));
  EXPECT_THAT(ProblemsOf("topics: t1\n"), HasSubstr("expected list of text, found \"t1\""));
  EXPECT_THAT(ProblemsOf("one: [x]\n"), HasSubstr("expected map, found a list"));
  EXPECT_THAT(ProblemsOf("note: \"\"\n"), HasSubstr("must not be empty"));
  EXPECT_THAT(ProblemsOf("source: {kafka: {}, files: {}}\n"), HasSubstr("exactly one key"));
  EXPECT_THAT(ProblemsOf("source: {kafak: {}}\n"), HasSubstr("did you mean \"kafka\"?"));
  EXPECT_THAT(ProblemsOf("start: 2026-13-01T00:00Z\n"), HasSubstr("out of range"));
  EXPECT_THAT(ProblemsOf("inners: [bad]\n"), HasSubstr("f.yaml:1:10: inners[0]: bad is no name"));
}

TEST_F(SchemaTest, NumbersAreReadStrictly) {
  for (const char* bad : {"1.5", "0x1F", "+3", "1e3", "\"007\"", "99999999999", "10"}) {
    EXPECT_THAT(ProblemsOf("one: {name: a, retries: " + std::string(bad) + "}\n"), HasSubstr("one.retries"))
        << bad;
  }
  for (const char* bad : {".inf", "nan", "x", "\"\""})
    EXPECT_THAT(ProblemsOf("ratio: " + std::string(bad)), HasSubstr("ratio"));
}

TEST_F(SchemaTest, ContradictionsAreProblemsAtTheKey) {
  EXPECT_EQ(ProblemsOf("create: false\nnote: x\n"), "f.yaml:2:7: note: needs create: true");
  EXPECT_THAT(ProblemsOf("ratio: 0.5\nmax_bytes: 1MiB\n"), HasSubstr("only one of ratio, max_bytes"));
}

TEST_F(SchemaTest, SecretsPrintAsStars) {
  ASSERT_TRUE(Read("password: hush\n"));
  std::ostringstream stream;
  stream << config_.password;
  EXPECT_EQ(stream.str(), "***");
  EXPECT_EQ(fmt::format("{}", config_.password), "***");
  EXPECT_EQ(ProblemsOf("password: {hush: 1}\n"), "f.yaml:1:11: password: expected a text");
}

TEST_F(SchemaTest, TheSameDeclarationMakesTheReferencePage) {
  std::vector<FieldDoc> fields;
  OuterSchema().Describe("pipelines.<name>", &fields);
  const std::string table = RenderReferenceTable(fields, "pipelines.<name>");
  EXPECT_THAT(table, HasSubstr("| `interval` | duration | `1m` | 1s to 1h | How often. |"));
  EXPECT_THAT(table, HasSubstr("| `max_bytes` | size | `512MiB` | at least 1KiB | How much. |"));
  EXPECT_THAT(table, HasSubstr("| `create` | boolean | `true` | true, false | Make it \\| or not. |"));
  EXPECT_THAT(table, HasSubstr("| `note` | text | `the id` |  | A note. |"));
  EXPECT_THAT(table, HasSubstr("| `password` | secret text |  |  | Secret. |"));
  EXPECT_THAT(table, HasSubstr("| `inners[].name` | text | required |  | Its name. |"));
  EXPECT_THAT(table, HasSubstr("| `one.retries` | whole number | `3` | 0 to 9 | Tries. |"));
}

struct StartConfig {
  std::optional<std::string> offsets;
  std::optional<std::string> timestamp;
};

TEST(ExactlyOneOfTest, NoneAndBothAreProblems) {
  const auto schema = Schema<StartConfig>()
                          .Field("offsets", &StartConfig::offsets, Text(), "x")
                          .Field("timestamp", &StartConfig::timestamp, Text(), "x")
                          .ExactlyOneOf({"offsets", "timestamp"});
  const auto outcome = [&](const char* text) {
    Problems problems;
    StartConfig config;
    const auto root = LoadText(text, "f", SystemEnvironment(), problems);
    return schema.Read(*root, problems, &config) ? std::string("ok") : problems.ToString();
  };
  EXPECT_EQ(outcome("offsets: a"), "ok");
  EXPECT_THAT(outcome("{}"), HasSubstr("one of these keys is missing: offsets, timestamp"));
  EXPECT_THAT(outcome("offsets: a\ntimestamp: b"), HasSubstr("f:2:12: timestamp: only one of"));
}

struct PrefixedConfig {
  std::string uri;
  std::map<std::string, std::string> headers;
};

const Schema<PrefixedConfig>& PrefixedSchema() {
  static const auto schema = Schema<PrefixedConfig>()
                                 .Required("uri", &PrefixedConfig::uri, Text(), "Address.")
                                 .Prefixed("header.", &PrefixedConfig::headers, "Header.");
  return schema;
}

TEST(PrefixedKeysTest, KeysOfAPrefixFillAMap) {
  Problems problems;
  const auto root = LoadText("uri: u\nheader.X-A: 1\nheader.X-B: \"\"\n", "f", SystemEnvironment(), problems);
  ASSERT_TRUE(root.has_value());
  PrefixedConfig config;
  EXPECT_TRUE(PrefixedSchema().Read(*root, problems, &config)) << problems.ToString();
  EXPECT_EQ(config.headers, (std::map<std::string, std::string>{{"X-A", "1"}, {"X-B", ""}}));
  std::vector<FieldDoc> docs;
  PrefixedSchema().Describe("c", &docs);
  EXPECT_EQ(docs.back().path, "c.header.<name>");
}

TEST(PrefixedKeysTest, APrefixAloneIsAnUnknownKeyAndItsValuesAreTexts) {
  Problems problems;
  const auto root = LoadText("uri: u\nheader.: 1\nheader.X: [a]\n", "f", SystemEnvironment(), problems);
  ASSERT_TRUE(root.has_value());
  PrefixedConfig config;
  EXPECT_FALSE(PrefixedSchema().Read(*root, problems, &config));
  EXPECT_THAT(problems.ToString(), HasSubstr("header.: "));
  EXPECT_THAT(problems.ToString(), HasSubstr("header.X: expected text"));
}

TEST(ResolvePathTest, LeavesAbsolutePathsAndSchemesAlone) {
  const Node node;
  EXPECT_EQ(ResolvePath(node, "/a/b"), "/a/b");
  EXPECT_EQ(ResolvePath(node, "s3://bucket/x"), "s3://bucket/x");
  EXPECT_EQ(ResolvePath(node, "file:/x"), "file:/x");
  EXPECT_EQ(ResolvePath(node, "a/../b"), (std::filesystem::current_path() / "b").string());
}

}  // namespace
}  // namespace firn::config
