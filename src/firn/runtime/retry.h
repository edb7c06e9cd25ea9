#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <utility>

#include "firn/base/result.h"
#include "firn/runtime/clock.h"
#include "firn/runtime/ids.h"

namespace firn::runtime {

/// How often and how long. A value: it stands in configs and constructors, and the tests of a policy need no
/// clock.
struct RetryPolicy {
  int max_attempts = 5;  ///< in all, the first included; at least 1
  int64_t initial_backoff_ms = 100;
  int64_t max_backoff_ms = 10'000;
  double multiplier = 2.0;
  int64_t max_elapsed_ms = 60'000;  ///< no further try begins after this; 0: no bound
  double min_backoff_share = 0.5;   ///< of the exponential step; 0: full jitter, for a server that many ask

  /// The pause after failed try `attempt` (from 1): between `min_backoff_share` of and the whole exponential
  /// step, so that many clients that failed together do not come back together.
  int64_t BackoffMs(int attempt, IdSource& ids) const;
};

/// Told before each pause; log or count here.
using OnRetry = std::function<void(const Error& error, int attempt, int64_t backoff_ms)>;

/// The decisions of one run of tries. For loops that cannot be written as a function for Retry.
class RetryState {
 public:
  RetryState(const RetryPolicy& policy, Clock& clock, IdSource& ids)
      : policy_(policy), clock_(clock), ids_(ids), started_ns_(clock.MonotonicNs()) {}
  /// After a failed try: the pause before the next one, or empty when `error` is final (not retriable, or
  /// tries or time used up).
  std::optional<int64_t> Next(const Error& error);
  int attempts() const { return attempts_; }

 private:
  RetryPolicy policy_;
  Clock& clock_;
  IdSource& ids_;
  int64_t started_ns_;
  int attempts_ = 0;
};

/// Calls `function` (returning a Result or Status) until it succeeds, fails for good, or `stop` is requested;
/// the answer is that of the last try. Only errors that say RetryHint::kYes are tried again. What must be
/// rebuilt before each try belongs inside `function`.
template <typename F>
auto Retry(const RetryPolicy& policy, Clock& clock, IdSource& ids, const std::stop_token& stop, F&& function,
           const OnRetry& on_retry = {}) -> decltype(function()) {
  RetryState state(policy, clock, ids);
  while (true) {
    auto result = function();
    if (result.ok()) return result;
    const std::optional<int64_t> backoff_ms = state.Next(result.error());
    if (!backoff_ms || stop.stop_requested()) return result;
    if (on_retry) on_retry(result.error(), state.attempts(), *backoff_ms);
    if (!clock.SleepUnlessStopped(*backoff_ms, stop)) return result;
  }
}

}  // namespace firn::runtime
