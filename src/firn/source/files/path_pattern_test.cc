#include "firn/source/files/path_pattern.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace firn::source::files {
namespace {

using ::testing::HasSubstr;

PathPattern Pattern(std::string_view path, bool include_hidden = false) {
  auto pattern = PathPattern::Parse(path, include_hidden);
  EXPECT_TRUE(pattern.ok()) << pattern.error().ToString();
  return *std::move(pattern);
}

bool Matches(std::string_view path, std::string_view location) {
  return Pattern(path).Match(location).has_value();
}

TEST(PathPattern, AFolderIsEverythingBelowIt) {
  for (const char* path :
       {"/data/landing", "/data/landing/", "file:///data//landing", "file:/data/landing"}) {
    const PathPattern pattern = Pattern(path);
    EXPECT_EQ(pattern.base(), "/data/landing/");
    EXPECT_EQ(pattern.text(), "/data/landing");
    EXPECT_EQ(pattern.Match("/data/landing/a/b.json"), "a/b.json");
    EXPECT_FALSE(pattern.Match("/data/landing2/b.json"));
    EXPECT_EQ(pattern.LocationOf("a/b.json"), "/data/landing/a/b.json");
  }
  EXPECT_EQ(Pattern("/data/one.json").Match("/data/one.json"), "");
  EXPECT_EQ(Pattern("/data/one.json").LocationOf(""), "/data/one.json");
}

TEST(PathPattern, StarsStayWithinANameAndTwoCrossFolders) {
  EXPECT_TRUE(Matches("/d/*.json", "/d/a.json"));
  EXPECT_FALSE(Matches("/d/*.json", "/d/x/a.json"));
  EXPECT_FALSE(Matches("/d/*.json", "/d/a.json.gz"));
  EXPECT_TRUE(Matches("/d/**/*.json", "/d/a.json"));
  EXPECT_TRUE(Matches("/d/**/*.json", "/d/x/y/a.json"));
  EXPECT_TRUE(Matches("/d/x=*/**", "/d/x=1/y/a"));
  EXPECT_FALSE(Matches("/d/x=*/**", "/d/y=1/y/a"));
  EXPECT_TRUE(Matches("/d/**/z/*.json", "/d/z/z/a.json"));
  EXPECT_TRUE(Matches("/d*/a", "/data/a"));
}

TEST(PathPattern, CharactersSetsAndAlternatives) {
  EXPECT_TRUE(Matches("/d/?[0-9a]?.{json,csv}", "/d/xa1.csv"));
  EXPECT_FALSE(Matches("/d/?[0-9a]?.{json,csv}", "/d/xb1.csv"));
  EXPECT_TRUE(Matches("/d/[!0-9]", "/d/x"));
  EXPECT_FALSE(Matches("/d/[!0-9]", "/d/7"));
  EXPECT_TRUE(Matches("/d/{a,b{1,2}}", "/d/b2"));
  EXPECT_TRUE(Matches(R"(/d/\*\[x.json)", "/d/*[x.json"));
  EXPECT_FALSE(Matches(R"(/d/\*.json)", "/d/a.json"));
}

TEST(PathPattern, BucketsKeepTheirScheme) {
  const PathPattern pattern = Pattern("s3://bucket//landing/*.json");
  EXPECT_EQ(pattern.base(), "s3://bucket/landing/");
  EXPECT_EQ(pattern.Match("s3://bucket/landing/a.json"), "a.json");
  EXPECT_FALSE(pattern.Match("s3://bucket/landing/")) << "the marker of a folder is no file";
}

TEST(PathPattern, HiddenAndTemporaryNamesAreLeftOutUnlessAskedFor) {
  for (const char* name : {".a.json", "_SUCCESS", "_temporary/0/a.json", "x/.git/a", "a.json.tmp", "a.crc",
                           "a.json.inprogress", "a._COPYING_", "a.json~", "a.part"}) {
    EXPECT_FALSE(Matches("/d", std::string("/d/") + name)) << name;
    EXPECT_TRUE(Pattern("/d", true).Match(std::string("/d/") + name)) << name;
  }
  EXPECT_TRUE(Matches("/d", "/d/_day=1/a.json")) << "a partition folder";
  EXPECT_TRUE(Matches("/.hidden/d", "/.hidden/d/a.json")) << "named on purpose";
}

TEST(PathPattern, WhatIsNotWholeIsRefusedWithTheReason) {
  for (const char* path : {"", "/", "s3://", "/d/{a,b", "/d/[a", "/d/a\\", "*.json"}) {
    const auto pattern = PathPattern::Parse(path, false);
    ASSERT_FALSE(pattern.ok()) << path;
    EXPECT_THAT(pattern.error().message(), HasSubstr("the pattern")) << path;
  }
}

}  // namespace
}  // namespace firn::source::files
