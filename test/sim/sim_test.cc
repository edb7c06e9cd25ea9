// Schedules of the real committer, recovery and pipeline control on one thread. One failing schedule again:
//   FIRN_SIM_SEEDS=4711..4711 build/asan/bin/firn_sim_test
#include <gtest/gtest.h>

#include <charconv>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "firn/obs/log.h"
#include "sim/simulation.h"

namespace firn::sim {
namespace {

// A sanitizer takes twenty times as long: there a few show that memory is in order.
#ifdef NDEBUG
constexpr uint64_t kUsualSchedules = 2'000;
#else
constexpr uint64_t kUsualSchedules = 15;
#endif

struct Seeds {
  uint64_t first = 1;
  uint64_t last = kUsualSchedules;
};

Seeds SeedsToRun() {
  Seeds seeds;
  const char* text = std::getenv("FIRN_SIM_SEEDS");
  if (text == nullptr) return seeds;
  const std::string_view range(text);
  const size_t dots = range.find("..");
  const auto first = range.substr(0, dots);
  const auto last = dots == std::string_view::npos ? first : range.substr(dots + 2);
  const auto a = std::from_chars(first.data(), first.data() + first.size(), seeds.first);
  const auto b = std::from_chars(last.data(), last.data() + last.size(), seeds.last);
  const bool good = a.ec == std::errc{} && b.ec == std::errc{} && a.ptr == first.data() + first.size() &&
                    b.ptr == last.data() + last.size() && seeds.first <= seeds.last;
  EXPECT_TRUE(good) << "FIRN_SIM_SEEDS is FIRST..LAST, not " << range;
  return seeds;
}

class SimTest : public ::testing::Test {
 protected:
  // What a run logs is of interest only when one is looked at alone.
  SimTest() {
    if (std::getenv("FIRN_SIM_LOG") == nullptr)
      quiet_.emplace(obs::LogOptions{obs::Level::kError, obs::LogFormat::kText});
  }
  std::optional<obs::LogCapture> quiet_;
};

TEST_F(SimTest, EveryScheduleKeepsEachRecordOnce) {
  const Seeds seeds = SeedsToRun();
  SimOutcome sum;
  for (uint64_t seed = seeds.first; seed <= seeds.last; ++seed) {
    const SimOutcome outcome = Simulate(seed);
    EXPECT_EQ(outcome.wrong, "") << "again with FIRN_SIM_SEEDS=" << seed << ".." << seed;
    sum.turns += outcome.turns;
    sum.virtual_ms += outcome.virtual_ms;
    sum.rows += outcome.rows;
    sum.commits += outcome.commits;
    sum.kills += outcome.kills;
    sum.rewrites += outcome.rewrites;
    sum.expiries += outcome.expiries;
  }
  RecordProperty("rows", std::to_string(sum.rows));
  std::printf(
      "schedules %llu..%llu: %lld rows, %d commits, %d kills, %d rewrites, %d expiries, %llu turns, %lld s "
      "of virtual time\n",
      static_cast<unsigned long long>(seeds.first), static_cast<unsigned long long>(seeds.last),
      static_cast<long long>(sum.rows), sum.commits, sum.kills, sum.rewrites, sum.expiries,
      static_cast<unsigned long long>(sum.turns), static_cast<long long>(sum.virtual_ms / 1'000));
}

// A rebalance while a refused batch is read again, or that waits for the batch which is then refused:
// positions went over the records that were thrown away.
TEST_F(SimTest, SchedulesThatOnceLostRecordsDoNoMore) {
  for (const uint64_t seed : {12'734, 22'230, 27'205, 36'517, 65'727, 76'499, 85'257})
    EXPECT_EQ(Simulate(seed).wrong, "") << "again with FIRN_SIM_SEEDS=" << seed << ".." << seed;
}

TEST_F(SimTest, TheSameSeedGivesTheSameRun) {
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    const SimOutcome first = Simulate(seed);
    const SimOutcome again = Simulate(seed);
    EXPECT_EQ(first.trace, again.trace) << "seed " << seed;
    EXPECT_EQ(first.turns, again.turns) << "seed " << seed;
  }
  EXPECT_NE(Simulate(1).trace, Simulate(2).trace);
}

class BrokenProtocol : public SimTest, public ::testing::WithParamInterface<Mutation> {};

TEST_P(BrokenProtocol, IsNoticed) {
  constexpr uint64_t kMostSeeds = 500;
  for (uint64_t seed = 1; seed <= kMostSeeds; ++seed) {
    const SimOutcome outcome = Simulate(seed, GetParam());
    if (outcome.wrong.empty()) continue;
    std::printf("noticed with seed %llu: %s\n", static_cast<unsigned long long>(seed), outcome.wrong.c_str());
    return;
  }
  FAIL() << "no schedule shows that the protocol is broken";
}

std::string NameOf(const ::testing::TestParamInfo<Mutation>& mutation) {
  switch (mutation.param) {
    case Mutation::kSkipAncestorSearch:
      return "SkipAncestorSearch";
    case Mutation::kDeleteOnUnknown:
      return "DeleteOnUnknown";
    case Mutation::kAdvanceBeforeCommit:
      return "AdvanceBeforeCommit";
    case Mutation::kDropOthersPartitions:
      return "DropOthersPartitions";
    default:
      return "None";
  }
}

INSTANTIATE_TEST_SUITE_P(Mutations, BrokenProtocol,
                         ::testing::Values(Mutation::kSkipAncestorSearch, Mutation::kDeleteOnUnknown,
                                           Mutation::kAdvanceBeforeCommit, Mutation::kDropOthersPartitions),
                         NameOf);

}  // namespace
}  // namespace firn::sim
