#include "firn/commit/protocol/progress.h"

#include <gtest/gtest.h>

#include "firn/commit/protocol/fence.h"

namespace firn::commit {
namespace {

using record::Fingerprint;
using record::PartitionPosition;
using record::PositionRange;
using record::SourceIdentity;

Progress Example() {
  Progress progress{"uuid-1", "main", 9'007'199'254'740'993, 12, 7, "abc", {}};
  const SourceIdentity log{"cluster-1", "topic-1"};
  progress.positions[{"flights", 0}] = {1'000, log,
                                        Fingerprint{999, 1'700'000'000'123, 0xfedcba9876543210ULL}};
  progress.positions[{"flights", 11}] = {0, log, std::nullopt};
  progress.positions[{"flights", 2}] = {5, SourceIdentity{"cluster-1", "topic-2"}, std::nullopt};
  progress.positions[{"a \"quoted\" topic", 3}] = {4, {}, std::nullopt};
  return progress;
}

TEST(Progress, SurvivesEncodingWithEveryDetail) {
  auto decoded = DecodeProgress(EncodeProgress(Example()));
  ASSERT_TRUE(decoded.ok()) << decoded.error().ToString();
  EXPECT_EQ(*decoded, Example());
}

record::SourceCursor Cursor(int64_t at, std::string text, std::string base = {}) {
  record::SourceCursor cursor{at, std::move(text)};
  if (!base.empty()) cursor.base = std::make_shared<const std::string>(std::move(base));
  return cursor;
}

TEST(Progress, CursorsTravelWithTheirPositions) {
  Progress progress = Example();
  progress.positions[{"files", 0}] = {10, {}, std::nullopt, Cursor(7, R"({"file":"a"})")};
  progress.positions[{"files", 1}] = {10, {}, Fingerprint{9, 8, 7}, Cursor(10, "", "seldom changes")};
  auto decoded = DecodeProgress(EncodeProgress(progress));
  ASSERT_TRUE(decoded.ok()) << decoded.error().ToString();
  EXPECT_EQ(*decoded, progress);
}

TEST(Progress, IsOneLineOfCompactJson) {
  const std::string text = EncodeProgress(Example());
  EXPECT_EQ(text.find('\n'), std::string::npos);
  EXPECT_EQ(text.find(": "), std::string::npos);
}

TEST(Progress, KeyNamesTheBranchUnlessItIsMain) {
  EXPECT_EQ(ProgressKey("flights", "main"), "firn.progress.flights");
  EXPECT_EQ(ProgressKey("flights", "audit"), "firn.progress.flights@audit");
}

TEST(Progress, DamagedTextIsAnErrorThatSaysWhy) {
  const std::string good = EncodeProgress(Example());
  for (const std::string& text :
       {std::string("{"), std::string("[]"), std::string("{}"), good.substr(0, good.size() / 2),
        std::string(R"({"v":2,"table":"t"})"), std::string(R"({"v":1,"table":5})")}) {
    auto decoded = DecodeProgress(text);
    ASSERT_FALSE(decoded.ok()) << text;
    EXPECT_EQ(decoded.error().kind(), ErrorKind::kCorrupt);
    EXPECT_FALSE(decoded.error().message().empty());
  }
}

TEST(Progress, BadPositionsAreRefused) {
  const char* head =
      R"({"v":1,"table":"t","branch":"main","snapshot":1,"seq":1,"epoch":1,"commit":"c","sources":[{"topic":"x","at":)";
  for (const char* at : {R"({"-1":[0]})", R"({"x":[0]})", R"({"0":[]})", R"({"0":["1"]})", R"({"0":[1,2]})",
                         R"({"0":[1,2,3,"zz"]})", R"([1])", R"({"0":[{}]})", R"({"0":[1,{}]})",
                         R"({"0":[1,{"at":2,"text":""}]})", R"({"0":[1,{"at":1,"text":3}]})",
                         R"({"0":[1,2,{"at":1,"text":""}]})"}) {
    EXPECT_FALSE(DecodeProgress(std::string(head) + at + "}]}").ok()) << at;
  }
}

TEST(Ranges, SmallMapsCarryEveryPartition) {
  const record::PositionRanges ranges{{{"t", 0}, PositionRange{5, 9, {}, std::nullopt}}};
  record::Positions merged{{{"t", 0}, {9, {}, std::nullopt}}, {{"t", 1}, {3, {}, std::nullopt}}};
  auto map = DecodeWholeMap(EncodeRanges(ranges, merged));
  ASSERT_TRUE(map.ok());
  ASSERT_TRUE(map->has_value());
  EXPECT_EQ(**map, merged);
}

TEST(Ranges, PositionsWithCursorsAreNoWholeMap) {
  const record::PositionRanges ranges{{{"files", 0}, PositionRange{0, 5, {}, std::nullopt, Cursor(5, "x")}}};
  const std::string text = EncodeRanges(ranges, Advance({}, ranges));
  auto map = DecodeWholeMap(text);
  ASSERT_TRUE(map.ok());
  EXPECT_FALSE(map->has_value()) << "a number alone must not be taken for a place to go on";
  EXPECT_NE(text.find("[0,5]"), std::string::npos);
}

TEST(Ranges, LargeMapsCarryOnlyWhatMoved) {
  const record::PositionRanges ranges{{{"t", 0}, PositionRange{5, 9, {}, std::nullopt}}};
  record::Positions merged;
  for (int32_t i = 0; i <= static_cast<int32_t>(kWholeMapPartitions); ++i)
    merged[{"t", i}] = {9, {}, std::nullopt};
  const std::string text = EncodeRanges(ranges, merged);
  EXPECT_EQ(text, R"({"t":{"0":[5,9]}})");
  auto map = DecodeWholeMap(text);
  ASSERT_TRUE(map.ok());
  EXPECT_FALSE(map->has_value());
}

TEST(CommitId, DependsOnPipelineTableBranchAndNonEmptyRangesOnly) {
  const record::PositionRanges ranges{{{"t", 0}, PositionRange{5, 9, {}, std::nullopt}}};
  record::PositionRanges with_empty = ranges;
  with_empty[{"t", 1}] = PositionRange{3, 3, {}, std::nullopt};
  record::PositionRanges moved = ranges;
  moved[{"t", 0}].to = 10;
  const std::string id = CommitId("p", "uuid", "main", ranges);
  EXPECT_EQ(id, CommitId("p", "uuid", "main", with_empty));
  EXPECT_EQ(id.size(), 32U);
  EXPECT_NE(id, CommitId("q", "uuid", "main", ranges));
  EXPECT_NE(id, CommitId("p", "uuid2", "main", ranges));
  EXPECT_NE(id, CommitId("p", "uuid", "b", ranges));
  EXPECT_NE(id, CommitId("p", "uuid", "main", moved));
}

}  // namespace
}  // namespace firn::commit
