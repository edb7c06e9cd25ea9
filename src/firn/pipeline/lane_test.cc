#include "firn/pipeline/lane.h"

#include <gtest/gtest.h>

#include "firn/runtime/manual_clock.h"
#include "firn/runtime/seeded_ids.h"
#include "firn/source/memory/memory_source.h"

namespace firn::pipeline {
namespace {

const record::SourcePartition kP0{"events", 0};

/// Takes records without making rows of them, and notes which; waits, or asks for a schema, when told to.
struct DecoderScript {
  std::vector<int64_t> taken;
  bool away = false;
  std::optional<int64_t> needs_change_at;  ///< offset
};
class ScriptedDecoder final : public decode::Decoder {
 public:
  explicit ScriptedDecoder(DecoderScript& script) : script_(script) {}
  Result<decode::DecodeResult> Decode(const record::RawBatch& raw, size_t begin) override {
    if (script_.away) return Error(ErrorKind::kUnavailable, "the registry is away");
    decode::DecodeResult result;
    for (size_t i = begin; i < raw.size(); ++i) {
      if (raw.offsets[i] == script_.needs_change_at) {
        result.delta.emplace();
        break;
      }
      script_.taken.push_back(raw.offsets[i]);
      ++result.consumed;
    }
    return result;
  }
  const iceberg::SchemaPtr& schema() const override { return schema_; }

 private:
  DecoderScript& script_;
  iceberg::SchemaPtr schema_;
};

/// Every record goes to the one table, once somebody can tell what is in it.
class ScriptedKeys final : public decode::KeyReader {
 public:
  explicit ScriptedKeys(const bool& away) : away_(away) {}
  Status Enter(const record::RawBatch& /*raw*/) override {
    if (away_) return Error(ErrorKind::kUnavailable, "the registry is away");
    return Ok();
  }
  const std::vector<std::optional<std::string_view>>& Read(const record::RawBatch& /*raw*/,
                                                           size_t /*record*/) override {
    return values_;
  }

 private:
  const bool& away_;
  const std::vector<std::optional<std::string_view>> values_{"order"};
};

/// A lane that nobody but the test drives.
class LaneTest : public ::testing::Test {
 protected:
  LaneTest() {
    log_->AddPartition(kP0);
    config_.tables.front().name = {"lake", {"shop"}, "events"};
    config_.tables.front().columns = {{.name = "id", .type = "long"}};
    book_.emplace(config_);
    source_.emplace(log_, 1);
    Make();
  }
  void Make(std::unique_ptr<decode::KeyReader> keys = nullptr) {
    LaneConfig lane;
    lane.ids = &ids_;
    lane.clock = &clock_;
    lane.memory = &memory_;
    lane.infers = {false};
    auto router = route::Router::Make(RouteRules(config_));
    EXPECT_TRUE(router.ok()) << router.error().ToString();
    lane_.emplace(lane, *source_, factory_, Sorter(*router, *book_, std::move(keys)), book_->unrouted());
  }

  /// Fields tell the table of a record.
  void RouteByField(const bool& away) {
    config_.tables.front().match.field["type"] = ".*";
    lane_.reset();
    Make(std::make_unique<ScriptedKeys>(away));
  }
  void Produce(int count) {
    for (int i = 0; i < count; ++i) log_->Append(kP0, "{}");
  }
  void StartAt(int64_t next) {
    ASSERT_TRUE(source_->Start({{kP0, {next, {}, {}}}}).ok());
    lane_->Resume(/*drop_waiting=*/false);
  }
  /// The table as it has records below `from` (nothing: it takes all).
  void Open(std::optional<int64_t> from = std::nullopt, int64_t version = 0) {
    auto view = std::make_shared<TableView>();
    view->version = version;
    auto takes_from = std::make_shared<TakesFromMap>();
    if (from) (*takes_from)[kP0] = *from;
    lane_->Offer(1, {view, takes_from});
  }
  LaneCut Cut(bool pause = false) {
    lane_->RequestCut({.all = true, .targets = {}, .pause = pause});
    return lane_->CollectCut();
  }
  void Turns(int count) {
    for (int i = 0; i < count; ++i) lane_->Turn();
  }

  std::shared_ptr<source::MemoryLog> log_ = std::make_shared<source::MemoryLog>();
  std::optional<source::MemorySource> source_;
  PipelineConfig config_;
  std::optional<TargetBook> book_;
  runtime::SeededIds ids_{7};
  runtime::ManualClock clock_;
  runtime::MemoryBudget memory_{int64_t{1} << 30};
  DecoderScript script_;
  DecoderFactory factory_ = [this](const decode::BoundSchema&) -> Result<std::unique_ptr<decode::Decoder>> {
    return std::unique_ptr<decode::Decoder>(std::make_unique<ScriptedDecoder>(script_));
  };
  std::optional<Lane> lane_;
};

TEST_F(LaneTest, RecordsWaitUntilTheirTableIsOpenedAndAreThenHandedOver) {
  Produce(3);
  EXPECT_EQ(lane_->Turn(), Lane::Did::kNothing) << "paused";
  StartAt(0);
  Turns(1);
  const std::vector<TableRequest> requests = lane_->TakeRequests();
  ASSERT_EQ(requests.size(), 1);
  EXPECT_EQ(requests.front().kind, TableRequest::Kind::kOpen);
  EXPECT_GT(lane_->waiting_bytes(), 0);
  LaneCut early = Cut();
  EXPECT_EQ(early.pending, (commit::PendingFrom{{kP0, 0}}));
  EXPECT_EQ(early.read.at(kP0).to, 3);

  Open();
  Turns(1);
  EXPECT_EQ(lane_->waiting_bytes(), 0);
  LaneCut cut = Cut(/*pause=*/true);
  ASSERT_EQ(cut.parts.size(), 1);
  EXPECT_EQ(cut.parts.front().part.taken.at(kP0).to, 3);
  EXPECT_EQ(cut.parts.front().part.records, 3);
  EXPECT_TRUE(cut.pending.empty());
  EXPECT_EQ(lane_->Turn(), Lane::Did::kNothing) << "a cut may pause it";
}

TEST_F(LaneTest, ATableDoesNotTakeTwiceWhatItHasWhenTheDecoderAsksForPatience) {
  Produce(10);
  script_.away = true;
  Open(/*from=*/6);
  StartAt(0);
  Turns(1);
  EXPECT_TRUE(script_.taken.empty());
  script_.away = false;
  Turns(1);
  EXPECT_TRUE(script_.taken.empty()) << "it was asked to wait a moment";
  clock_.Advance(1'000);
  Turns(1);
  EXPECT_EQ(script_.taken, (std::vector<int64_t>{6, 7, 8, 9}));
  LaneCut cut = Cut();
  EXPECT_EQ(cut.parts.front().part.taken.at(kP0).from, 6);
}

TEST_F(LaneTest, WhatCannotBeSortedYetIsAsIfItHadNotBeenRead) {
  bool away = true;
  RouteByField(away);
  Produce(3);
  Open();
  StartAt(0);
  EXPECT_EQ(lane_->Turn(), Lane::Did::kWorked);
  EXPECT_EQ(lane_->Turn(), Lane::Did::kHeld) << "it takes nothing behind it";
  EXPECT_TRUE(lane_->positions().empty());
  EXPECT_TRUE(lane_->TakeRequests().empty()) << "nobody hears of a moment";
  LaneCut early = Cut();
  EXPECT_TRUE(early.read.empty() && early.pending.empty() && early.parts.empty());
  for (int i = 0; i < 20; ++i) {
    clock_.Advance(1'000);
    Turns(1);
  }
  const std::vector<TableRequest> requests = lane_->TakeRequests();
  ASSERT_FALSE(requests.empty());
  EXPECT_EQ(requests.front().kind, TableRequest::Kind::kTrouble);
  EXPECT_EQ(requests.front().target, nullptr);

  away = false;
  clock_.Advance(1'000);
  Turns(1);
  EXPECT_EQ(script_.taken, (std::vector<int64_t>{0, 1, 2}));
  EXPECT_EQ(Cut().read.at(kP0).to, 3);
}

TEST_F(LaneTest, AfterASeekOrARevocationWhatCouldNotBeSortedIsDropped) {
  bool away = true;
  RouteByField(away);
  Produce(3);
  Open();
  StartAt(0);
  Turns(1);
  Cut(/*pause=*/true);
  away = false;
  clock_.Advance(1'000);
  ASSERT_TRUE(source_->Seek({{kP0, {2, {}, {}}}}).ok());
  lane_->Resume(/*drop_waiting=*/true);
  Turns(2);
  EXPECT_EQ(script_.taken, (std::vector<int64_t>{2}));

  away = true;
  Produce(2);
  Turns(1);
  Cut(/*pause=*/true);
  away = false;
  clock_.Advance(1'000);
  lane_->Forget({kP0});
  lane_->Resume(/*drop_waiting=*/false);
  Turns(2);
  EXPECT_EQ(script_.taken, (std::vector<int64_t>{2}));
}

TEST_F(LaneTest, WhatNeedsASchemaChangeWaitsForANewerView) {
  Produce(5);
  script_.needs_change_at = 2;
  Open();
  StartAt(0);
  Turns(1);
  const std::vector<TableRequest> requests = lane_->TakeRequests();
  ASSERT_EQ(requests.size(), 1);
  EXPECT_EQ(requests.front().kind, TableRequest::Kind::kChange);
  script_.needs_change_at.reset();
  Turns(2);
  EXPECT_EQ(script_.taken, (std::vector<int64_t>{0, 1}));
  Open(std::nullopt, /*version=*/1);
  Turns(1);
  EXPECT_EQ(script_.taken, (std::vector<int64_t>{0, 1, 2, 3, 4}));
}

TEST_F(LaneTest, WhatATableThatTakesNoPartWouldHaveTakenIsToldAsLeftOut) {
  Produce(4);
  Open();
  StartAt(0);
  Turns(1);
  lane_->Offer(1, {nullptr, nullptr});
  Turns(1);
  LaneCut cut = Cut();
  EXPECT_TRUE(cut.parts.empty());
  EXPECT_EQ(cut.left_out.at(1), (commit::PendingFrom{{kP0, 0}}));
  EXPECT_TRUE(cut.pending.empty()) << "it holds nobody's bound back";
  Produce(1);
  Turns(1);
  EXPECT_EQ(Cut().left_out.at(1), (commit::PendingFrom{{kP0, 4}}));
}

TEST_F(LaneTest, HeldBackItGoesOnWithWhatWaitsButTakesNothingNew) {
  Produce(2);
  StartAt(0);
  Turns(1);
  lane_->Hold(true);
  Produce(2);
  Open();
  EXPECT_EQ(lane_->Turn(), Lane::Did::kHeld);
  EXPECT_EQ(script_.taken.size(), 2);
  lane_->Hold(false);
  EXPECT_EQ(lane_->Turn(), Lane::Did::kWorked);
  EXPECT_EQ(script_.taken.size(), 4);
}

TEST_F(LaneTest, GoesNoFurtherThanItsEnds) {
  Produce(10);
  Open();
  lane_->SetEnds({{kP0, 4}});
  StartAt(0);
  Turns(3);
  EXPECT_EQ(script_.taken, (std::vector<int64_t>{0, 1, 2, 3}));
  EXPECT_EQ(lane_->positions().at(kP0), 4);
}

TEST_F(LaneTest, AfterASeekWhatWaitedIsDropped) {
  Produce(3);
  StartAt(0);
  Turns(1);
  Cut(/*pause=*/true);
  ASSERT_TRUE(source_->Seek({{kP0, {1, {}, {}}}}).ok());
  lane_->Resume(/*drop_waiting=*/true);
  EXPECT_TRUE(lane_->positions().empty());
  Open();
  Turns(2);
  EXPECT_EQ(script_.taken, (std::vector<int64_t>{1, 2}));
}

}  // namespace
}  // namespace firn::pipeline
