#include "firn/obs/metrics_page.h"

#include <fmt/format.h>

#include "firn/obs/metric_list.h"

namespace firn::obs {

namespace {

std::string_view KindName(MetricKind kind) {
  switch (kind) {
    case MetricKind::kCounter:
      return "counter";
    case MetricKind::kGauge:
      return "gauge";
    case MetricKind::kHistogram:
      return "histogram";
  }
  return "?";
}

std::string LabelList(const MetricInfo& info) {
  std::string out;
  for (size_t i = 0; i < LabelCount(info); ++i)
    out += fmt::format("{}`{}`", out.empty() ? "" : ", ", info.labels.at(i));
  return out;
}

}  // namespace

std::string RenderMetricsTable() {
  std::string out = "| Metric | Kind | Labels | Meaning |\n|---|---|---|---|\n";
  for (const MetricInfo& info : kMetricList) {
    out +=
        fmt::format("| `{}` | {} | {} | {} |\n", info.name, KindName(info.kind), LabelList(info), info.help);
  }
  return out;
}

}  // namespace firn::obs
