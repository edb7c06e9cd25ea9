#include "firn/runtime/clock.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include "firn/runtime/event.h"

namespace firn::runtime {

namespace {

class RealClock final : public Clock {
 public:
  int64_t NowMs() const override {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
  }
  int64_t MonotonicNs() const override {
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
  }
  void SleepMs(int64_t ms) override { std::this_thread::sleep_for(std::chrono::milliseconds(ms)); }
  bool SleepUnlessStopped(int64_t ms, const std::stop_token& stop) override {
    Event never;
    never.WaitFor(ms, stop);
    return !stop.stop_requested();
  }
};

}  // namespace

bool Clock::SleepUnlessStopped(int64_t ms, const std::stop_token& stop) {
  constexpr int64_t kSliceMs = 20;
  while (ms > 0 && !stop.stop_requested()) {
    SleepMs(std::min(ms, kSliceMs));
    ms -= kSliceMs;
  }
  return !stop.stop_requested();
}

Clock& SystemClock() {
  static RealClock clock;
  return clock;
}

}  // namespace firn::runtime
