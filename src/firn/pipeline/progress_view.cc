#include "firn/pipeline/progress_view.h"

#include <algorithm>
#include <utility>

namespace firn::pipeline {

namespace {

using record::SourcePartition;

constexpr int64_t kNsPerMs = 1'000'000;
constexpr int64_t kTroubleLogMs = 10'000;
constexpr int64_t kTroubleShowsMs = 10'000;

}  // namespace

ProgressView::ProgressView(std::string pipeline_id, StatusBoard& status, PipelineMetrics& metrics,
                           runtime::Clock& clock)
    : pipeline_id_(std::move(pipeline_id)),
      status_(status),
      metrics_(metrics),
      clock_(clock),
      trouble_log_(kTroubleLogMs) {}

void ProgressView::Trouble(const Error& error) {
  trouble_log_.Log(obs::Level::kWarning, "trouble, trying again",
                   {{"pipeline", pipeline_id_}, {"error", error}});
  trouble_until_ns_ = clock_.MonotonicNs() + kTroubleShowsMs * kNsPerMs;
  status_.Write([&](PipelineStatus& s) {
    s.state = PipelineState::kDegraded;
    s.reason = error.ToString();
  });
}

void ProgressView::WaitsToBegin(const Error& error) {
  trouble_log_.Log(obs::Level::kWarning, "waiting to begin", {{"pipeline", pipeline_id_}, {"error", error}});
  status_.Write([&](PipelineStatus& s) {
    s.state = PipelineState::kDegraded;
    s.reason = "waiting to begin: " + error.ToString();
  });
}

void ProgressView::Lag(const std::map<SourcePartition, source::PartitionBounds>& bounds,
                       const std::map<SourcePartition, int64_t>& positions) {
  std::map<SourcePartition, int64_t> lag;
  std::map<SourcePartition, int64_t> headroom;
  int64_t total = 0;
  for (const auto& [partition, next] : positions) {
    const auto bound = bounds.find(partition);
    if (bound != bounds.end() && !bound->second.end) return;  // told in files and bytes
    lag[partition] = bound == bounds.end() ? 0 : std::max<int64_t>(0, *bound->second.end - next);
    total += lag[partition];
    if (bound != bounds.end())
      headroom[partition] = *bound->second.end - lag[partition] - bound->second.first;
  }
  std::map<SourcePartition, int64_t> ages = LagAges(lag);
  metrics_.Lag(lag, headroom);
  metrics_.LagSeconds(ages);
  status_.Write([&](PipelineStatus& s) {
    s.lag = std::move(lag);
    s.lag_age_ms = std::move(ages);
    s.lag_records = total;
  });
}

// Since when not all of each partition is committed.
std::map<SourcePartition, int64_t> ProgressView::LagAges(const std::map<SourcePartition, int64_t>& lag) {
  const int64_t now_ms = clock_.NowMs();
  std::erase_if(at_end_ms_, [&](const auto& entry) { return !lag.contains(entry.first); });
  std::map<SourcePartition, int64_t> ages;
  for (const auto& [partition, records] : lag) {
    int64_t& at_end = at_end_ms_.try_emplace(partition, now_ms).first->second;
    if (records == 0) at_end = now_ms;
    ages[partition] = now_ms - at_end;
  }
  return ages;
}

void ProgressView::Backlog(const std::optional<source::Backlog>& backlog) {
  if (!backlog) return;
  metrics_.Backlog(backlog->files, backlog->bytes);
  status_.Write([&](PipelineStatus& s) {
    s.lag_files = backlog->files;
    s.lag_bytes = backlog->bytes;
  });
}

void ProgressView::ValidThrough(int64_t time_ms) {
  if (time_ms <= valid_through_ms_) return;
  valid_through_ms_ = time_ms;
  metrics_.ValidThrough(time_ms);
  status_.Write([time_ms](PipelineStatus& s) { s.valid_through_ms = time_ms; });
}

void ProgressView::Show(const Counters& counters) {
  metrics_.Read(counters.rows, counters.bytes);
  metrics_.Freshness(counters.filling_ms);
  metrics_.OpenFiles(counters.open_files);
  metrics_.Prefetched(counters.prefetched_bytes);
  metrics_.State(status_.state());
  const bool troubled = trouble_until_ns_ > 0 && clock_.MonotonicNs() <= trouble_until_ns_;
  status_.Write([&](PipelineStatus& s) {
    s.rows_decoded = counters.rows;
    s.input_bytes = counters.bytes;
    if (s.lag_records >= 0 || s.lag_files >= 0) s.freshness_ms = counters.filling_ms;
    if (troubled) return;
    if (!counters.failures.empty()) {
      s.state = PipelineState::kDegraded;
      s.reason = counters.failures;
    } else if (s.state == PipelineState::kDegraded) {
      s.state = PipelineState::kRunning;
      s.reason.clear();
    }
  });
}

}  // namespace firn::pipeline
