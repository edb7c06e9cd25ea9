#include "firn/source/kafka/properties.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace firn::source::kafka {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string Value(const rd_kafka_conf_t* conf, const char* name) {
  char text[256];
  size_t size = sizeof(text);
  if (rd_kafka_conf_get(conf, name, text, &size) != RD_KAFKA_CONF_OK) return "?";
  return text;
}

KafkaConfig Config(std::map<std::string, std::string> properties = {}) {
  KafkaConfig config;
  config.bootstrap_servers = "h:9092";
  config.topics = {"t"};
  config.group_id = "g";
  config.properties = std::move(properties);
  return config;
}

ConfPtr Made(const KafkaConfig& config, Prefetch prefetch = {}) {
  return MakeConf(config, ClientRole::kReader, prefetch).value();
}

TEST(PropertiesTest, FirnDecidesWhatExactlyOnceRestsOn) {
  const ConfPtr conf = Made(Config());
  EXPECT_EQ(Value(conf.get(), "enable.auto.commit"), "false");
  EXPECT_EQ(Value(conf.get(), "auto.offset.reset"), "error");
  EXPECT_EQ(Value(conf.get(), "enable.partition.eof"), "true");
  EXPECT_EQ(Value(conf.get(), "isolation.level"), "read_committed");
  EXPECT_EQ(Value(conf.get(), "partition.assignment.strategy"), "cooperative-sticky");
  EXPECT_EQ(Value(conf.get(), "allow.auto.create.topics"), "false");
}

TEST(PropertiesTest, DefaultsGiveWayToTheUsers) {
  EXPECT_EQ(Value(Made(Config()).get(), "session.timeout.ms"), "10000");
  EXPECT_EQ(Value(Made(Config({{"session.timeout.ms", "30000"}})).get(), "session.timeout.ms"), "30000");
  EXPECT_EQ(Value(Made(Config({{"fetch.message.max.bytes", "1048576"}})).get(), "fetch.message.max.bytes"),
            "1048576");
}

TEST(PropertiesTest, ReadAheadFollowsTheShareOfMemory) {
  const auto bytes = [](const ConfPtr& conf) {
    return std::stoll(Value(conf.get(), "queued.max.messages.kbytes")) * 1024;
  };
  const ConfPtr small = Made(Config(), {.lanes = 2, .bytes = 16 << 20});
  const ConfPtr large = Made(Config(), {.lanes = 2, .bytes = 256 << 20});
  const auto total = [&](const ConfPtr& conf) {
    return 2 * (bytes(conf) + std::stoll(Value(conf.get(), "queued.min.messages")) * 512) +
           std::stoll(Value(conf.get(), "fetch.max.bytes"));
  };
  EXPECT_LE(total(small), 16 << 20);
  EXPECT_LE(total(large), 256 << 20);
  EXPECT_GT(total(large), 200 << 20);
}

TEST(PropertiesTest, AnOwnedPropertyNamesTheOwnKey) {
  EXPECT_EQ(CheckProperty("group.id", "x").error().remedy(), "Use the source's own key 'group_id'.");
  EXPECT_EQ(CheckProperty("isolation.level", "x").error().remedy(),
            "Use the source's own key 'isolation_level'.");
  EXPECT_EQ(CheckProperty("bootstrap.servers", "x").error().remedy(),
            "Use the source's own key 'bootstrap_servers'.");
  EXPECT_THAT(CheckProperty("enable.auto.commit", "true").error().message(),
              HasSubstr("positions are kept in the table"));
  EXPECT_FALSE(CheckProperty("group.protocol", "consumer").ok());
}

TEST(PropertiesTest, AnUnknownPropertyNamesTheNearest) {
  const Status status = CheckProperty("sesion.timeout.ms", "1");
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().ToString(),
            "librdkafka knows no property 'sesion.timeout.ms'. The nearest is 'session.timeout.ms'.");
}

TEST(PropertiesTest, AnInvalidValueSaysWhatIsAllowed) {
  EXPECT_THAT(CheckProperty("session.timeout.ms", "soon").error().message(), HasSubstr("session.timeout.ms"));
  EXPECT_THAT(CheckProperty("security.protocol", "tls").error().message(), HasSubstr("security.protocol"));
}

TEST(PropertiesTest, ValuesOfSecretsAreNotShown) {
  const auto made =
      MakeConf(Config({{"sasl.password", "hush-hush"}, {"sasl.username", ""}, {"no.such", "hush-hush"}}),
               ClientRole::kReader, Prefetch{});
  ASSERT_FALSE(made.ok());
  EXPECT_THAT(made.error().ToString(), Not(HasSubstr("hush-hush")));
}

TEST(PropertiesTest, OnlyTheReaderIsAStaticMember) {
  KafkaConfig config = Config();
  config.group_instance_id = "one";
  EXPECT_EQ(Value(Made(config).get(), "group.instance.id"), "one");
  const ConfPtr probe = MakeConf(config, ClientRole::kProbe, Prefetch{}).value();
  EXPECT_NE(Value(probe.get(), "group.instance.id"), "one");
}

}  // namespace
}  // namespace firn::source::kafka
