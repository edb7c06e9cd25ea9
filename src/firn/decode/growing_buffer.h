#pragma once

#include <cstdint>
#include <cstring>
#include <memory>

namespace arrow {
class Buffer;
class MemoryPool;
class ResizableBuffer;
}  // namespace arrow

namespace firn::decode {

/// Thrown when the memory pool refuses; caught where decode/json returns a Result.
struct OutOfMemory {
  int64_t bytes = 0;
};

/// Bytes in Arrow memory that grow at the end, can be cut back, and become an arrow::Buffer without a copy.
/// kSlack bytes behind `size` may be scribbled on by whoever has called Ensure.
class GrowingBuffer {
 public:
  static constexpr int64_t kSlack = 64;

  explicit GrowingBuffer(arrow::MemoryPool* pool) : pool_(pool) {}

  uint8_t* data() { return data_; }
  const uint8_t* data() const { return data_; }
  uint8_t* end() { return data_ + size_; }
  int64_t size() const { return size_; }

  /// The first growth takes at least this much.
  void Expect(int64_t bytes) { expected_ = bytes; }
  void Ensure(int64_t extra) {
    if (size_ + extra > capacity_) [[unlikely]]
      Grow(extra);
  }
  template <typename T>
  void Push(T value) {
    Ensure(sizeof(T));
    std::memcpy(data_ + size_, &value, sizeof(T));
    size_ += static_cast<int64_t>(sizeof(T));
  }
  void Append(const void* bytes, int64_t count) {
    Ensure(count);
    if (count > 0) std::memcpy(data_ + size_, bytes, static_cast<size_t>(count));
    size_ += count;
  }
  void AppendZeros(int64_t count) {
    Ensure(count);
    if (count > 0) std::memset(data_ + size_, 0, static_cast<size_t>(count));
    size_ += count;
  }
  /// After bytes were written behind the end, inside what Ensure made room for.
  void Advance(int64_t count) { size_ += count; }
  void Truncate(int64_t size) { size_ = size; }

  /// Hands the bytes out and starts afresh.
  std::shared_ptr<arrow::Buffer> Finish();

 private:
  void Grow(int64_t extra);

  arrow::MemoryPool* pool_;
  std::shared_ptr<arrow::ResizableBuffer> buffer_;
  uint8_t* data_ = nullptr;
  int64_t size_ = 0;
  int64_t capacity_ = 0;
  int64_t expected_ = 0;
};

}  // namespace firn::decode
