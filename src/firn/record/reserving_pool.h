#pragma once

#include <arrow/memory_pool.h>

#include <cstdint>
#include <string>

namespace firn::runtime {
class MemoryBudget;
}

namespace firn::record {

/// Arrow's memory, counted on the process's budget (invariant 9). Thread-safe; the budget and the backing
/// pool outlive it.
///
/// Two limits: the budget's own limit is soft here. Arrow asks for memory in the middle of a step that was
/// admitted before (the pipeline holds back new input while the budget is full), so what goes a little over
/// is counted, not refused: it shows as pressure and leads to an earlier flush. Only beyond limit x (1 +
/// kSlack) does an allocation fail, with arrow::Status::OutOfMemory, which the stages hand on as
/// kResourceExhausted.
class ReservingPool : public arrow::MemoryPool {
 public:
  static constexpr double kSlack = 0.5;

  /// `backing` null: arrow::system_memory_pool(), that is the process's own allocator.
  explicit ReservingPool(runtime::MemoryBudget* budget, arrow::MemoryPool* backing = nullptr);
  ~ReservingPool() override;

  using arrow::MemoryPool::Allocate;
  using arrow::MemoryPool::Free;
  using arrow::MemoryPool::Reallocate;

  arrow::Status Allocate(int64_t size, int64_t alignment, uint8_t** out) override;
  arrow::Status Reallocate(int64_t old_size, int64_t new_size, int64_t alignment, uint8_t** ptr) override;
  void Free(uint8_t* buffer, int64_t size, int64_t alignment) override;

  int64_t bytes_allocated() const override { return stats_.bytes_allocated(); }
  int64_t max_memory() const override { return stats_.max_memory(); }
  int64_t total_bytes_allocated() const override { return stats_.total_bytes_allocated(); }
  int64_t num_allocations() const override { return stats_.num_allocations(); }
  std::string backend_name() const override { return backing_->backend_name(); }

 private:
  arrow::Status Reserve(int64_t bytes);

  runtime::MemoryBudget* const budget_;
  arrow::MemoryPool* const backing_;
  const int64_t hard_limit_bytes_;
  arrow::internal::MemoryPoolStats stats_;
};

}  // namespace firn::record
