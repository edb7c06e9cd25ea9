#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

#include "firn/store/store.h"

namespace firn::store {

/// Bytes in memory as an object that is read at random.
class BytesObject final : public RandomAccessObject {
 public:
  explicit BytesObject(std::string bytes) : bytes_(std::move(bytes)) {}
  int64_t size_bytes() const override { return static_cast<int64_t>(bytes_.size()); }
  Result<int64_t> ReadAt(int64_t offset, int64_t length, void* out) override {
    const int64_t count = std::clamp<int64_t>(size_bytes() - offset, 0, length);
    if (count > 0) std::memcpy(out, bytes_.data() + offset, static_cast<size_t>(count));
    return count;
  }

 private:
  const std::string bytes_;
};

}  // namespace firn::store
