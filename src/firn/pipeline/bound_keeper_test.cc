#include "firn/pipeline/bound_keeper.h"

#include <gtest/gtest.h>

#include "firn/catalog/memory/memory_catalog.h"
#include "firn/runtime/manual_clock.h"
#include "firn/runtime/seeded_ids.h"
#include "firn/store/memory/memory_store.h"

namespace firn::pipeline {
namespace {

const record::SourcePartition kP0{"events", 0};
const record::SourcePartition kP1{"events", 1};

class BoundKeeperTest : public ::testing::Test {
 protected:
  BoundKeeperTest() {
    EXPECT_TRUE(catalog_->CreateNamespace({"shop"}, {}).ok());
    letters_.table = {"lake", {"shop"}, "letters"};
    control_.emplace(DeadLetterSink(catalog_, letters_, "p", clock_, ids_, nullptr),
                     runtime::SystemThreads());
    keeper_.emplace("p", *control_, committers_, clock_, abort_.get_token());
  }

  static record::Positions At(int64_t p0) { return {{kP0, {p0, {"c", "t"}, {}}}}; }

  runtime::ManualClock clock_;
  runtime::SeededIds ids_{7};
  std::shared_ptr<store::MemoryStore> store_ = std::make_shared<store::MemoryStore>();
  std::shared_ptr<catalog::MemoryCatalog> catalog_ =
      std::make_shared<catalog::MemoryCatalog>("lake", "memory://lake", store_, clock_);
  DeadLetterConfig letters_;
  std::optional<ControlTable> control_;
  runtime::Executor committers_{"commit", 1};
  std::stop_source abort_;
  std::optional<BoundKeeper> keeper_;
};

TEST_F(BoundKeeperTest, IsWrittenAtMostOnceAMinuteAndOnlyWhenSomethingChanged) {
  EXPECT_FALSE(keeper_->TakeTurn());
  clock_.Advance(BoundKeeper::kEveryMs);
  EXPECT_FALSE(keeper_->TakeTurn()) << "nothing has changed";
  keeper_->Changed();
  EXPECT_TRUE(keeper_->TakeTurn());
  keeper_->Changed();
  EXPECT_FALSE(keeper_->TakeTurn()) << "a minute has not passed";
  clock_.Advance(BoundKeeper::kEveryMs);
  EXPECT_TRUE(keeper_->TakeTurn());
}

TEST_F(BoundKeeperTest, WhatIsWrittenIsFoundByTheNextRun) {
  ASSERT_TRUE(
      keeper_->StoreNow(keeper_->Ours(At(40), {{"lake.shop.a", "u1", "lake.shop.{topic}", "a", {}}})).ok());
  auto found = control_->Load("p");
  ASSERT_TRUE(found.ok()) << found.error().ToString();
  keeper_->Adopt(*found);
  EXPECT_EQ(keeper_->stored().bound.at(kP0).next, 40);
  EXPECT_EQ(keeper_->Known("lake.shop.a")->uuid, "u1");
  EXPECT_EQ(keeper_->Known("lake.shop.b"), std::nullopt);
}

TEST_F(BoundKeeperTest, ATableThatIsNotThereKeepsTheIdThatItHad) {
  commit::Complete stored;
  stored.tables["lake.shop.a"] = {"u1", "rule", "a"};
  keeper_->Adopt({"control", stored});
  const commit::Complete ours = keeper_->Ours(
      At(40),
      {{"lake.shop.a", "", "rule", "a", {{kP0, 10}, {kP1, 5}}}, {"lake.shop.new", "", "rule", "new", {}}});
  EXPECT_EQ(ours.tables.at("lake.shop.a").uuid, "u1");
  EXPECT_EQ(ours.tables.at("lake.shop.new").uuid, "");
  EXPECT_EQ(ours.behind.at("lake.shop.a"), (commit::PendingFrom{{kP0, 10}})) << "of our own partitions";
}

TEST_F(BoundKeeperTest, ATableThatNoRuleMakesAnyMoreStaysBehind) {
  keeper_->KeepBehind("lake.shop.old", {{kP0, 3}});
  EXPECT_EQ(keeper_->Ours(At(40), {}).behind.at("lake.shop.old"), (commit::PendingFrom{{kP0, 3}}));
}

TEST_F(BoundKeeperTest, TheSourceIsToldOnlyWhatIsNews) {
  EXPECT_TRUE(keeper_->TakeUntold(At(10), At(10)).empty()) << "that is where it began";
  EXPECT_EQ(keeper_->TakeUntold(At(20), At(10)).at(kP0).next, 20);
  EXPECT_TRUE(keeper_->TakeUntold(At(20), At(10)).empty());
  EXPECT_TRUE(keeper_->TakeUntold({{kP1, {9, {}, {}}}}, At(10)).empty()) << "not ours";
  keeper_->Forget({kP0});
  EXPECT_EQ(keeper_->TakeUntold(At(20), At(10)).at(kP0).next, 20) << "ours again";
}

}  // namespace
}  // namespace firn::pipeline
