#include "firn/source/kafka/topic_selection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace firn::source::kafka {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TopicSelection Pattern(const std::string& pattern) {
  KafkaConfig config;
  config.topics_pattern = pattern;
  return TopicSelection::Make(config).value();
}

TEST(TopicSelectionTest, APatternMatchesTheWholeName) {
  const TopicSelection selection = Pattern("db\\..*|shop");
  EXPECT_TRUE(selection.Matches("db.orders"));
  EXPECT_TRUE(selection.Matches("shop"));
  EXPECT_FALSE(selection.Matches("old-shop"));
  EXPECT_FALSE(selection.Matches("shop2"));
  EXPECT_FALSE(selection.Matches("dbx"));
}

TEST(TopicSelectionTest, APatternNeverMatchesKafkasOwnTopics) {
  EXPECT_FALSE(Pattern(".*").Matches("__consumer_offsets"));
  EXPECT_TRUE(Pattern(".*").Matches("__consumer_offsets_copy"));
}

TEST(TopicSelectionTest, SelectsExistingTopicsByPatternAndNamedOnesAlways) {
  EXPECT_THAT(Pattern("a.*").Select({"b", "ab", "aa"}), ElementsAre("aa", "ab"));
  KafkaConfig config;
  config.topics = {"z", "y"};
  EXPECT_THAT(TopicSelection::Make(config)->Select({}), ElementsAre("y", "z"));
}

TEST(TopicSelectionTest, SubscribesToAnAnchoredPattern) {
  EXPECT_THAT(Pattern("a|b").subscription(), ElementsAre("^(a|b)$"));
}

TEST(TopicSelectionTest, ABrokenPatternIsAnError) {
  KafkaConfig config;
  config.topics_pattern = "a(";
  const auto selection = TopicSelection::Make(config);
  ASSERT_FALSE(selection.ok());
  EXPECT_THAT(selection.error().message(), HasSubstr("'a(' is not a POSIX extended regular expression"));
}

}  // namespace
}  // namespace firn::source::kafka
