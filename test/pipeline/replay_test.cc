// Dead letters sent again: each once, whatever happens in between.
#include "firn/pipeline/replay.h"
#include "firn/pipeline/letter_book.h"
#include "pipeline_fixture.h"

namespace firn::pipeline {
namespace {

class ReplayTest : public PipelineTest {
 protected:
  /// `bad` records whose ids do not fit the declared column, between good ones.
  void ProduceSome(int good, int bad) {
    Produce(good);
    for (int i = 0; i < bad; ++i) {
      log_->Append(Partition(i % kPartitions), fmt::format(R"({{"id":{},"partition":"p{}"}})", next_id_, i));
      bad_.insert(next_id_++);
    }
    Produce(good);
  }

  /// From now on such records are fine: the column that did not take them is gone from the mapping.
  void Mend() { config_.tables.front().columns = {{.name = "id", .type = "long"}}; }

  PipelineDeps Deps() {
    PipelineDeps deps;
    deps.catalogs["lake"] = deps.dead_letter_catalog = catalog_;
    deps.make_decoder = [](const decode::BoundSchema& bound) { return decode::MakeJsonDecoder(bound); };
    deps.make_key_reader = decode::MakeJsonKeyReader;
    deps.lanes = 2;
    deps.clock = &runtime::SystemClock();
    deps.ids = &ids_;
    deps.memory = &memory_;
    deps.metrics = &metrics_;
    return deps;
  }

  Result<ReplayResult> Replay(ReplayLimits limits = {}, std::stop_token abort = {}) {
    PipelineSetup setup;
    setup.config = config_;
    setup.decoder.format = "json";
    ReplayDeps deps;
    deps.dead_letter_catalog = catalog_;
    deps.make_pipeline = [this](const PipelineSetup& run) -> Result<std::unique_ptr<Pipeline>> {
      PipelineDeps parts = Deps();
      parts.make_source = [run](int lanes) { return run.MakeSource(lanes); };
      return MakePipeline(run.config, std::move(parts));
    };
    deps.clock = &runtime::SystemClock();
    deps.ids = &ids_;
    deps.limits = limits;
    return ReplayDeadLetters(setup, deps, abort, abort);
  }

  int64_t Waiting() {
    const auto book = LetterBook::Read(Table("events_dead_letters"), std::nullopt, false);
    EXPECT_TRUE(book.ok());
    int64_t waiting = 0;
    for (const auto& [partition, offsets] : book->entries()) {
      for (const auto& [offset, entry] : offsets) waiting += entry.waits() ? 1 : 0;
    }
    return waiting;
  }

  std::set<int64_t> bad_;
};

TEST_F(ReplayTest, MendedRecordsComeInOnceAndAreMarked) {
  ProduceSome(50, 9);
  ASSERT_EQ(CatchUp().end, PipelineEnd::kDone);
  ExpectAllOnce(bad_);
  EXPECT_EQ(Waiting(), 9);
  Mend();
  const auto done = Replay();
  ASSERT_TRUE(done.ok()) << done.error().ToString();
  EXPECT_EQ(done->letters, 9);
  EXPECT_EQ(done->bad_again, 0);
  ExpectAllOnce();
  EXPECT_EQ(Waiting(), 0);
  EXPECT_EQ(Replay()->letters, 0);
  Produce(20);
  EXPECT_EQ(CatchUp().end, PipelineEnd::kDone) << "the pipeline goes on as before";
  ExpectAllOnce();
}

TEST_F(ReplayTest, WhatIsStillBadWaitsAsANewLetterAndComesInLater) {
  ProduceSome(10, 6);
  ASSERT_EQ(CatchUp().end, PipelineEnd::kDone);
  const auto again = Replay();
  ASSERT_TRUE(again.ok()) << again.error().ToString();
  EXPECT_EQ(again->letters, 6);
  EXPECT_EQ(again->bad_again, 6);
  EXPECT_EQ(Waiting(), 6);
  ExpectAllOnce(bad_);
  Mend();
  EXPECT_EQ(Replay()->letters, 6);
  EXPECT_EQ(Waiting(), 0);
  ExpectAllOnce();
}

TEST_F(ReplayTest, ManyLettersGoInPortions) {
  config_.dead_letters.fail_above_min_records = 100'000;
  ProduceSome(10, 100);
  ASSERT_EQ(CatchUp().end, PipelineEnd::kDone);
  Mend();
  const auto done = Replay({.bytes = 1 << 20, .letters = 30});
  ASSERT_TRUE(done.ok()) << done.error().ToString();
  EXPECT_EQ(done->letters, 100);
  ExpectAllOnce();
  EXPECT_EQ(Waiting(), 0);
}

TEST_F(ReplayTest, CutOffAfterAnyCommitTheNextCallFinishesIt) {
  for (int cut_at = 1; cut_at <= 6; ++cut_at) {
    config_.tables.front().columns = {{.name = "id", .type = "long"},
                                      {.name = "part", .type = "int", .from = "partition"}};
    ProduceSome(10, 8);
    ASSERT_EQ(CatchUp().end, PipelineEnd::kDone);
    Mend();
    std::stop_source abort;
    std::atomic<int> commits = 0;
    catalog_->BeforeCommit([&] {
      if (++commits == cut_at) abort.request_stop();
    });
    std::ignore = Replay({}, abort.get_token());
    catalog_->BeforeCommit({});
    const auto done = Replay();
    ASSERT_TRUE(done.ok()) << done.error().ToString();
    EXPECT_EQ(Waiting(), 0) << "cut at commit " << cut_at;
    ExpectAllOnce();
  }
}

TEST_F(ReplayTest, LostAnswersLoseAndDoubleNothing) {
  ProduceSome(10, 8);
  ASSERT_EQ(CatchUp().end, PipelineEnd::kDone);
  Mend();
  catalog_->FailNextCommits({CommitFault::kAnswerLost, CommitFault::kConflict, CommitFault::kAnswerLost,
                             CommitFault::kRequestLost, CommitFault::kAnswerLost});
  const auto done = Replay();
  ASSERT_TRUE(done.ok()) << done.error().ToString();
  ExpectAllOnce();
  EXPECT_EQ(Waiting(), 0);
}

TEST_F(ReplayTest, LettersWithoutTheirBytesAreCountedAndStay) {
  config_.dead_letters.keep_payload = false;
  ProduceSome(10, 5);
  ASSERT_EQ(CatchUp().end, PipelineEnd::kDone);
  Mend();
  const auto done = Replay();
  ASSERT_TRUE(done.ok()) << done.error().ToString();
  EXPECT_EQ(done->letters, 0);
  EXPECT_EQ(done->without_payload, 5);
  EXPECT_EQ(Waiting(), 5);
}

}  // namespace
}  // namespace firn::pipeline
