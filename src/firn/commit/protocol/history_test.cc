#include "firn/commit/protocol/history.h"

#include <gtest/gtest.h>

#include "firn/commit/protocol/progress.h"

namespace firn::commit {
namespace {

using iceberg::Snapshot;
using iceberg::TableMetadata;

/// A chain of snapshots 1, 2, ... on main; ids equal sequence numbers.
TableMetadata Chain(int64_t length) {
  TableMetadata table;
  for (int64_t id = 1; id <= length; ++id) {
    Snapshot snapshot;
    snapshot.snapshot_id = id;
    snapshot.sequence_number = id;
    if (id > 1) snapshot.parent_snapshot_id = id - 1;
    table.snapshots.push_back(snapshot);
  }
  if (length > 0) {
    table.refs["main"] = {length};
    table.current_snapshot_id = length;
  }
  return table;
}

void Mark(TableMetadata& table, int64_t id, const std::string& pipeline, const std::string& commit) {
  for (Snapshot& snapshot : table.snapshots) {
    if (snapshot.snapshot_id != id) continue;
    snapshot.summary[kSummaryPipeline] = pipeline;
    snapshot.summary[kSummaryCommitId] = commit;
  }
}

void Expire(TableMetadata& table, int64_t id) {
  std::erase_if(table.snapshots, [id](const Snapshot& snapshot) { return snapshot.snapshot_id == id; });
}

/// As PyIceberg does it: what stays does not name the parent that went.
void ExpireWithItsName(TableMetadata& table, int64_t id) {
  Expire(table, id);
  for (Snapshot& snapshot : table.snapshots) {
    if (snapshot.parent_snapshot_id == id) snapshot.parent_snapshot_id.reset();
  }
}

/// Totals of a snapshot as its summary has them.
void Count(TableMetadata& table, int64_t id, int64_t total, int64_t added, int64_t deleted) {
  for (Snapshot& snapshot : table.snapshots) {
    if (snapshot.snapshot_id != id) continue;
    snapshot.summary["total-records"] = std::to_string(total);
    snapshot.summary["added-records"] = std::to_string(added);
    if (deleted > 0) snapshot.summary["deleted-records"] = std::to_string(deleted);
  }
}

TEST(FindCommit, FindsOursBehindOtherCommits) {
  TableMetadata table = Chain(6);
  Mark(table, 4, "p", "c1");
  auto search = FindCommit(table, "main", "p", "c1", 3);
  ASSERT_TRUE(std::holds_alternative<CommitFound>(search));
  EXPECT_EQ(std::get<CommitFound>(search).snapshot_id, 4);
}

TEST(FindCommit, AnotherPipelinesCommitWithTheSameIdIsNotOurs) {
  TableMetadata table = Chain(4);
  Mark(table, 4, "other", "c1");
  EXPECT_TRUE(std::holds_alternative<CommitAbsent>(FindCommit(table, "main", "p", "c1", 3)));
}

TEST(FindCommit, IsAbsentOnlyWhenTheHeadMovedAndTheWalkIsComplete) {
  TableMetadata table = Chain(6);
  EXPECT_TRUE(std::holds_alternative<CommitAbsent>(FindCommit(table, "main", "p", "c1", 3)));
  auto still = FindCommit(table, "main", "p", "c1", 6);
  ASSERT_TRUE(std::holds_alternative<CommitUndecided>(still));
  EXPECT_FALSE(std::get<CommitUndecided>(still).head_moved);
  Expire(table, 4);
  auto gap = FindCommit(table, "main", "p", "c1", 3);
  ASSERT_TRUE(std::holds_alternative<CommitUndecided>(gap));
  EXPECT_TRUE(std::get<CommitUndecided>(gap).head_moved);
}

TEST(FindCommit, WithoutAParentTheRootDecides) {
  EXPECT_TRUE(std::holds_alternative<CommitUndecided>(FindCommit(Chain(0), "main", "p", "c1", std::nullopt)));
  EXPECT_TRUE(std::holds_alternative<CommitAbsent>(FindCommit(Chain(2), "main", "p", "c1", std::nullopt)));
}

TEST(FindCommit, AParentThatIsNoAncestorAnyMoreDecidesNothing) {
  EXPECT_TRUE(std::holds_alternative<CommitUndecided>(FindCommit(Chain(3), "main", "p", "c1", 99)));
}

TEST(FindAncestor, TellsAncestorExpiredAndRolledBackApart) {
  TableMetadata table = Chain(6);
  EXPECT_EQ(FindAncestor(table, "main", 4, 4), Ancestry::kAncestor);
  EXPECT_EQ(FindAncestor(table, "main", 44, 4), Ancestry::kNotThere);
  EXPECT_EQ(FindAncestor(table, "main", 44, 0), Ancestry::kNotThere) << "the root was reached";
  Expire(table, 4);
  EXPECT_EQ(FindAncestor(table, "main", 4, 4), Ancestry::kExpired);
  EXPECT_EQ(FindAncestor(table, "main", 3, 3), Ancestry::kExpired);
  table.refs["main"].snapshot_id = 2;
  EXPECT_EQ(FindAncestor(table, "main", 5, 5), Ancestry::kNotThere) << "rolled back to 2";
}

TEST(FindAncestor, AnExpiredParentWithoutANameIsNoRoot) {
  TableMetadata table = Chain(6);
  for (int64_t id = 1; id <= 4; ++id) Count(table, id, id * 10, 10, 0);
  Count(table, 5, 40, 40, 40);  // all was rewritten
  Count(table, 6, 40, 20, 20);
  for (int64_t id = 1; id <= 4; ++id) ExpireWithItsName(table, id);
  EXPECT_EQ(FindAncestor(table, "main", 4, 4), Ancestry::kExpired);
  ExpireWithItsName(table, 5);
  EXPECT_EQ(FindAncestor(table, "main", 4, 4), Ancestry::kExpired);
}

TEST(FindAncestor, ARootThatReplacedTheTableDoesNotHideThatOursIsGone) {
  TableMetadata table = Chain(6);
  for (int64_t id = 1; id <= 4; ++id) Count(table, id, id * 10, 10, 0);
  Count(table, 5, 7, 7, 0);
  Count(table, 6, 9, 2, 0);
  table.snapshots[4].parent_snapshot_id.reset();
  EXPECT_EQ(FindAncestor(table, "main", 4, 4), Ancestry::kNotThere);
  Expire(table, 4);
  EXPECT_EQ(FindAncestor(table, "main", 4, 4), Ancestry::kNotThere);
}

TEST(FindCommit, WithoutAParentAnExpiredOneThatLeftNoNameDecidesNothing) {
  TableMetadata table = Chain(3);
  Count(table, 1, 10, 10, 0);
  Count(table, 2, 20, 10, 0);
  Count(table, 3, 20, 20, 20);
  Mark(table, 1, "p", "c1");
  ExpireWithItsName(table, 1);
  EXPECT_TRUE(std::holds_alternative<CommitUndecided>(FindCommit(table, "main", "p", "c1", std::nullopt)));
}

TEST(FindNewestOfPipeline, SkipsOthersAndReportsAGap) {
  TableMetadata table = Chain(6);
  Mark(table, 2, "p", "c1");
  Mark(table, 3, "p", "c2");
  Mark(table, 5, "q", "c3");
  bool complete = false;
  const Snapshot* newest = FindNewestOfPipeline(table, "main", "p", &complete);
  ASSERT_NE(newest, nullptr);
  EXPECT_EQ(newest->snapshot_id, 3);
  Expire(table, 4);
  EXPECT_EQ(FindNewestOfPipeline(table, "main", "p", &complete), nullptr);
  EXPECT_FALSE(complete);
}

}  // namespace
}  // namespace firn::commit
