#pragma once

#include <string>

namespace firn::obs {

/// The table of all metrics in Markdown, as docs/metrics.md holds it between its `metrics:begin` and
/// `metrics:end` marks.
std::string RenderMetricsTable();

}  // namespace firn::obs
