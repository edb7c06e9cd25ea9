#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "firn/cli/summary.h"
#include "firn/pipeline/pipeline.h"
#include "firn/runtime/clock.h"
#include "firn/runtime/event.h"

namespace firn::cli {

/// The pipelines of one `firn run`, each on a thread of its own. One that fails does not take the others
/// along, unless `fail_fast`. The owner adds, starts, waits; `Statuses` may be called from any thread.
class RunGroup {
 public:
  /// `stop` and `abort`: requests from outside, passed on to every pipeline.
  RunGroup(runtime::Clock& clock, pipeline::RunOptions options, bool fail_fast, std::stop_token stop,
           std::stop_token abort);
  ~RunGroup();
  RunGroup(const RunGroup&) = delete;
  RunGroup& operator=(const RunGroup&) = delete;

  /// A pipeline, or the reason why it could not be made: it then counts as failed from the start.
  void Add(const pipeline::PipelineConfig& config, Result<std::unique_ptr<pipeline::Pipeline>> made,
           std::string catalog_name, std::string warehouse);
  void Start();

  /// True when every pipeline has ended; false after `ms`.
  bool WaitFor(int64_t ms);
  bool all_ended() const { return running_.load() == 0; }
  /// Gives up what is in flight; pipelines end at once.
  void Abort() { abort_.request_stop(); }
  bool stopping() const { return stop_.stop_requested(); }

  std::vector<pipeline::PipelineStatus> Statuses() const;
  /// Only after all have ended; in the order of Add.
  std::vector<EndedPipeline> Ended() const;

 private:
  struct Member;
  void RunMember(Member& member);
  pipeline::PipelineStatus StatusOf(const Member& member) const;

  runtime::Clock& clock_;
  const pipeline::RunOptions options_;
  const bool fail_fast_;
  std::stop_source stop_;
  std::stop_source abort_;
  std::stop_callback<std::function<void()>> pass_stop_on_;
  std::stop_callback<std::function<void()>> pass_abort_on_;
  std::vector<std::unique_ptr<Member>> members_;
  std::atomic<size_t> running_{0};
  runtime::Event all_ended_;
};

}  // namespace firn::cli
