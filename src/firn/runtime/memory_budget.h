#pragma once

#include <atomic>
#include <cstdint>

namespace firn::runtime {

/// Bytes that may be reserved, process-wide. Memory is reserved before it is used; full means back-pressure or an earlier flush (invariant 9). Thread-safe.
class MemoryBudget {
 public:
  explicit MemoryBudget(int64_t limit_bytes) : limit_bytes_(limit_bytes) {}

  bool TryReserve(int64_t bytes);
  void Release(int64_t bytes);
  /// Counts what was already allocated (may exceed the limit; the overshoot shows in `pressure`).
  void Count(int64_t bytes) { reserved_.fetch_add(bytes, std::memory_order_relaxed); }
  int64_t reserved_bytes() const { return reserved_.load(std::memory_order_relaxed); }
  int64_t limit_bytes() const { return limit_bytes_; }
  /// reserved / limit.
  double pressure() const;

 private:
  const int64_t limit_bytes_;
  std::atomic<int64_t> reserved_{0};
};

}  // namespace firn::runtime
