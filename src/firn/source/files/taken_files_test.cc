#include "firn/source/files/taken_files.h"

#include <gtest/gtest.h>

#include <algorithm>

#include <fmt/format.h>

namespace firn::source::files {
namespace {

using Sight = TakenFiles::Sight;

constexpr int64_t kNow = 1'000'000;
constexpr TakenFiles::Limits kLimits{.lookback_ms = 1'000, .max_entries = 100};

FileId File(const std::string& path, int64_t modified_ms, const std::string& version = "v") {
  return {path, 10, modified_ms, version};
}

/// A complete listing; what each file is seen as.
std::vector<Sight> List(TakenFiles& taken, const std::vector<FileId>& files, int64_t* unnamed = nullptr) {
  std::vector<Sight> sights;
  taken.BeginListing();
  for (const FileId& file : files) sights.push_back(taken.See(file));
  const int64_t count = taken.EndListing();
  if (unnamed != nullptr) *unnamed = count;
  return sights;
}

/// As the next process finds it.
TakenFiles Restarted(TakenFiles& taken) {
  auto decoded = TakenFiles::Decode(taken.Encode(0, 8, std::nullopt), kLimits);
  EXPECT_TRUE(decoded.ok()) << decoded.error().ToString();
  return std::move(decoded->taken);
}

TEST(TakenFiles, WhatWasTakenIsRememberedAndTheWatermarkFollowsTheNewest) {
  TakenFiles taken(kLimits);
  EXPECT_EQ(taken.Look(File("a", 5'000)), Sight::kNew);
  taken.Take(File("a", 5'000), kNow);
  EXPECT_EQ(taken.Look(File("a", 5'000)), Sight::kTaken);
  taken.Take(File("b", 5'900), kNow);
  EXPECT_EQ(taken.size(), 2u);
  EXPECT_EQ(taken.Look(File("c", 4'950)), Sight::kNew) << "within lookback, though older than what was taken";
  taken.Take(File("d", 6'001), kNow);
  EXPECT_EQ(taken.size(), 2u) << "a fell below the watermark";
  EXPECT_EQ(taken.Look(File("a", 5'000)), Sight::kTaken);
}

TEST(TakenFiles, AFileOfTheFutureDoesNotRaiseTheWatermark) {
  TakenFiles taken(kLimits);
  taken.Take(File("future", kNow + 1'000'000), kNow);
  EXPECT_EQ(taken.watermark().modified_ms, kNow - kLimits.lookback_ms);
}

TEST(TakenFiles, AnUnseenFileBelowTheWatermarkIsLate) {
  TakenFiles taken(kLimits);
  taken.Take(File("old", 1'000), kNow);
  taken.Take(File("new", 9'000), kNow);
  EXPECT_EQ(List(taken, {File("old", 1'000), File("new", 9'000)}),
            (std::vector{Sight::kTaken, Sight::kTaken}));
  EXPECT_EQ(List(taken, {File("old", 1'000), File("late", 1'001), File("new", 9'000)})[1], Sight::kLate);
  taken.Take(File("late", 1'001), kNow);
  EXPECT_EQ(List(taken, {File("old", 1'000), File("late", 1'001), File("new", 9'000)})[1], Sight::kTaken);
}

TEST(TakenFiles, OneFileThatCameLateWhileNobodyLookedIsFoundByName) {
  TakenFiles taken(kLimits);
  std::vector<FileId> files;
  for (int i = 0; i < 50; ++i) files.push_back(File(fmt::format("f{}", i), 1'000 + i * 100));
  for (const FileId& file : files) taken.Take(file, kNow);
  TakenFiles next = Restarted(taken);
  int64_t unnamed = 0;
  List(next, files, &unnamed);
  EXPECT_EQ(unnamed, 0);
  EXPECT_FALSE(next.wants_listing());

  next = Restarted(taken);
  files.push_back(File("late", 1'050));
  List(next, files, &unnamed);
  EXPECT_EQ(unnamed, 0);
  ASSERT_TRUE(next.wants_listing());
  EXPECT_EQ(List(next, files).back(), Sight::kLate);
}

TEST(TakenFiles, SeveralThatCameLateAreCountedAndRemovedOnesAreNot) {
  TakenFiles taken(kLimits);
  std::vector<FileId> files{File("a", 1'000), File("b", 2'000), File("c", 9'000)};
  for (const FileId& file : files) taken.Take(file, kNow);
  int64_t unnamed = 0;
  TakenFiles next = Restarted(taken);
  List(next, {files[2]}, &unnamed);
  EXPECT_EQ(unnamed, 0) << "a and b were cleaned up";
  next = Restarted(taken);
  List(next, {files[0], files[1], files[2], File("x", 1'100), File("y", 1'200)}, &unnamed);
  EXPECT_EQ(unnamed, 2);
  next = Restarted(taken);
  List(next, {files[1], files[2], File("x", 1'100)}, &unnamed);
  EXPECT_EQ(unnamed, 1) << "one went, one came";
}

TEST(TakenFiles, AnotherVersionOfATakenFileIsAChangeBelowTheWatermarkToo) {
  TakenFiles taken(kLimits);
  taken.Take(File("a", 1'000), kNow);
  EXPECT_EQ(taken.Look(File("a", 1'500, "w")), Sight::kChanged);
  EXPECT_EQ(taken.Look({"a", 11, 1'000, "v"}), Sight::kChanged);
  taken.Take(File("b", 9'000), kNow);
  List(taken, {File("a", 1'000), File("b", 9'000)});
  EXPECT_EQ(taken.Look(File("a", 9'500, "w")), Sight::kChanged);
  taken.Take(File("a", 9'500, "w"), kNow);
  EXPECT_EQ(taken.Look(File("a", 9'500, "w")), Sight::kTaken);
}

TEST(TakenFiles, StaysBoundedByRaisingTheWatermarkEarly) {
  TakenFiles taken({.lookback_ms = 1'000'000, .max_entries = 100});
  bool early = false;
  std::vector<FileId> files;
  for (int i = 0; i < 1'000; ++i) files.push_back(File(fmt::format("f{}", i), 5'000 + i));
  for (const FileId& file : files) {
    early |= taken.Take(file, kNow);
    ASSERT_LE(taken.size(), 100u);
  }
  EXPECT_TRUE(early);
  for (const FileId& file : files) EXPECT_EQ(taken.Look(file), Sight::kTaken);
  EXPECT_LT(taken.Encode(0, 8, std::nullopt).base_text().size(), 3'000u);
}

TEST(TakenFiles, ManyFilesOfOneInstantStayBoundedToo) {
  TakenFiles taken({.lookback_ms = 1'000'000, .max_entries = 100});
  std::vector<FileId> files;
  for (int i = 0; i < 1'000; ++i) files.push_back(File(fmt::format("f{}", i), 5'000));
  std::ranges::sort(files, {}, KeyOf);
  for (const FileId& file : files) {
    EXPECT_EQ(taken.Look(file), Sight::kNew);
    taken.Take(file, kNow);
    ASSERT_LE(taken.size(), 100u);
  }
  for (const FileId& file : files) EXPECT_EQ(taken.Look(file), Sight::kTaken);
}

TEST(TakenFiles, TheCursorHoldsAllOfIt) {
  TakenFiles taken(kLimits);
  const OpenFile open{{"odd \xff path", 7, 8, "version \"1\""}, {3, 40, 2}};
  for (int i = 0; i < 300; ++i) {
    taken.Take(File(fmt::format("f{}", i), 10'000 + i * 30), kNow);
    const record::SourceCursor cursor = taken.Encode(i, 8, open);
    EXPECT_EQ(cursor.at, i);
    auto decoded = TakenFiles::Decode(cursor, kLimits);
    ASSERT_TRUE(decoded.ok()) << decoded.error().ToString();
    EXPECT_EQ(decoded->partitions, 8);
    ASSERT_TRUE(decoded->open);
    EXPECT_EQ(decoded->open->file, open.file);
    EXPECT_EQ(decoded->open->position.byte, 40);
    EXPECT_EQ(decoded->taken.size(), taken.size());
    EXPECT_EQ(decoded->taken.watermark(), taken.watermark());
    for (int known = 0; known <= i; ++known) {
      ASSERT_EQ(decoded->taken.Look(File(fmt::format("f{}", known), 10'000 + known * 30)), Sight::kTaken);
    }
    EXPECT_EQ(decoded->taken.Look(File("unseen", 10'001 + i * 30)), Sight::kNew);
  }
}

TEST(TakenFiles, CursorsInARowShareTheirLargePart) {
  TakenFiles taken({.lookback_ms = 1'000'000, .max_entries = 2'000});
  for (int i = 0; i < 1'000; ++i) taken.Take(File(fmt::format("f{}", i), 5'000 + i), kNow);
  const auto first = taken.Encode(0, 8, std::nullopt);
  taken.Take(File("one more", 9'000), kNow);
  const auto second = taken.Encode(1, 8, std::nullopt);
  EXPECT_EQ(first.base, second.base);
  EXPECT_LT(second.text.size(), 300u);
}

TEST(TakenFiles, DamagedCursorsAreRefused) {
  TakenFiles taken(kLimits);
  taken.Take(File("a", 5'000), kNow);
  const auto good = taken.Encode(0, 8, OpenFile{File("b", 1), {}});
  for (const char* text : {"", "{", "[]", "{}", R"({"v":1,"n":8})", R"({"v":1,"n":8,"w":[1,2],"d":[1]})",
                           R"({"v":1,"n":8,"w":[1,2],"d":[1,2],"f":"AAA="})",
                           R"({"v":1,"n":8,"w":[1,2],"d":[1,2],"o":{"path":"YQ=="}})"}) {
    EXPECT_FALSE(TakenFiles::Decode({0, text}, kLimits).ok()) << text;
  }
  auto newer = TakenFiles::Decode({0, R"({"v":2,"n":8})"}, kLimits);
  ASSERT_FALSE(newer.ok());
  EXPECT_EQ(newer.error().kind(), ErrorKind::kUnsupported);
  auto broken = good;
  broken.base = std::make_shared<const std::string>("%%%");
  EXPECT_FALSE(TakenFiles::Decode(broken, kLimits).ok());
}

}  // namespace
}  // namespace firn::source::files
