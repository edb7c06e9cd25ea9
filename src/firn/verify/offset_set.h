#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

namespace firn::verify {

/// [from, to).
struct OffsetRange {
  int64_t from = 0;
  int64_t to = 0;
  int64_t size() const { return to - from; }
  bool operator==(const OffsetRange&) const = default;
};

/// A set of offsets of one partition, in blocks of 65,536: a block with few offsets lists them (2 bytes
/// each), one with many is a bitmap (8 KiB), and one that is full takes nothing. So a partition without holes
/// costs about a bit for each record while it fills, and next to nothing afterwards, in whatever order they
/// come.
class OffsetSet {
 public:
  /// False: it was in already.
  bool Insert(int64_t offset);
  bool Contains(int64_t offset) const;
  int64_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  int64_t first() const;  ///< not of an empty set
  int64_t last() const;   ///< not of an empty set
  /// The first run of offsets in [from, to) that are not in the set, as long as it goes; empty when all are.
  std::optional<OffsetRange> NextGap(int64_t from, int64_t to) const;
  /// About what it takes.
  int64_t memory_bytes() const;

 private:
  static constexpr int kBlockBits = 16;
  static constexpr uint32_t kBlockSize = 1U << kBlockBits;
  static constexpr size_t kMaxListed = 4096;

  /// One of: full, a bitmap, or an ascending list.
  struct Block {
    std::vector<uint16_t> listed;
    std::unique_ptr<uint64_t[]> bits;
    uint32_t count = 0;
    bool full() const { return count == kBlockSize; }
    bool Insert(uint16_t low);
    bool Contains(uint16_t low) const;
    void MakeBitmap();
    /// First offset >= low that is (not) in the block; kBlockSize when there is none.
    uint32_t NextOut(uint32_t low) const;
    uint32_t NextIn(uint32_t low) const;
  };

  int64_t NextIn(int64_t from, int64_t to) const;

  std::map<int64_t, Block> blocks_;  ///< by offset >> kBlockBits
  Block* last_used_ = nullptr;
  int64_t last_used_key_ = -1;
  int64_t size_ = 0;
};

}  // namespace firn::verify
