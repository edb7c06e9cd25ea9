#include "firn/pipeline/dead_letter_limit.h"

#include <gtest/gtest.h>

namespace firn::pipeline {
namespace {

DeadLetterConfig Limit() {
  DeadLetterConfig config;
  config.fail_above_ratio = 0.05;
  config.fail_above_min_records = 100;
  return config;
}

BatchPart Bad(int64_t count) {
  BatchPart part;
  part.bad_records = count;
  return part;
}

TEST(DeadLetterLimitTest, FewRecordsDecideNothingUntilThereAreEnough) {
  const DeadLetterConfig config = Limit();
  DeadLetterLimit limit(config);
  EXPECT_TRUE(limit.Check(Bad(50), 50).ok());
  const Status over = limit.Check(Bad(0), 50);
  ASSERT_FALSE(over.ok());
  EXPECT_EQ(over.error().retry(), RetryHint::kNo);
  EXPECT_NE(over.error().ToString().find("50 of 100 records are bad"), std::string::npos)
      << over.error().ToString();
}

TEST(DeadLetterLimitTest, JustAtTheShareIsNotAboveIt) {
  const DeadLetterConfig config = Limit();
  DeadLetterLimit limit(config);
  EXPECT_TRUE(limit.Check(Bad(5), 100).ok());
  EXPECT_FALSE(limit.Check(Bad(6), 100).ok());
}

TEST(DeadLetterLimitTest, TheErrorShowsARecord) {
  const DeadLetterConfig config = Limit();
  DeadLetterLimit limit(config);
  BatchPart part = Bad(100);
  record::DeadLetter letter;
  letter.partition = {"events", 3};
  letter.offset = 17;
  letter.message = "not a number";
  part.dead_letters.push_back(letter);
  const Status over = limit.Check(part, 100);
  ASSERT_FALSE(over.ok());
  EXPECT_NE(over.error().ToString().find("events[3] offset 17: not a number"), std::string::npos)
      << over.error().ToString();
}

TEST(DeadLetterLimitTest, ALongGoodPastDoesNotHideABadPresent) {
  const DeadLetterConfig config = Limit();
  DeadLetterLimit limit(config);
  EXPECT_TRUE(limit.Check(Bad(0), 1'000'000).ok());
  EXPECT_FALSE(limit.Check(Bad(100), 100).ok());
}

}  // namespace
}  // namespace firn::pipeline
