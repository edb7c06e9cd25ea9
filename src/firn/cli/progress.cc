#include "firn/cli/progress.h"

#include <algorithm>

#include <fmt/format.h>

#include "firn/base/units.h"
#include "firn/cli/text_table.h"

namespace firn::cli {

namespace {

constexpr int64_t kWindowNs = 5'000'000'000;
constexpr size_t kBarWidth = 20;

std::string Bar(int64_t done, int64_t target) {
  const double share =
      target > 0 ? std::min(1.0, static_cast<double>(done) / static_cast<double>(target)) : 1.0;
  const auto filled = static_cast<size_t>(share * kBarWidth);
  return fmt::format("[{}{}] {:3.0f} %", std::string(filled, '#'), std::string(kBarWidth - filled, '.'),
                     share * 100);
}

std::string LagText(const pipeline::PipelineStatus& status) {
  if (status.lag_records < 0) return "lag ?";
  std::string text = fmt::format("lag {}", HumanCount(status.lag_records));
  if (status.freshness_ms > 0) text += fmt::format(", {} behind", HumanDurationMs(status.freshness_ms));
  return text;
}

std::string CommitText(const pipeline::PipelineStatus& status, int64_t now_ms) {
  if (status.last_commit_ms == 0) return "no commit yet";
  return fmt::format("commit {} ago (#{})",
                     HumanDurationMs(std::max<int64_t>(0, now_ms - status.last_commit_ms)), status.commits);
}

/// Records of a bounded run that ended somewhere: rows, dead letters and what was skipped on purpose.
int64_t Settled(const pipeline::PipelineStatus& status) {
  return status.rows_committed + status.dead_letters + status.skipped + status.tombstones_skipped;
}

}  // namespace

std::string LiveLine(const pipeline::PipelineStatus& status, double rows_per_s, double bytes_per_s,
                     int64_t now_ms, int width) {
  std::string line = fmt::format("{}  {}", Printable(status.id), pipeline::ToString(status.state));
  if (status.total_records_target >= 0) line += "  " + Bar(Settled(status), status.total_records_target);
  line +=
      fmt::format("  {} rows/s  {}/s", HumanShort(rows_per_s), HumanBytes(static_cast<int64_t>(bytes_per_s)));
  line += fmt::format("  {}  {}", LagText(status), CommitText(status, now_ms));
  if (status.dead_letters > 0) line += fmt::format("  {} dead letters", HumanCount(status.dead_letters));
  if (!status.reason.empty()) line += "  " + Printable(status.reason);
  return Shortened(line, static_cast<size_t>(std::max(width, 1)));
}

Progress::Rate Progress::RateOf(const pipeline::PipelineStatus& status, int64_t monotonic_ns) {
  std::vector<Sample>& samples = samples_[status.id];
  samples.push_back({monotonic_ns, status.rows_decoded, status.input_bytes});
  while (samples.size() > 2 && samples[1].monotonic_ns < monotonic_ns - kWindowNs)
    samples.erase(samples.begin());
  const Sample& first = samples.front();
  const double seconds = static_cast<double>(monotonic_ns - first.monotonic_ns) / 1e9;
  if (seconds <= 0) return {};
  return {static_cast<double>(status.rows_decoded - first.rows) / seconds,
          static_cast<double>(status.input_bytes - first.bytes) / seconds};
}

std::string Progress::Text(const std::vector<pipeline::PipelineStatus>& statuses, int64_t monotonic_ns,
                           int64_t now_ms, int width) {
  std::string text;
  for (const pipeline::PipelineStatus& status : statuses) {
    const Rate rate = RateOf(status, monotonic_ns);
    text += LiveLine(status, rate.rows_per_s, rate.bytes_per_s, now_ms, width) + "\n";
  }
  return text;
}

}  // namespace firn::cli
