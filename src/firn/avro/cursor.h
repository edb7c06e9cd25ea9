#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "firn/avro/schema.h"
#include "firn/base/result.h"

namespace firn::avro {

/// BinaryReader for loops over millions of values: it makes the same checks, but a failure is `false`, and
/// the error is made when asked for. After a failure it is done for. Views returned point into the input. Not
/// thread-safe.
class Cursor {
 public:
  Cursor() = default;
  explicit Cursor(std::string_view bytes)
      : begin_(reinterpret_cast<const uint8_t*>(bytes.data())), at_(begin_), end_(begin_ + bytes.size()) {}

  bool ReadBoolean(bool* value) {
    if (at_ == end_ || *at_ > 1) return Fail("no boolean, which is 0 or 1");
    *value = *at_++ == 1;
    return true;
  }
  bool ReadLong(int64_t* value) {
    if (at_ != end_ && *at_ < 0x80) [[likely]] {
      *value = Unfold(*at_++);
      return true;
    }
    return ReadLongSlowly(value);
  }
  bool ReadInt(int32_t* value) {
    int64_t wide = 0;
    if (!ReadLong(&wide)) return false;
    *value = static_cast<int32_t>(wide);
    return *value == wide || Fail("an int of more than 32 bits");
  }
  bool ReadFloat(float* value) { return ReadRaw(value); }
  bool ReadDouble(double* value) { return ReadRaw(value); }
  bool ReadBytes(std::string_view* bytes) {
    int64_t length = 0;
    return ReadLong(&length) && ReadFixed(length, bytes);
  }
  bool ReadFixed(int64_t size_bytes, std::string_view* bytes) {
    if (size_bytes < 0 || size_bytes > end_ - at_) return Fail("a length beyond what is left");
    *bytes = {reinterpret_cast<const char*>(at_), static_cast<size_t>(size_bytes)};
    at_ += size_bytes;
    return true;
  }
  /// A union's branch or an enum's symbol: 0 <= index < count.
  bool ReadIndex(size_t count, size_t* index) {
    int64_t value = 0;
    if (!ReadLong(&value)) return false;
    *index = static_cast<size_t>(value);
    return (value >= 0 && *index < count) || Fail("a choice that the schema does not have");
  }
  /// Items of the next block of an array or map, 0 at its end. `free_items`: how many items without content
  /// may still come.
  bool ReadBlockCount(int64_t min_item_bytes, int64_t* free_items, int64_t* count);
  /// Passes over one value. Nesting is bounded.
  bool Skip(const Node& node);

  /// Ends the reading for a reason of the caller's.
  bool Refuse(std::string_view what) { return Fail(what); }

  size_t position() const { return static_cast<size_t>(at_ - begin_); }
  size_t remaining() const { return static_cast<size_t>(end_ - at_); }
  const uint8_t* data() const { return at_; }
  /// What was wrong, with the offset.
  std::string Explain() const;

  /// Items that take no bytes (nulls, empty records) are free for the sender, so their number is bounded.
  static constexpr int64_t kMaxFreeItems = 1 << 20;

 private:
  static int64_t Unfold(uint64_t raw) { return static_cast<int64_t>((raw >> 1) ^ (~(raw & 1) + 1)); }
  bool Fail(std::string_view what) {
    what_ = what;
    return false;
  }
  bool ReadLongSlowly(int64_t* value);
  template <typename T>
  bool ReadRaw(T* value) {
    if (end_ - at_ < static_cast<ptrdiff_t>(sizeof(T))) return Fail("ends inside a number");
    std::memcpy(value, at_, sizeof(T));
    at_ += sizeof(T);
    return true;
  }

  const uint8_t* begin_ = nullptr;
  const uint8_t* at_ = nullptr;
  const uint8_t* end_ = nullptr;
  std::string_view what_;
  std::string detail_;
};

}  // namespace firn::avro
