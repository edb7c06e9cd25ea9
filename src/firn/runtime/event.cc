#include "firn/runtime/event.h"

#include <chrono>

namespace firn::runtime {

void Event::Set() {
  const std::lock_guard lock(mutex_);
  set_ = true;
  changed_.notify_all();
}

void Event::Reset() {
  const std::lock_guard lock(mutex_);
  set_ = false;
}

bool Event::is_set() const {
  const std::lock_guard lock(mutex_);
  return set_;
}

bool Event::Wait(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  return changed_.wait(lock, stop, [this] { return set_; });
}

bool Event::WaitFor(int64_t ms, const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, stop, std::chrono::milliseconds(ms), [this] { return set_; });
}

}  // namespace firn::runtime
