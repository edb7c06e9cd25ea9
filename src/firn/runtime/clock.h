#pragma once

#include <cstdint>

namespace firn::runtime {

/// Time comes in by constructor; nobody outside runtime/ asks the system.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual int64_t NowMs() const = 0;          ///< wall clock, Unix epoch
  virtual int64_t MonotonicNs() const = 0;    ///< for durations
  /// Sleeps; returns early (false) when `stop` is requested, see stop-aware waits in executor.h.
  virtual void SleepMs(int64_t ms) = 0;
};

Clock& SystemClock();

}  // namespace firn::runtime
