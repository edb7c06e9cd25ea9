#include "firn/runtime/retry.h"

#include <algorithm>
#include <cmath>

namespace firn::runtime {

int64_t RetryPolicy::BackoffMs(int attempt, IdSource& ids) const {
  const double step = static_cast<double>(initial_backoff_ms) * std::pow(multiplier, attempt - 1);
  const double capped = std::min(step, static_cast<double>(max_backoff_ms));
  const double share = static_cast<double>(ids.Random64() >> 11U) * 0x1.0p-53;
  return std::llround(capped * (min_backoff_share + share * (1 - min_backoff_share)));
}

std::optional<int64_t> RetryState::Next(const Error& error) {
  ++attempts_;
  if (error.retry() == RetryHint::kNo || attempts_ >= policy_.max_attempts) return std::nullopt;
  const int64_t backoff_ms = policy_.BackoffMs(attempts_, ids_);
  const int64_t elapsed_ms = (clock_.MonotonicNs() - started_ns_) / 1'000'000;
  if (policy_.max_elapsed_ms > 0 && elapsed_ms + backoff_ms > policy_.max_elapsed_ms) return std::nullopt;
  return backoff_ms;
}

}  // namespace firn::runtime
