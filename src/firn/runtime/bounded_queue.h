#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <stop_token>
#include <utility>

namespace firn::runtime {

/// First in, first out, between threads; holds at most `capacity` items, so that a slow consumer slows its
/// producer down. After Close nothing goes in and what is inside still comes out. Thread-safe.
template <typename T>
class BoundedQueue {
 public:
  explicit BoundedQueue(size_t capacity) : capacity_(capacity) {}
  BoundedQueue(const BoundedQueue&) = delete;
  BoundedQueue& operator=(const BoundedQueue&) = delete;

  /// Waits for room. False when the queue is closed or `stop` requested: the item is then left as it was.
  [[nodiscard]] bool Push(T&& item, const std::stop_token& stop = {}) {
    std::unique_lock lock(mutex_);
    const bool woken = has_room_.wait(lock, stop, [this] { return closed_ || items_.size() < capacity_; });
    return woken && PushLocked(std::move(item));
  }

  /// False when there is no room or the queue is closed.
  [[nodiscard]] bool TryPush(T&& item) {
    const std::lock_guard lock(mutex_);
    return items_.size() < capacity_ && PushLocked(std::move(item));
  }

  /// Waits for an item. Empty when the queue is closed and drained, or `stop` requested.
  std::optional<T> Pop(const std::stop_token& stop = {}) {
    std::unique_lock lock(mutex_);
    has_item_.wait(lock, stop, [this] { return closed_ || !items_.empty(); });
    return stop.stop_requested() ? std::nullopt : PopLocked();
  }

  /// Like Pop; also empty when `ms` have passed.
  std::optional<T> PopFor(int64_t ms, const std::stop_token& stop = {}) {
    std::unique_lock lock(mutex_);
    has_item_.wait_for(lock, stop, std::chrono::milliseconds(ms),
                       [this] { return closed_ || !items_.empty(); });
    return stop.stop_requested() ? std::nullopt : PopLocked();
  }

  std::optional<T> TryPop() {
    const std::lock_guard lock(mutex_);
    return PopLocked();
  }

  void Close() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    has_item_.notify_all();
    has_room_.notify_all();
  }

  /// Drops everything inside; returns how much that was.
  size_t Clear() {
    std::deque<T> dropped;  // destroyed outside the lock
    const std::lock_guard lock(mutex_);
    dropped.swap(items_);
    has_room_.notify_all();
    return dropped.size();
  }

  bool closed() const {
    const std::lock_guard lock(mutex_);
    return closed_;
  }
  size_t size() const {
    const std::lock_guard lock(mutex_);
    return items_.size();
  }
  size_t capacity() const { return capacity_; }

 private:
  bool PushLocked(T&& item) {
    if (closed_) return false;
    items_.push_back(std::move(item));
    has_item_.notify_one();
    return true;
  }

  std::optional<T> PopLocked() {
    if (items_.empty()) return std::nullopt;
    std::optional<T> item(std::move(items_.front()));
    items_.pop_front();
    has_room_.notify_one();
    return item;
  }

  const size_t capacity_;
  mutable std::mutex mutex_;
  std::condition_variable_any has_item_;
  std::condition_variable_any has_room_;
  std::deque<T> items_;
  bool closed_ = false;
};

}  // namespace firn::runtime
