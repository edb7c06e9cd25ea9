#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "firn/runtime/threads.h"

namespace firn::runtime {

/// What a task of an executor will have returned (Executor::Async). Like std::future, but it waits as its
/// Threads do. One owner; gives its value away once.
template <typename R>
class Future {
 public:
  /// What the task's side holds: it sets the value once.
  class Promise {
   public:
    explicit Promise(Threads& threads) : set_(threads.MakeCondition()) {}

    void Set(R value) {
      const std::lock_guard lock(mutex_);
      value_.emplace(std::move(value));
      set_->NotifyAll();
    }

   private:
    friend class Future;
    mutable std::mutex mutex_;
    std::unique_ptr<Condition> set_;
    std::optional<R> value_;
  };

  explicit Future(std::shared_ptr<Promise> promise) : promise_(std::move(promise)) {}

  bool ready() const {
    const std::lock_guard lock(promise_->mutex_);
    return promise_->value_.has_value();
  }
  void Wait() const {
    std::unique_lock lock(promise_->mutex_);
    promise_->set_->Wait(lock, [this] { return promise_->value_.has_value(); });
  }
  /// At most `ms`; may return sooner.
  void WaitFor(int64_t ms) const {
    std::unique_lock lock(promise_->mutex_);
    if (!promise_->value_) promise_->set_->WaitOnceFor(lock, ms);
  }
  /// Waits and gives the value away; the future is then empty.
  R Get() {
    Wait();
    const auto promise = std::exchange(promise_, nullptr);
    return *std::move(promise->value_);
  }

 private:
  std::shared_ptr<Promise> promise_;
};

}  // namespace firn::runtime
