#include "firn/decode/growing_buffer.h"

#include <arrow/buffer.h>
#include <arrow/memory_pool.h>

#include <algorithm>

namespace firn::decode {

namespace {

constexpr int64_t kFirstBytes = 1024;

}  // namespace

void GrowingBuffer::Grow(int64_t extra) {
  const int64_t wanted = std::max({size_ + extra, capacity_ * 2, expected_, kFirstBytes});
  if (buffer_ == nullptr) {
    auto buffer = arrow::AllocateResizableBuffer(wanted + kSlack, pool_);
    if (!buffer.ok()) throw OutOfMemory{wanted + kSlack};
    buffer_ = std::move(buffer).ValueUnsafe();
  } else if (!buffer_->Resize(wanted + kSlack, false).ok()) {
    throw OutOfMemory{wanted + kSlack};
  }
  data_ = buffer_->mutable_data();
  capacity_ = wanted;
}

std::shared_ptr<arrow::Buffer> GrowingBuffer::Finish() {
  if (buffer_ == nullptr) Grow(0);
  if (!buffer_->Resize(size_, false).ok()) throw OutOfMemory{size_};
  buffer_->ZeroPadding();
  std::shared_ptr<arrow::Buffer> done = std::move(buffer_);
  buffer_ = nullptr;
  data_ = nullptr;
  size_ = capacity_ = 0;
  return done;
}

}  // namespace firn::decode
