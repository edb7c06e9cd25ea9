#include "firn/obs/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>

#include "firn/obs/metrics_page.h"

namespace firn::obs {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(MetricListTest, EntriesStandInOrderAndFollowTheNamingRules) {
  std::set<std::string_view> names;
  for (size_t i = 0; i < kMetricList.size(); ++i) {
    const MetricInfo& info = kMetricList.at(i);
    EXPECT_EQ(static_cast<size_t>(info.metric), i) << info.name;
    EXPECT_TRUE(names.insert(info.name).second) << info.name;
    EXPECT_EQ(info.name.ends_with("_total"), info.kind == MetricKind::kCounter) << info.name;
    EXPECT_TRUE(std::regex_match(std::string(info.name), std::regex("(firn|process)_[a-z_]+"))) << info.name;
    EXPECT_TRUE(info.help.ends_with('.')) << info.name;
  }
}

TEST(MetricsTest, RendersPrometheusText) {
  Metrics metrics;
  Counter rows = metrics.counter(Metric::kRowsRead, {"flights"});
  rows.Add(5);
  metrics.counter(Metric::kRowsRead, {"flights"}).Add();
  metrics.gauge(Metric::kLagRecords, {"flights", "t", "0"}).Set(12);
  metrics.histogram(Metric::kCommitSeconds, {"flights"}).Observe(0.3);
  EXPECT_EQ(rows.value(), 6);
  const std::string text = metrics.Render();
  EXPECT_THAT(
      text, HasSubstr("# TYPE firn_rows_read_total counter\nfirn_rows_read_total{pipeline=\"flights\"} 6\n"));
  EXPECT_THAT(text, HasSubstr("firn_lag_records{partition=\"0\",pipeline=\"flights\",topic=\"t\"} 12\n"));
  EXPECT_THAT(text, HasSubstr("firn_commit_seconds_bucket{pipeline=\"flights\",le=\"0.5\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("firn_build_info{"));
  EXPECT_THAT(text, HasSubstr("process_resident_memory_bytes "));
  EXPECT_THAT(text, HasSubstr("process_cpu_seconds_total "));
}

TEST(MetricsTest, RemovedSeriesDisappear) {
  Metrics metrics;
  metrics.gauge(Metric::kLagRecords, {"p", "t", "0"}).Set(1);
  metrics.gauge(Metric::kLagRecords, {"p", "t", "1"}).Set(1);
  metrics.Remove(Metric::kLagRecords, {"p", "t", "0"});
  EXPECT_THAT(metrics.Render(), Not(HasSubstr("partition=\"0\"")));
  EXPECT_THAT(metrics.Render(), HasSubstr("partition=\"1\""));
}

TEST(MetricsTest, HooksRunBeforeRenderUntilTheyAreDropped) {
  Metrics metrics;
  int calls = 0;
  auto hook = metrics.OnRender([&] { metrics.gauge(Metric::kReservedMemory).Set(++calls); });
  EXPECT_THAT(metrics.Render(), HasSubstr("firn_memory_reserved_bytes 1\n"));
  hook.reset();
  metrics.Render();
  EXPECT_EQ(calls, 1);
}

TEST(MetricsDeathTest, WrongKindOrLabelsAreBrokenInvariants) {
  Metrics metrics;
  EXPECT_DEATH(metrics.gauge(Metric::kRowsRead, {"p"}), "used as what it is declared");
  EXPECT_DEATH(metrics.counter(Metric::kRowsRead), "a value for each of its labels");
}

/// docs/metrics.md as it is in the tree. With FIRN_UPDATE_DOCS set the table in it is written anew first.
std::string MetricsPage() {
  const std::string path = std::string(FIRN_SOURCE_DIR) + "/docs/metrics.md";
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  std::string page = text.str();
  const std::string begin = "<!-- metrics:begin -->\n";
  const size_t from = page.find(begin);
  const size_t to = page.find("<!-- metrics:end -->");
  if (std::getenv("FIRN_UPDATE_DOCS") != nullptr && from != std::string::npos && to != std::string::npos) {
    page.replace(from + begin.size(), to - from - begin.size(), RenderMetricsTable());
    std::ofstream(path) << page;
  }
  return page;
}

TEST(MetricsPageTest, HoldsTheTableOfTheList) {
  EXPECT_THAT(MetricsPage(),
              HasSubstr("<!-- metrics:begin -->\n" + RenderMetricsTable() + "<!-- metrics:end -->"))
      << "run this test with FIRN_UPDATE_DOCS=1";
}

TEST(MetricsPageTest, AlertRulesUseOnlyMetricsOfTheList) {
  const std::string page = MetricsPage();
  const std::string rules = page.substr(page.find("```yaml"));
  const std::regex name("(firn|process)_[a-z_]+");
  int uses = 0;
  for (std::sregex_iterator it(rules.begin(), rules.end(), name), end; it != end; ++it, ++uses) {
    const std::string used = std::regex_replace(it->str(), std::regex("_(bucket|sum|count)$"), "");
    const bool known =
        std::ranges::any_of(kMetricList, [&](const MetricInfo& info) { return info.name == used; });
    EXPECT_TRUE(known) << used;
  }
  EXPECT_GT(uses, 5);
}

}  // namespace
}  // namespace firn::obs
