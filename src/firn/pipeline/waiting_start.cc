#include "firn/pipeline/waiting_start.h"

#include <algorithm>
#include <mutex>
#include <utility>

#include "firn/obs/log.h"

namespace firn::pipeline {

namespace {

constexpr int64_t kFirstPauseMs = 500;
constexpr int64_t kMaxPauseMs = 10'000;
constexpr int64_t kNsPerMs = 1'000'000;

PipelineEnd EndOfStart(const Error& error) {
  if (error.kind() == ErrorKind::kDataLoss) return PipelineEnd::kDataStop;
  return error.domain() == ErrorDomain::kUser ? PipelineEnd::kUserError : PipelineEnd::kFailed;
}

class WaitingPipeline final : public Pipeline {
 public:
  WaitingPipeline(PipelineConfig config, OpenDeps open, runtime::Clock& clock)
      : config_(std::move(config)), open_(std::move(open)), clock_(clock) {
    status_.id = config_.id;
    for (const TableConfig& table : config_.tables)
      status_.table += (status_.table.empty() ? "" : ", ") + table.name.ToString();
  }

  PipelineResult Run(const RunOptions& options, std::stop_token stop, std::stop_token abort) override {
    Result<PipelineDeps> deps = OpenPatiently(stop);
    if (!deps.ok()) return Ended(deps.error(), stop, abort);
    Pipeline& pipeline = Begin(*std::move(deps));
    return pipeline.Run(options, std::move(stop), std::move(abort));
  }

  PipelineStatus status() const override {
    const std::lock_guard lock(mutex_);
    return pipeline_ != nullptr ? pipeline_->status() : status_;
  }

 private:
  Result<PipelineDeps> OpenPatiently(const std::stop_token& stop) {
    const int64_t end_ns = clock_.MonotonicNs() + kMaxStartWaitMs * kNsPerMs;
    for (int64_t pause_ms = kFirstPauseMs;; pause_ms = std::min(pause_ms * 2, kMaxPauseMs)) {
      Result<PipelineDeps> deps = open_();
      if (deps.ok() || !WaitingMayHelp(deps.error())) return deps;
      if (stop.stop_requested() || clock_.MonotonicNs() + pause_ms * kNsPerMs > end_ns) return deps;
      Tell(deps.error(), pause_ms);
      if (!clock_.SleepUnlessStopped(pause_ms, stop)) return deps;
    }
  }

  void Tell(const Error& error, int64_t pause_ms) {
    obs::Log(obs::Level::kWarning, "waiting for a catalog to begin with",
             {{"pipeline", config_.id}, {"error", error}, {"pause_ms", pause_ms}});
    const std::lock_guard lock(mutex_);
    status_.state = PipelineState::kDegraded;
    status_.reason = "waiting to begin: " + error.ToString();
  }

  PipelineResult Ended(const Error& error, const std::stop_token& stop, const std::stop_token& abort) {
    const bool waited = WaitingMayHelp(error) && stop.stop_requested();
    const std::lock_guard lock(mutex_);
    if (waited && !abort.stop_requested()) {
      status_.state = PipelineState::kFinished;
      return {};
    }
    PipelineResult result{waited ? PipelineEnd::kInterrupted : EndOfStart(error), error.ToString()};
    status_.state = PipelineState::kFailed;
    status_.reason = result.message;
    return result;
  }

  Pipeline& Begin(PipelineDeps deps) {
    auto pipeline = MakePipeline(config_, std::move(deps));
    const std::lock_guard lock(mutex_);
    pipeline_ = std::move(pipeline);
    return *pipeline_;
  }

  const PipelineConfig config_;
  const OpenDeps open_;
  runtime::Clock& clock_;
  mutable std::mutex mutex_;
  PipelineStatus status_;               ///< until there is a pipeline
  std::unique_ptr<Pipeline> pipeline_;  ///< once the catalogs are open
};

}  // namespace

bool WaitingMayHelp(const Error& error) {
  constexpr int kRequestTimeout = 408;
  constexpr int kTooManyRequests = 429;
  constexpr int kFirstOfServer = 500;
  const int status = error.http_status();
  const bool away =
      status == 0 || status == kRequestTimeout || status == kTooManyRequests || status >= kFirstOfServer;
  return away && error.retry() == RetryHint::kYes;
}

std::unique_ptr<Pipeline> MakeWaitingPipeline(PipelineConfig config, OpenDeps open, runtime::Clock& clock) {
  return std::make_unique<WaitingPipeline>(std::move(config), std::move(open), clock);
}

}  // namespace firn::pipeline
