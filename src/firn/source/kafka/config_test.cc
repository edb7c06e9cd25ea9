#include "firn/source/kafka/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "firn/config/load.h"

namespace firn::source::kafka {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

struct Read {
  std::optional<KafkaConfig> config;
  std::string problems;
};

Read Parse(const std::string& text) {
  config::Problems problems;
  const auto root = config::LoadText(text, "p.yaml", config::SystemEnvironment(), problems);
  if (!root) return {std::nullopt, problems.ToString()};
  auto config = ParseKafkaConfig(*root, "flights", problems);
  return {std::move(config), problems.ToString()};
}

TEST(KafkaConfigTest, DefaultsSufficeForServersAndTopics) {
  const auto [config, problems] = Parse("bootstrap_servers: h:9092\ntopics: [flights]\n");
  ASSERT_TRUE(config) << problems;
  EXPECT_THAT(config->topics, ElementsAre("flights"));
  EXPECT_EQ(config->group_id, "firn-flights");
  EXPECT_EQ(config->starting_offsets.at, StartAt::kEarliest);
  EXPECT_EQ(config->isolation_level, IsolationLevel::kReadCommitted);
  EXPECT_EQ(config->on_data_loss, OnDataLoss::kFail);
  EXPECT_FALSE(config->starting_timestamp_ms);
}

TEST(KafkaConfigTest, ReadsEveryKey) {
  const auto [config, problems] = Parse(R"(
bootstrap_servers: a:1,b:2
topics: [flights, trips]
group_id: mine
group_instance_id: one
starting_offsets: {flights: {0: 17, 3: 5}}
on_data_loss: earliest
on_source_recreated: fail
isolation_level: read_uncommitted
properties: {fetch.message.max.bytes: "1048576", security.protocol: ssl}
)");
  ASSERT_TRUE(config) << problems;
  EXPECT_EQ(config->group_id, "mine");
  EXPECT_EQ(config->group_instance_id, "one");
  EXPECT_EQ(config->starting_offsets.at, StartAt::kOffsets);
  EXPECT_EQ(config->starting_offsets.offsets.at("flights").at(3), 5);
  EXPECT_EQ(config->on_data_loss, OnDataLoss::kEarliest);
  EXPECT_EQ(config->isolation_level, IsolationLevel::kReadUncommitted);
  EXPECT_EQ(config->properties.at("security.protocol"), "ssl");
}

TEST(KafkaConfigTest, ReadsAStartingTimestamp) {
  const auto [config, problems] =
      Parse("bootstrap_servers: h\ntopics_pattern: 'db\\..*'\nstarting_timestamp: 2026-01-01T00:00:00Z\n");
  ASSERT_TRUE(config) << problems;
  EXPECT_EQ(config->starting_timestamp_ms, 1'767'225'600'000);
}

TEST(KafkaConfigTest, TellsAllProblemsAtOnceWithTheirPlaces) {
  const auto [config, problems] = Parse(R"(
bootstrap_servers: h
topics: ["db.*"]
starting_offsets: {flights: {zero: 1}}
isolation_level: committed
properties: {group.id: x, sesion.timeout.ms: 1}
)");
  EXPECT_FALSE(config);
  EXPECT_THAT(problems, HasSubstr("p.yaml:3:10: topics[0]: 'db.*' is not a topic name"));
  EXPECT_THAT(problems, HasSubstr("A pattern goes under topics_pattern."));
  EXPECT_THAT(problems, HasSubstr("'zero' is not a partition"));
  EXPECT_THAT(problems, HasSubstr("read_committed"));
  EXPECT_THAT(problems, HasSubstr("Use the source's own key 'group_id'."));
  EXPECT_THAT(problems, HasSubstr("The nearest is 'session.timeout.ms'."));
}

TEST(KafkaConfigTest, ContradictionsAreProblems) {
  const std::string head = "bootstrap_servers: h\n";
  EXPECT_THAT(Parse(head + "topics: [a]\ntopics_pattern: a\n").problems, HasSubstr("topics_pattern"));
  EXPECT_THAT(Parse(head).problems, HasSubstr("topics"));
  EXPECT_THAT(
      Parse(head + "topics: [a]\nstarting_offsets: latest\nstarting_timestamp: 2026-01-01T00:00:00Z\n")
          .problems,
      HasSubstr("starting_timestamp"));
  EXPECT_THAT(Parse(head + "topics: [a]\nstarting_offsets: {b: {0: 1}}\n").problems,
              HasSubstr("names topic 'b', which this source does not read"));
  EXPECT_THAT(Parse(head + "topics_pattern: 'a('\n").problems,
              HasSubstr("POSIX extended regular expression"));
}

TEST(KafkaConfigTest, SecretsStayOutOfProblems) {
  const auto [config, problems] = Parse(
      "bootstrap_servers: h\ntopics: [a]\nproperties: {sasl.password: hush-hush, sasl.pasword: hush-hush}\n");
  EXPECT_FALSE(config);
  EXPECT_THAT(problems, Not(HasSubstr("hush-hush")));
}

}  // namespace
}  // namespace firn::source::kafka
