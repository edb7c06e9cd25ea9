#include "firn/runtime/manual_clock.h"

namespace firn::runtime {

int64_t ManualClock::NowMs() const {
  const std::lock_guard lock(mutex_);
  return now_ms_;
}

int64_t ManualClock::MonotonicNs() const { return elapsed_ms() * 1'000'000; }

bool ManualClock::SleepUnlessStopped(int64_t ms, const std::stop_token& stop) {
  if (stop.stop_requested()) return false;
  Advance(ms);
  return true;
}

void ManualClock::Advance(int64_t ms) {
  const std::lock_guard lock(mutex_);
  now_ms_ += ms;
  elapsed_ms_ += ms;
}

void ManualClock::SetWall(int64_t now_ms) {
  const std::lock_guard lock(mutex_);
  now_ms_ = now_ms;
}

int64_t ManualClock::elapsed_ms() const {
  const std::lock_guard lock(mutex_);
  return elapsed_ms_;
}

}  // namespace firn::runtime
