#include "firn/record/reserving_pool.h"

#include <arrow/status.h>

#include "firn/runtime/memory_budget.h"

namespace firn::record {

namespace {

int64_t HardLimit(int64_t limit_bytes) {
  const double limit = static_cast<double>(limit_bytes) * (1 + ReservingPool::kSlack);
  return limit >= static_cast<double>(INT64_MAX) ? INT64_MAX : static_cast<int64_t>(limit);
}

}  // namespace

ReservingPool::ReservingPool(runtime::MemoryBudget* budget, arrow::MemoryPool* backing)
    : budget_(budget),
      backing_(backing != nullptr ? backing : arrow::system_memory_pool()),
      hard_limit_bytes_(HardLimit(budget->limit_bytes())) {}

ReservingPool::~ReservingPool() = default;

arrow::Status ReservingPool::Reserve(int64_t bytes) {
  budget_->Count(bytes);
  const int64_t reserved = budget_->reserved_bytes();
  if (reserved <= hard_limit_bytes_) return arrow::Status::OK();
  budget_->Release(bytes);
  return arrow::Status::OutOfMemory(
      "cannot take ", bytes, " more bytes: ", reserved - bytes, " of ", budget_->limit_bytes(),
      " are in use: give the process more (resources.memory), or fewer lanes (resources.threads)");
}

arrow::Status ReservingPool::Allocate(int64_t size, int64_t alignment, uint8_t** out) {
  ARROW_RETURN_NOT_OK(Reserve(size));
  arrow::Status status = backing_->Allocate(size, alignment, out);
  if (!status.ok()) {
    budget_->Release(size);
    return status;
  }
  stats_.DidAllocateBytes(size);
  return status;
}

arrow::Status ReservingPool::Reallocate(int64_t old_size, int64_t new_size, int64_t alignment,
                                        uint8_t** ptr) {
  const int64_t growth = new_size - old_size;
  if (growth > 0) ARROW_RETURN_NOT_OK(Reserve(growth));
  arrow::Status status = backing_->Reallocate(old_size, new_size, alignment, ptr);
  if (!status.ok()) {
    if (growth > 0) budget_->Release(growth);
    return status;
  }
  if (growth < 0) budget_->Release(-growth);
  stats_.DidReallocateBytes(old_size, new_size);
  return status;
}

void ReservingPool::Free(uint8_t* buffer, int64_t size, int64_t alignment) {
  backing_->Free(buffer, size, alignment);
  budget_->Release(size);
  stats_.DidFreeBytes(size);
}

}  // namespace firn::record
