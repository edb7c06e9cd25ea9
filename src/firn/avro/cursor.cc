#include "firn/avro/cursor.h"

#include <limits>

#include <fmt/format.h>

#include "firn/avro/binary.h"

namespace firn::avro {

bool Cursor::ReadLongSlowly(int64_t* value) {
  uint64_t raw = 0;
  for (int i = 0; i < 10; ++i) {
    if (at_ == end_) return Fail("ends inside a number");
    const uint8_t byte = *at_++;
    // The tenth byte has room for one bit of 64.
    if (i == 9 && byte > 1) return Fail("a number of more than 64 bits");
    raw |= uint64_t{byte & 0x7FU} << (7 * i);
    if (byte < 0x80) {
      *value = Unfold(raw);
      return true;
    }
  }
  return Fail("a number that does not end");
}

bool Cursor::ReadBlockCount(int64_t min_item_bytes, int64_t* free_items, int64_t* count) {
  if (!ReadLong(count)) return false;
  if (*count == std::numeric_limits<int64_t>::min()) return Fail("an absurd item count");
  if (*count < 0) {
    *count = -*count;
    int64_t block_bytes = 0;
    if (!ReadLong(&block_bytes)) return false;
    if (block_bytes < 0 || block_bytes > end_ - at_) return Fail("a block longer than the data");
  }
  if (min_item_bytes > 0) {
    return *count <= (end_ - at_) / min_item_bytes || Fail("more items announced than the data can hold");
  }
  if (*count > *free_items) return Fail("too many items without content");
  *free_items -= *count;
  return true;
}

bool Cursor::Skip(const Node& node) {
  BinaryReader reader({reinterpret_cast<const char*>(at_), remaining()});
  const Status skipped = reader.Skip(node);
  at_ += reader.position();
  if (skipped.ok()) return true;
  detail_ = skipped.error().message();
  return false;
}

std::string Cursor::Explain() const {
  if (!detail_.empty()) return detail_;
  return fmt::format("Avro data, offset {}: {}", position(), what_);
}

}  // namespace firn::avro
