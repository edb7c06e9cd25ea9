#include "firn/cli/progress.h"

#include <algorithm>

#include <fmt/format.h>

#include "firn/base/units.h"
#include "firn/cli/counted.h"
#include "firn/cli/text_table.h"

namespace firn::cli {

namespace {

constexpr int64_t kWindowNs = 5'000'000'000;
constexpr size_t kBarWidth = 20;

std::string Done(int64_t done, int64_t target, bool with_bar) {
  const double share =
      target > 0 ? std::min(1.0, static_cast<double>(done) / static_cast<double>(target)) : 1.0;
  const auto filled = static_cast<size_t>(share * kBarWidth);
  const std::string percent = fmt::format("{:.0f} %", share * 100);
  return with_bar ? fmt::format("[{}{}] {}", std::string(filled, '#'), std::string(kBarWidth - filled, '.'),
                                percent)
                  : percent;
}

std::string LagText(const pipeline::PipelineStatus& status, bool with_age) {
  if (status.lag_records < 0 && status.lag_files < 0) return "lag ?";
  std::string text = status.lag_files < 0 ? fmt::format("lag {}", HumanCount(status.lag_records))
                                          : fmt::format("{} waiting, {}", Counted(status.lag_files, "file"),
                                                        HumanBytes(status.lag_bytes));
  if (with_age && status.freshness_ms > 0)
    text += fmt::format(", {} behind", HumanDurationMs(status.freshness_ms));
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

constexpr int kMostTerse = 3;

struct Speed {
  double rows_per_s = 0;
  double bytes_per_s = 0;
};

/// What follows the state; a narrower terminal gets a higher level, which leaves the less important things
/// out.
std::string Details(const pipeline::PipelineStatus& status, const Speed& speed, int64_t now_ms, int level) {
  std::string text;
  if (status.total_records_target >= 0)
    text += "  " + Done(Settled(status), status.total_records_target, level < 1);
  text += fmt::format("  {} rows/s", HumanShort(speed.rows_per_s));
  if (level < 3) text += fmt::format("  {}/s", HumanBytes(static_cast<int64_t>(speed.bytes_per_s)));
  text += fmt::format("  {}  {}", LagText(status, level < 2), CommitText(status, now_ms));
  if (status.dead_letters > 0) text += fmt::format("  {}", Counted(status.dead_letters, "dead letter"));
  if (!status.reason.empty()) text += "  " + Printable(status.reason);
  return text;
}

}  // namespace

std::string LiveLine(const pipeline::PipelineStatus& status, double rows_per_s, double bytes_per_s,
                     int64_t now_ms, int width) {
  const auto room = static_cast<size_t>(std::max(width, 1));
  const std::string head = fmt::format("{}  {}", Printable(status.id), pipeline::ToString(status.state));
  if (status.state == pipeline::PipelineState::kFailed)
    return Shortened(head + "  " + Printable(status.reason), room);
  std::string line;
  for (int level = 0; level <= kMostTerse; ++level) {
    line = head + Details(status, {rows_per_s, bytes_per_s}, now_ms, level);
    if (DisplayWidth(line) <= room) break;
  }
  return Shortened(line, room);
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
