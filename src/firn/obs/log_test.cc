#include "firn/obs/log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <thread>
#include <vector>

namespace firn::obs {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

TEST(LogTest, TextLinesCarryTimeLevelMessageAndFields) {
  const LogCapture capture;
  Log(Level::kInfo, "batch committed",
      {{"table", "travel.flights"}, {"rows", 1000}, {"took", 1.5}, {"first", true}});
  EXPECT_THAT(
      capture.text(),
      ContainsRegex("^20[0-9-]+T[0-9:.]+Z INFO  batch committed table=travel.flights rows=1000 took=1.5 "
                    "first=true\n$"));
}

TEST(LogTest, TextThatCouldBeMisreadIsQuotedAndControlBytesAreEscaped) {
  const LogCapture capture;
  Log(Level::kWarning, "odd\nmessage", {{"a", "two words"}, {"b", "say \"hi\""}, {"c", ""}, {"d", "x\ny"}});
  EXPECT_THAT(capture.text(),
              HasSubstr("WARN  odd\\x0amessage a=\"two words\" b=\"say \\\"hi\\\"\" c=\"\" d=x\\x0ay\n"));
}

TEST(LogTest, JsonLinesAreObjectsWithTypedFields) {
  const LogCapture capture({.format = LogFormat::kJson});
  Log(Level::kError, "failed",
      {{"error", Error(ErrorKind::kIo, "disk \xff full")}, {"tries", uint64_t{3}}, {"ok", false}});
  const auto line = nlohmann::json::parse(capture.text());
  EXPECT_EQ(line["level"], "error");
  EXPECT_EQ(line["message"], "failed");
  EXPECT_EQ(line["error"], "disk \\xff full");
  EXPECT_EQ(line["tries"], 3);
  EXPECT_EQ(line["ok"], false);
  EXPECT_TRUE(line.contains("time") && line.contains("thread"));
}

TEST(LogTest, SecretsNeverShow) {
  const LogCapture capture;
  const config::Secret secret("hush");
  Log(Level::kInfo, "connected", {{"password", secret}});
  EXPECT_THAT(capture.text(), HasSubstr("password=***"));
  EXPECT_THAT(capture.text(), Not(HasSubstr("hush")));
}

TEST(LogTest, LowerLevelsAreLeftOut) {
  const LogCapture capture({.min_level = Level::kWarning});
  Log(Level::kInfo, "quiet");
  Log(Level::kWarning, "loud");
  EXPECT_FALSE(LogEnabled(Level::kInfo));
  EXPECT_THAT(capture.text(), Not(HasSubstr("quiet")));
  EXPECT_THAT(capture.text(), HasSubstr("loud"));
}

TEST(LogTest, LinesOfManyThreadsStayWhole) {
  const LogCapture capture;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([] {
        for (int i = 0; i < 250; ++i) Log(Level::kInfo, "tick", {{"i", i}});
      });
    }
  }
  const std::string text = capture.text();
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1000);
  EXPECT_THAT(text, Not(ContainsRegex("tick.*tick[^\n]*tick i=[0-9]+ ")));
}

TEST(RateLimitedLogTest, TellsHowManyLinesWereLeftOut) {
  const LogCapture capture;
  RateLimitedLog hourly(3'600'000);
  hourly.Log(Level::kInfo, "again");
  hourly.Log(Level::kInfo, "again");
  const std::string text = capture.text();
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1);

  RateLimitedLog brief(20);
  brief.Log(Level::kInfo, "first");
  brief.Log(Level::kInfo, "left out");
  brief.Log(Level::kInfo, "left out");
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  brief.Log(Level::kInfo, "later");
  EXPECT_THAT(capture.text(), HasSubstr("later suppressed=2"));
}

TEST(LogTest, LiveTextStaysBelowTheLines) {
  testing::internal::CaptureStderr();
  SetLiveText("one\ntwo\n");
  Log(Level::kInfo, "batch committed");
  SetLiveText("");
  const std::string drawn = testing::internal::GetCapturedStderr();
  const size_t line = drawn.find("batch committed");
  ASSERT_NE(line, std::string::npos);
  EXPECT_TRUE(drawn.starts_with("one\ntwo\n\x1b[2A\x1b[J"));
  EXPECT_EQ(drawn.substr(line), "batch committed\none\ntwo\n\x1b[2A\x1b[J");
}

}  // namespace
}  // namespace firn::obs
