#include "firn/commit/protocol/shared_read.h"

#include <gtest/gtest.h>

#include <random>

#include "firn/commit/protocol/fence.h"

namespace firn::commit {
namespace {

using record::PositionRanges;
using record::Positions;
using record::SourcePartition;

const SourcePartition kP0{"events", 0};
const SourcePartition kP1{"events", 1};

Positions At(int64_t p0, int64_t p1) { return {{kP0, {p0, {}, {}}}, {kP1, {p1, {}, {}}}}; }

TEST(SharedReadTest, TheLowerBoundStopsAtWhatIsPending) {
  const Positions read = {{kP0, {100, {}, record::Fingerprint{99, 1, 2}}}, {kP1, {50, {}, {}}}};
  const Positions bound = LowerBound(read, {{kP0, 70}, {kP1, 60}});
  EXPECT_EQ(bound.at(kP0).next, 70);
  EXPECT_FALSE(bound.at(kP0).last.has_value()) << "the fingerprint is of a record above the bound";
  EXPECT_EQ(bound.at(kP1).next, 50);
  EXPECT_EQ(LowerBound(read, {}), read);
}

TEST(SharedReadTest, ATableTakesWhatLiesAtOrAboveItsPosition) {
  EXPECT_EQ(TakesFrom(At(150, 10), kP0, 100), 150) << "ahead of the bound: what it has is dropped";
  EXPECT_EQ(TakesFrom(At(150, 10), kP1, 100), 100) << "idle: nothing of its own lies between";
  EXPECT_EQ(TakesFrom({}, kP0, 100), 100) << "a table that is not there yet";
}

TEST(SharedReadTest, RangesBeginWhereTheTableStandsAndJoinOverSkippedRecords) {
  const PositionRanges taken = {{kP0, {20, 31, {}, {}}}};
  const auto ranges = JoinTableRanges(At(10, 5), taken, At(40, 8), {});
  EXPECT_EQ(ranges.at(kP0).from, 10);
  EXPECT_EQ(ranges.at(kP0).to, 40);
  EXPECT_EQ(ranges.at(kP1).from, 5);
  EXPECT_EQ(ranges.at(kP1).to, 8);
  EXPECT_FALSE(CheckFence(At(10, 5), ranges));
}

TEST(SharedReadTest, APartitionThatTheTableDoesNotKnowBeginsWithTheFirstRecordTaken) {
  const auto ranges = JoinTableRanges({}, {{kP0, {20, 31, {}, {}}}}, At(40, 8), {});
  EXPECT_EQ(ranges.at(kP0).from, 20);
  EXPECT_EQ(ranges.at(kP0).to, 40);
  EXPECT_FALSE(ranges.contains(kP1)) << "a table that has nothing of a partition does not carry it";
}

TEST(SharedReadTest, APartitionApartIsNotExtended) {
  const auto ranges = JoinTableRanges(At(10, 5), {{kP1, {5, 6, {}, {}}}}, At(40, 8), {kP0, kP1});
  EXPECT_FALSE(ranges.contains(kP0));
  EXPECT_EQ(ranges.at(kP1).to, 6);
}

TEST(SharedReadTest, ATableAheadOfTheReadStaysThere) {
  const auto ranges = JoinTableRanges(At(100, 5), {{kP1, {5, 6, {}, {}}}}, At(40, 6), {});
  EXPECT_FALSE(ranges.contains(kP0));
}

TEST(SharedReadTest, ARecordBelowTheTablesPositionIsNeverTaken) {
  const auto ranges = JoinTableRanges(At(30, 0), {{kP0, {20, 31, {}, {}}}}, {}, {});
  EXPECT_TRUE(CheckFence(At(30, 0), ranges)) << "another process was there: the fence refuses the batch";
  PositionRanges taken = {{kP0, {20, 31, {}, {}}}};
  EXPECT_FALSE(JoinTaken(taken, kP0, {30, 40, {}, {}}).ok());
  ASSERT_TRUE(JoinTaken(taken, kP0, {35, 40, {}, {}}).ok()) << "31 to 35 were for other tables";
  EXPECT_EQ(taken.at(kP0).from, 20);
  EXPECT_EQ(taken.at(kP0).to, 40);
}

Complete Sample() {
  Complete complete;
  complete.bound = {{kP0, {100, {"c", "t"}, record::Fingerprint{99, 7, 0xabc}}}, {kP1, {5, {"c", "t"}, {}}}};
  complete.tables["lake.shop.a"] = {"uuid-a", "lake.shop.{topic}", "a"};
  complete.behind["lake.shop.b"] = {{kP0, 40}, {{"other", 3}, 7}};
  return complete;
}

TEST(CompleteTest, SurvivesItsText) {
  const Complete complete = Sample();
  const auto decoded = DecodeComplete(EncodeComplete(complete));
  ASSERT_TRUE(decoded.ok()) << decoded.error().ToString();
  EXPECT_EQ(*decoded, complete);
  EXPECT_EQ(CompleteKey("p"), "firn.complete.p");
}

TEST(CompleteTest, BrokenTextIsRefusedWithAReason) {
  for (const char* text : {"", "[]", "{}", R"({"v":2})", R"({"v":1,"sources":[]})",
                           R"({"v":1,"sources":{},"tables":{},"behind":{}})",
                           R"({"v":1,"sources":[],"tables":{"a":1},"behind":{}})",
                           R"({"v":1,"sources":[],"tables":{},"behind":{"a":{"t":{"x":1}}}})",
                           R"({"v":1,"sources":[],"tables":{},"behind":{"a":{"t":{"0":"1"}}}})"}) {
    EXPECT_FALSE(DecodeComplete(text).ok()) << text;
  }
}

TEST(CompleteTest, KeysThatAreNotUtf8DoNotBreakTheText) {
  Complete complete = Sample();
  complete.tables["lake.shop.c"] = {"u", "r", "\xff\xfe"};
  EXPECT_TRUE(DecodeComplete(EncodeComplete(complete)).ok());
}

TEST(CompleteTest, AProcessWritesItsOwnPartitionsAlone) {
  Complete ours;
  ours.bound = {{kP0, {120, {}, {}}}};
  ours.behind["lake.shop.c"] = {{kP0, 110}};
  const Complete merged = MergeComplete(Sample(), ours);
  EXPECT_EQ(merged.bound.at(kP0).next, 120);
  EXPECT_EQ(merged.bound.at(kP1).next, 5);
  EXPECT_EQ(merged.behind.at("lake.shop.b"), (PendingFrom{{{"other", 3}, 7}}))
      << "b has caught up in events[0]";
  EXPECT_EQ(merged.behind.at("lake.shop.c").at(kP0), 110);
  EXPECT_TRUE(merged.tables.contains("lake.shop.a"));
}

// The protocol against an oracle: records go to random tables, batches are cut and committed table by table,
// and the process dies at any point. Every record must be in its table once, though restarts begin at
// whatever lower bound was written last.
class Simulation {
 public:
  explicit Simulation(uint64_t seed) : random_(seed) {}

  void Run() {
    for (int i = 0; i < kRecords; ++i) log_.push_back(static_cast<size_t>(random_() % kTables));
    int restarts = 0;
    while (bound_ < kRecords && restarts++ < 10'000) OneProcess();
    for (size_t table = 0; table < kTables; ++table) {
      std::vector<int64_t> expected;
      for (int64_t i = 0; i < kRecords; ++i) {
        if (log_[static_cast<size_t>(i)] == table) expected.push_back(i);
      }
      EXPECT_EQ(rows_[table], expected) << "table " << table;
    }
  }

 private:
  static constexpr int kRecords = 300;
  static constexpr size_t kTables = 4;
  struct Part {
    PositionRanges taken;
    std::vector<int64_t> rows;
    Positions reached;
  };

  void OneProcess() {
    std::map<size_t, Part> filling;
    const int64_t start = bound_;
    int64_t read = start;
    for (;;) {
      if (random_() % 60 == 0) return;  // dies
      const uint64_t step = random_() % 10;
      if (step < 7 && read < kRecords) {
        Take(filling[log_[static_cast<size_t>(read)]], log_[static_cast<size_t>(read)], read, start);
        ++read;
      } else if (step == 7) {
        CommitOne(filling, read);
      } else if (step == 8) {
        WriteBound(filling, read);
        if (bound_ == kRecords) return;
      }
    }
  }

  void Take(Part& part, size_t table, int64_t offset, int64_t start) {
    if (offset < TakesFrom(tables_[table], kP0, start)) return;
    ASSERT_TRUE(JoinTaken(part.taken, kP0, {offset, offset + 1, {}, {}}).ok());
    part.rows.push_back(offset);
  }

  void CommitOne(std::map<size_t, Part>& filling, int64_t read) {
    const size_t table = random_() % kTables;
    Part part = std::exchange(filling[table], {});
    if (part.rows.empty()) return;
    const auto ranges = JoinTableRanges(tables_[table], part.taken, {{kP0, {read, {}, {}}}}, {});
    ASSERT_FALSE(CheckFence(tables_[table], ranges));
    tables_[table] = Advance(tables_[table], ranges);
    rows_[table].insert(rows_[table].end(), part.rows.begin(), part.rows.end());
  }

  void WriteBound(const std::map<size_t, Part>& filling, int64_t read) {
    PendingFrom pending;
    for (const auto& [table, part] : filling) AddPending(pending, part.taken);
    bound_ = LowerBound({{kP0, {read, {}, {}}}}, pending).at(kP0).next;
  }

  std::mt19937_64 random_;
  std::vector<size_t> log_;
  std::map<size_t, Positions> tables_;
  std::map<size_t, std::vector<int64_t>> rows_;
  int64_t bound_ = 0;
};

TEST(SharedReadTest, EveryRecordIsInItsTableOnceHoweverOftenTheProcessDies) {
  for (uint64_t seed = 0; seed < 50; ++seed) {
    SCOPED_TRACE(seed);
    Simulation(seed).Run();
  }
}

}  // namespace
}  // namespace firn::commit
