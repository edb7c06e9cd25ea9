#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <stop_token>

namespace firn::runtime {

/// A flag that threads wait for, stop-aware. Thread-safe; must outlive its waiters.
class Event {
 public:
  void Set();
  void Reset();
  bool is_set() const;
  /// True when the event is set; false when `stop` was requested first.
  bool Wait(const std::stop_token& stop);
  /// Like Wait; also false when `ms` have passed.
  bool WaitFor(int64_t ms, const std::stop_token& stop = {});

 private:
  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  bool set_ = false;
};

}  // namespace firn::runtime
