#include "firn/record/raw_batch.h"

#include <arrow/record_batch.h>
#include <arrow/util/byte_size.h>

#include <algorithm>
#include <cstring>

#include "firn/base/check.h"

namespace firn::record {

namespace {

constexpr size_t kFirstCapacity = 64 << 10;
constexpr size_t kMaxBytes = size_t{1} << 30;  // Slice holds 32-bit offsets, with room for padding

}  // namespace

void Arena::Reserve(size_t bytes) {
  if (bytes <= capacity_) return;
  const size_t grown = std::max({bytes, capacity_ * 2, kFirstCapacity});
  auto data = std::make_unique_for_overwrite<char[]>(grown + kArenaPadding);
  if (size_ > 0) std::memcpy(data.get(), data_.get(), size_);
  std::memset(data.get() + size_, 0, kArenaPadding);
  data_ = std::move(data);
  capacity_ = grown;
}

uint32_t Arena::Append(std::string_view bytes) {
  FIRN_CHECK(bytes.size() <= kMaxBytes - size_, "a raw batch holds at most 1 GiB of payloads");
  Reserve(std::max<size_t>(size_ + bytes.size(), 1));
  const auto begin = static_cast<uint32_t>(size_);
  if (!bytes.empty()) std::memcpy(data_.get() + size_, bytes.data(), bytes.size());
  size_ += bytes.size();
  std::memset(data_.get() + size_, 0, kArenaPadding);
  return begin;
}

int64_t PayloadBytes(const RawBatch& batch) {
  const auto arena = static_cast<int64_t>(batch.arena.size());
  if (batch.rows == nullptr) return arena;
  return arena + arrow::util::ReferencedBufferSize(*batch.rows).ValueOr(0);
}

}  // namespace firn::record
