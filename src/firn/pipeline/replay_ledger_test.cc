#include "firn/pipeline/replay_ledger.h"

#include <gtest/gtest.h>

#include "firn/catalog/memory/memory_catalog.h"
#include "firn/runtime/manual_clock.h"
#include "firn/runtime/seeded_ids.h"
#include "firn/store/memory/memory_store.h"
#include "firn/write/dead_letter_reader.h"

namespace firn::pipeline {
namespace {

const record::SourcePartition kP0{"events", 0};

ReplayPlan Plan(int64_t to) {
  ReplayPlan plan{7, {}};
  plan.ranges[kP0] = {0, to, {}, std::nullopt};
  return plan;
}

class ReplayLedgerTest : public ::testing::Test {
 protected:
  ReplayLedgerTest() {
    EXPECT_TRUE(catalog_->CreateNamespace({"shop"}, {}).ok());
    EXPECT_TRUE(sink_.CommitterOf("p").ok());  // makes the table
  }
  static DeadLetterConfig Config() {
    DeadLetterConfig config;
    config.table = {"lake", {"shop"}, "letters"};
    return config;
  }

  runtime::ManualClock clock_;
  runtime::SeededIds ids_{42};
  std::shared_ptr<store::MemoryStore> store_ = std::make_shared<store::MemoryStore>();
  std::shared_ptr<catalog::MemoryCatalog> catalog_ =
      std::make_shared<catalog::MemoryCatalog>("lake", "memory://lake", store_, clock_);
  DeadLetterSink sink_{catalog_, Config(), "p", clock_, ids_, nullptr};
  ReplayLedger ledger_{sink_, "p"};
};

TEST_F(ReplayLedgerTest, OpensAndClosesOneAfterTheOther) {
  ReplayLedger::State state = *ledger_.Load();
  EXPECT_FALSE(state.open);
  state = *ledger_.Open(state, Plan(10), {});
  EXPECT_EQ(*state.open, Plan(10));
  EXPECT_EQ(state.ReplayId("p"), "p/replay-1");
  EXPECT_EQ(*ledger_.Load()->open, Plan(10)) << "what another process finds";
  ASSERT_TRUE(ledger_.Close(state, {}, {}).ok());
  state = *ledger_.Load();
  EXPECT_FALSE(state.open);
  EXPECT_EQ(ledger_.Open(state, Plan(20), {})->ReplayId("p"), "p/replay-2");
}

TEST_F(ReplayLedgerTest, WhoComesSecondGetsThePlanOfTheFirst) {
  const ReplayLedger::State before = *ledger_.Load();
  ASSERT_TRUE(ledger_.Open(before, Plan(10), {}).ok());
  EXPECT_EQ(*ledger_.Open(before, Plan(99), {})->open, Plan(10));
}

TEST_F(ReplayLedgerTest, MarksAreWrittenOnceHoweverManyClose) {
  const ReplayLedger::State state = *ledger_.Open(*ledger_.Load(), Plan(10), {});
  record::DeadLetter letter;
  letter.partition = kP0;
  letter.offset = 4;
  ASSERT_TRUE(ledger_.Close(state, {letter}, {}).ok());
  ASSERT_TRUE(ledger_.Close(state, {letter}, {}).ok());
  const auto table = sink_.Load();
  int marks = 0;
  ASSERT_TRUE(write::ReadLetters(table->metadata, table->store, {}, [&](const write::StoredLetter& stored) {
                marks += stored.is_mark() ? 1 : 0;
                return Ok();
              }).ok());
  EXPECT_EQ(marks, 1);
}

TEST(ReplayPlanTest, IsReadBack) {
  const auto decoded = DecodePlan(EncodePlan(Plan(12)));
  ASSERT_TRUE(decoded.ok());
  EXPECT_EQ(*decoded, Plan(12));
  for (const char* text :
       {"", "{}", R"({"snapshot":1})", R"({"snapshot":1,"ranges":{"t":{"x":[0,1]}}})",
        R"({"snapshot":1,"ranges":{"t":{"0":[0]}}})", R"({"snapshot":1,"ranges":{"t":7}})"}) {
    EXPECT_FALSE(DecodePlan(text).ok()) << text;
  }
}

}  // namespace
}  // namespace firn::pipeline
