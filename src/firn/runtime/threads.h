#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

namespace firn::runtime {

/// A thread that was started. Its owner joins it.
class Thread {
 public:
  virtual ~Thread() = default;
  /// Returns when the body has ended. Once, and before the destructor.
  virtual void Join() = 0;
};

/// What threads wait at for each other. The mutex guards what is waited for, and is never held across
/// anything else that waits. Thread-safe; must outlive its waiters.
class Condition {
 public:
  virtual ~Condition() = default;
  /// Waits until told; may also return for no reason.
  virtual void WaitOnce(std::unique_lock<std::mutex>& lock) = 0;
  /// The same, at most `ms`.
  virtual void WaitOnceFor(std::unique_lock<std::mutex>& lock, int64_t ms) = 0;
  virtual void NotifyAll() = 0;

  template <typename Predicate>
  void Wait(std::unique_lock<std::mutex>& lock, Predicate is_over) {
    while (!is_over()) WaitOnce(lock);
  }
};

/// Where threads and their waiting come from, by constructor: the system's, or in test/sim one thread on
/// which everything takes turns in an order that a seed decides. Asked once a thread and once a thing that is
/// waited for, never in the way of records.
class Threads {
 public:
  virtual ~Threads() = default;
  /// `body` must not throw. The name is for top, gdb and fatal reports (cut to 15 bytes).
  virtual std::unique_ptr<Thread> Start(std::string name, std::function<void()> body) = 0;
  virtual std::unique_ptr<Condition> MakeCondition() = 0;
};

Threads& SystemThreads();

/// Lets one pass at a time, and may be held while waiting for other things, a catalog's answer say. For
/// std::lock_guard. Thread-safe.
class Turnstile {
 public:
  explicit Turnstile(Threads& threads) : left_(threads.MakeCondition()) {}
  void lock();
  void unlock();

 private:
  std::mutex mutex_;
  std::unique_ptr<Condition> left_;
  bool taken_ = false;
};

}  // namespace firn::runtime
