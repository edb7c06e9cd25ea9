#pragma once

#include <cstdint>
#include <stop_token>

namespace firn::runtime {

/// Time comes in by constructor; nobody outside runtime/ asks the system. Thread-safe.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual int64_t NowMs() const = 0;        ///< wall clock, Unix epoch
  virtual int64_t MonotonicNs() const = 0;  ///< for durations
  virtual void SleepMs(int64_t ms) = 0;
  /// Sleeps; returns false, and early, when `stop` is requested before the time is over.
  virtual bool SleepUnlessStopped(int64_t ms, const std::stop_token& stop);
};

Clock& SystemClock();

}  // namespace firn::runtime
