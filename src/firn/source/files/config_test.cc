#include "firn/source/files/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "firn/config/load.h"

namespace firn::source::files {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;

struct Read {
  std::optional<FilesConfig> config;
  std::string problems;
};

Read Parse(const std::string& text) {
  config::Problems problems;
  const auto root = config::LoadText(text, "p.yaml", config::SystemEnvironment(), problems);
  if (!root) return {std::nullopt, problems.ToString()};
  auto config = ParseFilesConfig(*root, problems);
  return {std::move(config), problems.ToString()};
}

TEST(FilesConfigTest, APathIsEnoughAndEverythingElseIsCautious) {
  const auto [config, problems] = Parse("path: landing/**/*.jsonl.gz\n");
  ASSERT_TRUE(config) << problems;
  EXPECT_THAT(config->path, EndsWith("/landing/**/*.jsonl.gz"));
  EXPECT_EQ(config->mode, Mode::kWatch);
  EXPECT_EQ(config->lookback_ms, int64_t{7} * 24 * 3600 * 1000);
  EXPECT_EQ(config->on_late_file, FilePolicy::kFail);
  EXPECT_EQ(config->on_changed_file, FilePolicy::kFail);
  EXPECT_FALSE(config->include_hidden);
}

TEST(FilesConfigTest, ReadsEveryKey) {
  const auto [config, problems] = Parse(R"(
path: s3://bucket/in
mode: once
lookback: 1h
on_late_file: take
on_changed_file: skip
poll_interval: 1m
min_age: 0s
include_hidden: true
s3: {endpoint: "http://127.0.0.1:9000", region: r}
)");
  ASSERT_TRUE(config) << problems;
  EXPECT_EQ(config->path, "s3://bucket/in");
  EXPECT_EQ(config->mode, Mode::kOnce);
  EXPECT_EQ(config->lookback_ms, 3'600'000);
  EXPECT_EQ(config->on_late_file, FilePolicy::kTake);
  EXPECT_EQ(config->on_changed_file, FilePolicy::kSkip);
  EXPECT_EQ(config->poll_interval_ms, 60'000);
  EXPECT_EQ(config->min_age_ms, 0);
  EXPECT_TRUE(config->include_hidden);
  EXPECT_EQ(config->s3.endpoint, "http://127.0.0.1:9000");
}

TEST(FilesConfigTest, WhatIsWrongIsToldAllAtOnce) {
  const auto [config, problems] =
      Parse("path: /d/{a,b\nmode: always\non_late_file: drop\nlookbak: 7d\npoll_interval: 1ms\n");
  EXPECT_FALSE(config);
  for (const char* part : {"mode", "watch", "on_late_file", "lookback", "poll_interval"})
    EXPECT_THAT(problems, HasSubstr(part));
  EXPECT_THAT(Parse("path: /d/{a,b\n").problems, HasSubstr("{"));
  EXPECT_THAT(Parse("mode: once\n").problems, HasSubstr("path"));
}

}  // namespace
}  // namespace firn::source::files
