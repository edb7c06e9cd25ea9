#pragma once

#include <cstdint>
#include <vector>

#include "firn/base/int128.h"

namespace firn::write {

/// Dense ids for 64-bit keys, in the order of appearance: an open hash table without deletion.
class DenseIds {
 public:
  DenseIds() { Clear(); }

  uint32_t IdOf(uint64_t key) {
    for (size_t slot = Hash(key) & mask_;; slot = (slot + 1) & mask_) {
      if (slots_[slot] == kEmpty) return Insert(slot, key);
      if (keys_[slots_[slot]] == key) return slots_[slot];
    }
  }
  uint64_t key(uint32_t id) const { return keys_[id]; }
  size_t size() const { return keys_.size(); }
  void Clear() {
    keys_.clear();
    slots_.assign(kFirstSlots, kEmpty);
    mask_ = kFirstSlots - 1;
  }

 private:
  static constexpr uint32_t kEmpty = UINT32_MAX;
  static constexpr size_t kFirstSlots = 64;

  static size_t Hash(uint64_t key) {
    const UInt128 product = static_cast<UInt128>(key ^ 0x9E3779B97F4A7C15ULL) * 0xD6E8FEB86659FD93ULL;
    return static_cast<size_t>(static_cast<uint64_t>(product >> 64) ^ static_cast<uint64_t>(product));
  }
  uint32_t Insert(size_t slot, uint64_t key) {
    const auto id = static_cast<uint32_t>(keys_.size());
    slots_[slot] = id;
    keys_.push_back(key);
    if (keys_.size() * 2 > slots_.size()) Grow();
    return id;
  }
  void Grow() {
    mask_ = slots_.size() * 2 - 1;
    slots_.assign(mask_ + 1, kEmpty);
    for (uint32_t id = 0; id < keys_.size(); ++id) {
      size_t slot = Hash(keys_[id]) & mask_;
      while (slots_[slot] != kEmpty) slot = (slot + 1) & mask_;
      slots_[slot] = id;
    }
  }

  std::vector<uint64_t> keys_;
  std::vector<uint32_t> slots_;
  size_t mask_ = 0;
};

}  // namespace firn::write
