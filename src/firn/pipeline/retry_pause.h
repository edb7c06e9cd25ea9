#pragma once

#include <cstdint>

#include "firn/runtime/clock.h"

namespace firn::pipeline {

/// The pauses of a lane between tries of what has asked for patience. Never sleeps: the lane does other work.
class RetryPause {
 public:
  explicit RetryPause(const runtime::Clock& clock) : clock_(clock) {}

  bool over() const { return clock_.MonotonicNs() >= not_before_ns_; }
  /// Begins the next one. True when it takes so long that people should hear of it.
  bool Again() {
    not_before_ns_ = clock_.MonotonicNs() + kPauseNs;
    return ++tries_ > kQuietTries;
  }
  void Succeeded() { tries_ = 0; }

 private:
  static constexpr int64_t kPauseNs = 100'000'000;
  static constexpr int kQuietTries = 10;  // a first answer of a schema registry may take that long

  const runtime::Clock& clock_;
  int64_t not_before_ns_ = 0;
  int tries_ = 0;
};

}  // namespace firn::pipeline
