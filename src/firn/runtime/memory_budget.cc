#include "firn/runtime/memory_budget.h"

#include <utility>

#include "firn/base/check.h"

namespace firn::runtime {

bool MemoryBudget::TryReserve(int64_t bytes) {
  int64_t current = reserved_.load(std::memory_order_relaxed);
  do {
    if (bytes > limit_bytes_ - current) return false;
  } while (!reserved_.compare_exchange_weak(current, current + bytes, std::memory_order_relaxed));
  return true;
}

void MemoryBudget::Release(int64_t bytes) {
  const int64_t before = reserved_.fetch_sub(bytes, std::memory_order_relaxed);
  FIRN_CHECK(before >= bytes, "no more memory is released than was reserved");
}

double MemoryBudget::pressure() const {
  return limit_bytes_ == 0 ? 1.0 : static_cast<double>(reserved_bytes()) / static_cast<double>(limit_bytes_);
}

std::optional<Reservation> Reservation::Take(MemoryBudget& budget, int64_t bytes) {
  if (!budget.TryReserve(bytes)) return std::nullopt;
  return Reservation(budget, bytes);
}

Reservation::Reservation(Reservation&& other) noexcept
    : budget_(std::exchange(other.budget_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}

Reservation& Reservation::operator=(Reservation&& other) noexcept {
  std::swap(budget_, other.budget_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

Reservation::~Reservation() {
  if (budget_ != nullptr) budget_->Release(bytes_);
}

bool Reservation::Grow(int64_t bytes) {
  if (budget_ == nullptr || !budget_->TryReserve(bytes)) return false;
  bytes_ += bytes;
  return true;
}

void Reservation::Count(MemoryBudget& budget, int64_t bytes) {
  FIRN_CHECK(budget_ == nullptr || budget_ == &budget, "a reservation is of one budget");
  budget_ = &budget;
  budget.Count(bytes);
  bytes_ += bytes;
}

void Reservation::Merge(Reservation&& other) {
  FIRN_CHECK(budget_ == nullptr || other.budget_ == nullptr || budget_ == other.budget_,
             "a reservation is of one budget");
  if (budget_ == nullptr) budget_ = other.budget_;
  bytes_ += std::exchange(other.bytes_, 0);
  other.budget_ = nullptr;
}

}  // namespace firn::runtime
