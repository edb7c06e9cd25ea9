#pragma once

#include <cstdint>
#include <functional>

#include "firn/base/result.h"
#include "firn/runtime/clock.h"

namespace firn::pipeline {

/// Told of each retriable error, pauses, and says whether to try again.
using Patience = std::function<bool(const Error&)>;

/// For a look at the data by hand: a registry gets a moment to answer.
inline Patience BriefPatience(runtime::Clock& clock) {
  constexpr int64_t kNsPerMs = 1'000'000;
  constexpr int64_t kLimitMs = 15'000;
  constexpr int64_t kPauseMs = 100;
  return [&clock, end_ns = clock.MonotonicNs() + kLimitMs * kNsPerMs](const Error&) {
    clock.SleepMs(kPauseMs);
    return clock.MonotonicNs() < end_ns;
  };
}

/// Calls until the answer is no retriable error or patience has run out.
template <typename Call>
auto CallPatiently(const Patience& patience, Call&& call) -> decltype(call()) {
  for (;;) {
    auto result = call();
    if (result.ok() || result.error().retry() == RetryHint::kNo || !patience(result.error())) return result;
  }
}

}  // namespace firn::pipeline
