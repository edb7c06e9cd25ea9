#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "firn/avro/schema.h"
#include "firn/base/result.h"

namespace firn::avro {

/// Reads Avro's binary encoding out of bytes that someone else made. Every length is checked against what is
/// left, varints are bounded, counts cannot exceed what the bytes can hold. Errors are kCorrupt and name the
/// offset; after one the reader is done for. Views returned point into the input. Not thread-safe.
class BinaryReader {
 public:
  explicit BinaryReader(std::string_view bytes) : bytes_(bytes) {}

  Result<bool> ReadBoolean();
  Result<int32_t> ReadInt();
  Result<int64_t> ReadLong();
  Result<float> ReadFloat();
  Result<double> ReadDouble();
  Result<std::string_view> ReadBytes();  ///< bytes and string (UTF-8 is not checked)
  Result<std::string_view> ReadFixed(int64_t size_bytes);
  /// A union's branch or an enum's symbol: 0 <= result < count.
  Result<size_t> ReadIndex(size_t count);
  /// Branch of a union node.
  Result<const Node*> ReadBranch(const Node& union_node);

  /// Calls `each` (returning Status) once per item of an array or per entry of a map, with the reader at the
  /// item (at the key).
  template <typename Each>
  Status ReadItems(const Node& node, Each&& each) {
    const int64_t min_bytes = node.items->min_bytes + (node.kind == Kind::kMap ? 1 : 0);
    int64_t free_items = kMaxFreeItems;
    while (true) {
      FIRN_ASSIGN(int64_t count, ReadBlockCount(min_bytes, free_items));
      if (count == 0) return Ok();
      for (int64_t i = 0; i < count; ++i) FIRN_TRY(each());
    }
  }

  /// Passes over one value. Nesting is bounded.
  Status Skip(const Node& node);

  size_t position() const { return at_; }
  size_t remaining() const { return bytes_.size() - at_; }

  /// Deepest nesting of values that is followed.
  static constexpr int kMaxDepth = 200;

 private:
  /// Items that take no bytes (nulls, empty records) are free for the sender, so their number is bounded
  /// apart.
  static constexpr int64_t kMaxFreeItems = 1 << 20;

  Error Corrupt(std::string_view what) const;
  Result<uint64_t> ReadVarint(int max_bytes);
  Result<int64_t> ReadBlockCount(int64_t min_bytes, int64_t& free_items);
  Status SkipAt(const Node& node, int depth);

  std::string_view bytes_;
  size_t at_ = 0;
};

/// Writes Avro's binary encoding.
class BinaryWriter {
 public:
  explicit BinaryWriter(std::string& out) : out_(out) {}

  void WriteBoolean(bool value) { out_ += value ? '\1' : '\0'; }
  void WriteInt(int32_t value) { WriteLong(value); }
  void WriteLong(int64_t value);
  void WriteFloat(float value);
  void WriteDouble(double value);
  void WriteBytes(std::string_view bytes);
  void WriteFixed(std::string_view bytes) { out_ += bytes; }
  /// Items follow, then EndItems. A count of 0 writes nothing.
  void BeginItems(size_t count);
  void EndItems() { out_ += '\0'; }

 private:
  std::string& out_;
};

}  // namespace firn::avro
