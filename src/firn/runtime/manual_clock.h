#pragma once

#include <cstdint>
#include <mutex>

#include "firn/runtime/clock.h"

namespace firn::runtime {

/// A clock that stands still until told: tests and simulations. Sleeping moves it on and returns at once.
/// Thread-safe.
class ManualClock final : public Clock {
 public:
  explicit ManualClock(int64_t now_ms = 1'700'000'000'000) : now_ms_(now_ms) {}

  int64_t NowMs() const override;
  int64_t MonotonicNs() const override;
  void SleepMs(int64_t ms) override { Advance(ms); }
  bool SleepUnlessStopped(int64_t ms, const std::stop_token& stop) override;

  /// Moves both clocks on.
  void Advance(int64_t ms);
  /// Sets the wall clock only, as an administrator or NTP would.
  void SetWall(int64_t now_ms);
  /// Sum of all sleeps and Advance calls.
  int64_t elapsed_ms() const;

 private:
  mutable std::mutex mutex_;
  int64_t now_ms_;
  int64_t elapsed_ms_ = 0;
};

}  // namespace firn::runtime
