#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

namespace firn::runtime {

/// Bytes that may be reserved, process-wide. Memory is reserved before it is used; full means back-pressure
/// or an earlier flush (invariant 9). Thread-safe.
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

/// Bytes of a budget, given back when this goes out of scope. Movable; one owner; the budget must live
/// longer.
class Reservation {
 public:
  /// Empty when the budget has not so much left.
  static std::optional<Reservation> Take(MemoryBudget& budget, int64_t bytes);

  Reservation() = default;
  Reservation(Reservation&& other) noexcept;
  Reservation& operator=(Reservation&& other) noexcept;
  ~Reservation();

  /// False, and unchanged, when the budget has not so much left.
  bool Grow(int64_t bytes);
  /// Counts bytes that are allocated already, as MemoryBudget::Count does; of one budget only.
  void Count(MemoryBudget& budget, int64_t bytes);
  /// Takes over what the other one holds of the same budget.
  void Merge(Reservation&& other);
  int64_t bytes() const { return bytes_; }

 private:
  Reservation(MemoryBudget& budget, int64_t bytes) : budget_(&budget), bytes_(bytes) {}
  MemoryBudget* budget_ = nullptr;
  int64_t bytes_ = 0;
};

}  // namespace firn::runtime
