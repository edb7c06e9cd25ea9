#include "firn/pipeline/letter_source.h"

#include <gtest/gtest.h>

#include "firn/runtime/manual_clock.h"

namespace firn::pipeline {
namespace {

const record::SourcePartition kP0{"events", 0};

record::DeadLetter Letter(int64_t offset, std::string file = "") {
  record::DeadLetter letter;
  letter.partition = kP0;
  letter.offset = offset;
  letter.timestamp_ms = 1000 + offset;
  letter.key = "k";
  letter.value = "value " + std::to_string(offset);
  letter.headers = {{"h", std::to_string(offset)}};
  letter.file = std::move(file);
  letter.line = offset + 1;
  return letter;
}

class LetterSourceTest : public ::testing::Test {
 protected:
  std::unique_ptr<LetterSource> Make(std::vector<record::DeadLetter> letters) {
    auto by_partition = std::make_shared<LettersByPartition>();
    (*by_partition)[kP0] = std::move(letters);
    return std::make_unique<LetterSource>(std::move(by_partition), "letters", 1, clock_);
  }
  runtime::ManualClock clock_;
};

TEST_F(LetterSourceTest, RecordsAreWhatTheyWereAndRangesJoin) {
  const auto source = Make({Letter(3), Letter(7), Letter(20)});
  ASSERT_TRUE(source->Start(*source->ResolveStart({kP0})).ok());
  source::PollBudget budget;
  budget.max_records = 2;
  const auto first = source->Poll(0, budget);
  const auto second = source->Poll(0, budget);
  ASSERT_EQ(first->size(), 1U);
  ASSERT_EQ(second->size(), 1U);
  const record::RawBatch& raw = first->front();
  EXPECT_EQ(raw.offsets, (std::vector<int64_t>{3, 7}));
  EXPECT_EQ(raw.timestamps_ms, (std::vector<int64_t>{1003, 1007}));
  EXPECT_EQ(raw.value(1), "value 7");
  EXPECT_EQ(raw.key(0), "k");
  ASSERT_EQ(raw.headers.size(), 2U);
  EXPECT_EQ(raw.headers[1].record, 1U);
  EXPECT_EQ(raw.range.from, 3);
  EXPECT_EQ(raw.range.to, 8);
  EXPECT_EQ(second->front().range.from, 8);
  EXPECT_EQ(second->front().range.to, 21);
  EXPECT_EQ(source->ListPartitions()->at(kP0).end, 21);
  EXPECT_TRUE(source->Poll(0, budget)->empty());
}

TEST_F(LetterSourceTest, GoesOnBehindAPosition) {
  const auto source = Make({Letter(3), Letter(7), Letter(20)});
  ASSERT_TRUE(source->Start({{kP0, {8, {}, std::nullopt}}}).ok());
  const auto polled = source->Poll(0, {});
  ASSERT_EQ(polled->size(), 1U);
  EXPECT_EQ(polled->front().range.from, 8);
  EXPECT_EQ(polled->front().offsets, (std::vector<int64_t>{20}));
}

TEST_F(LetterSourceTest, ABatchHoldsLettersOfOneFile) {
  const auto source = Make({Letter(0, "a"), Letter(1, "a"), Letter(2, "b")});
  ASSERT_TRUE(source->Start(*source->ResolveStart({kP0})).ok());
  const auto first = source->Poll(0, {});
  EXPECT_EQ(first->front().file->location, "a");
  EXPECT_EQ(first->front().lines, (std::vector<int64_t>{1, 2}));
  EXPECT_EQ(source->Poll(0, {})->front().file->location, "b");
}

}  // namespace
}  // namespace firn::pipeline
