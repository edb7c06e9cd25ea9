#include "firn/verify/offset_set.h"

#include <algorithm>
#include <bit>

namespace firn::verify {

namespace {

constexpr uint32_t kWordBits = 64;

}  // namespace

bool OffsetSet::Block::Insert(uint16_t low) {
  if (full()) return false;
  if (bits != nullptr) {
    uint64_t& word = bits[low / kWordBits];
    const uint64_t bit = uint64_t{1} << (low % kWordBits);
    if ((word & bit) != 0) return false;
    word |= bit;
    if (++count == kBlockSize) bits.reset();
    return true;
  }
  const auto at =
      listed.empty() || listed.back() < low ? listed.end() : std::ranges::lower_bound(listed, low);
  if (at != listed.end() && *at == low) return false;
  listed.insert(at, low);
  ++count;
  if (listed.size() > kMaxListed) MakeBitmap();
  return true;
}

void OffsetSet::Block::MakeBitmap() {
  bits = std::make_unique<uint64_t[]>(kBlockSize / kWordBits);
  for (const uint16_t low : listed) bits[low / kWordBits] |= uint64_t{1} << (low % kWordBits);
  std::vector<uint16_t>().swap(listed);
}

bool OffsetSet::Block::Contains(uint16_t low) const {
  if (full()) return true;
  if (bits != nullptr) return ((bits[low / kWordBits] >> (low % kWordBits)) & 1U) != 0;
  return std::ranges::binary_search(listed, low);
}

uint32_t OffsetSet::Block::NextOut(uint32_t low) const {
  if (full()) return kBlockSize;
  if (bits != nullptr) {
    for (; low < kBlockSize; low = (low / kWordBits + 1) * kWordBits) {
      const uint64_t rest = ~bits[low / kWordBits] >> (low % kWordBits);
      if (rest != 0) return low + static_cast<uint32_t>(std::countr_zero(rest));
    }
    return kBlockSize;
  }
  auto at = std::ranges::lower_bound(listed, low);
  while (at != listed.end() && *at == low) {
    ++at;
    ++low;
  }
  return low;
}

uint32_t OffsetSet::Block::NextIn(uint32_t low) const {
  if (full()) return low;
  if (bits != nullptr) {
    for (; low < kBlockSize; low = (low / kWordBits + 1) * kWordBits) {
      const uint64_t rest = bits[low / kWordBits] >> (low % kWordBits);
      if (rest != 0) return low + static_cast<uint32_t>(std::countr_zero(rest));
    }
    return kBlockSize;
  }
  const auto at = std::ranges::lower_bound(listed, low);
  return at == listed.end() ? kBlockSize : *at;
}

bool OffsetSet::Insert(int64_t offset) {
  const int64_t key = offset >> kBlockBits;
  if (last_used_ == nullptr || key != last_used_key_) {
    last_used_ = &blocks_[key];
    last_used_key_ = key;
  }
  const bool inserted = last_used_->Insert(static_cast<uint16_t>(offset & (kBlockSize - 1)));
  size_ += inserted ? 1 : 0;
  return inserted;
}

bool OffsetSet::Contains(int64_t offset) const {
  const auto block = blocks_.find(offset >> kBlockBits);
  return block != blocks_.end() && block->second.Contains(static_cast<uint16_t>(offset & (kBlockSize - 1)));
}

int64_t OffsetSet::first() const {
  const auto& [key, block] = *blocks_.begin();
  return (key << kBlockBits) + block.NextIn(0);
}

int64_t OffsetSet::last() const {
  const auto& [key, block] = *blocks_.rbegin();
  uint32_t last = kBlockSize - 1;
  while (!block.Contains(static_cast<uint16_t>(last))) --last;
  return (key << kBlockBits) + last;
}

std::optional<OffsetRange> OffsetSet::NextGap(int64_t from, int64_t to) const {
  while (from < to) {
    const auto block = blocks_.find(from >> kBlockBits);
    if (block == blocks_.end()) return OffsetRange{from, NextIn(from, to)};
    const int64_t base = block->first << kBlockBits;
    const uint32_t out = block->second.NextOut(static_cast<uint32_t>(from - base));
    from = base + out;
    if (out < kBlockSize && from < to) return OffsetRange{from, NextIn(from, to)};
  }
  return std::nullopt;
}

// The first offset in [from, to) that is in the set; `to` when there is none.
int64_t OffsetSet::NextIn(int64_t from, int64_t to) const {
  for (auto block = blocks_.lower_bound(from >> kBlockBits); block != blocks_.end(); ++block) {
    const int64_t base = block->first << kBlockBits;
    if (base >= to) break;
    const uint32_t in = block->second.NextIn(from > base ? static_cast<uint32_t>(from - base) : 0);
    if (in < kBlockSize) return std::min(to, base + in);
  }
  return to;
}

int64_t OffsetSet::memory_bytes() const {
  int64_t bytes = 0;
  for (const auto& [key, block] : blocks_) {
    bytes += static_cast<int64_t>(sizeof(Block) + 48 + block.listed.capacity() * sizeof(uint16_t));
    if (block.bits != nullptr) bytes += kBlockSize / 8;
  }
  return bytes;
}

}  // namespace firn::verify
