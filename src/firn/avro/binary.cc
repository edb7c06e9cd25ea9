#include "firn/avro/binary.h"

#include <bit>
#include <cstring>
#include <limits>

#include <fmt/format.h>

namespace firn::avro {

static_assert(std::endian::native == std::endian::little, "floats are copied as they are");

Error BinaryReader::Corrupt(std::string_view what) const {
  return {ErrorKind::kCorrupt, fmt::format("Avro data, offset {}: {}", at_, what)};
}

Result<uint64_t> BinaryReader::ReadVarint(int max_bytes) {
  uint64_t value = 0;
  for (int i = 0; i < max_bytes; ++i) {
    if (at_ >= bytes_.size()) return Corrupt("ends inside a number");
    auto byte = static_cast<uint8_t>(bytes_[at_++]);
    // The tenth byte has room for one bit of 64.
    if (i == 9 && byte > 1) return Corrupt("a number of more than 64 bits");
    value |= uint64_t{byte & 0x7FU} << (7 * i);
    if ((byte & 0x80U) == 0) return value;
  }
  return Corrupt("a number that does not end");
}

Result<bool> BinaryReader::ReadBoolean() {
  if (remaining() < 1) return Corrupt("ends before a boolean");
  auto byte = static_cast<uint8_t>(bytes_[at_]);
  if (byte > 1) return Corrupt("a boolean that is neither 0 nor 1");
  ++at_;
  return byte == 1;
}

Result<int64_t> BinaryReader::ReadLong() {
  FIRN_ASSIGN(uint64_t raw, ReadVarint(10));
  return static_cast<int64_t>((raw >> 1) ^ (~(raw & 1) + 1));
}

Result<int32_t> BinaryReader::ReadInt() {
  FIRN_ASSIGN(uint64_t raw, ReadVarint(5));
  if (raw > std::numeric_limits<uint32_t>::max()) return Corrupt("an int of more than 32 bits");
  return static_cast<int32_t>(static_cast<int64_t>(raw >> 1) ^ -static_cast<int64_t>(raw & 1));
}

Result<float> BinaryReader::ReadFloat() {
  FIRN_ASSIGN(auto bytes, ReadFixed(4));
  float value = 0;
  std::memcpy(&value, bytes.data(), sizeof(value));
  return value;
}

Result<double> BinaryReader::ReadDouble() {
  FIRN_ASSIGN(auto bytes, ReadFixed(8));
  double value = 0;
  std::memcpy(&value, bytes.data(), sizeof(value));
  return value;
}

Result<std::string_view> BinaryReader::ReadBytes() {
  FIRN_ASSIGN(int64_t length, ReadLong());
  return ReadFixed(length);
}

Result<std::string_view> BinaryReader::ReadFixed(int64_t size_bytes) {
  if (size_bytes < 0) return Corrupt("a negative length");
  if (static_cast<uint64_t>(size_bytes) > remaining()) {
    return Corrupt(fmt::format("{} bytes announced, {} left", size_bytes, remaining()));
  }
  auto bytes = bytes_.substr(at_, static_cast<size_t>(size_bytes));
  at_ += static_cast<size_t>(size_bytes);
  return bytes;
}

Result<size_t> BinaryReader::ReadIndex(size_t count) {
  FIRN_ASSIGN(int64_t index, ReadLong());
  if (index < 0 || static_cast<uint64_t>(index) >= count) {
    return Corrupt(fmt::format("index {} of {} choices", index, count));
  }
  return static_cast<size_t>(index);
}

Result<const Node*> BinaryReader::ReadBranch(const Node& union_node) {
  FIRN_ASSIGN(size_t index, ReadIndex(union_node.branches.size()));
  return union_node.branches[index];
}

Result<int64_t> BinaryReader::ReadBlockCount(int64_t min_bytes, int64_t& free_items) {
  FIRN_ASSIGN(int64_t count, ReadLong());
  if (count == std::numeric_limits<int64_t>::min()) return Corrupt("an absurd item count");
  if (count < 0) {
    count = -count;
    FIRN_ASSIGN(int64_t block_bytes, ReadLong());
    if (block_bytes < 0 || static_cast<uint64_t>(block_bytes) > remaining())
      return Corrupt("a block longer than the data");
  }
  if (min_bytes > 0) {
    if (count > static_cast<int64_t>(remaining()) / min_bytes)
      return Corrupt("more items announced than the data can hold");
    return count;
  }
  if (count > free_items) return Corrupt("too many items without content");
  free_items -= count;
  return count;
}

Status BinaryReader::Skip(const Node& node) { return SkipAt(node, 0); }

Status BinaryReader::SkipAt(const Node& node, int depth) {
  if (depth > kMaxDepth) return Corrupt("nested too deeply");
  switch (node.kind) {
    case Kind::kNull:
      return Ok();
    case Kind::kBoolean: {
      FIRN_TRY(ReadBoolean());
      return Ok();
    }
    case Kind::kInt: {
      FIRN_TRY(ReadInt());
      return Ok();
    }
    case Kind::kLong: {
      FIRN_TRY(ReadLong());
      return Ok();
    }
    case Kind::kFloat: {
      FIRN_TRY(ReadFixed(4));
      return Ok();
    }
    case Kind::kDouble: {
      FIRN_TRY(ReadFixed(8));
      return Ok();
    }
    case Kind::kBytes:
    case Kind::kString: {
      FIRN_TRY(ReadBytes());
      return Ok();
    }
    case Kind::kFixed: {
      FIRN_TRY(ReadFixed(node.size_bytes));
      return Ok();
    }
    case Kind::kEnum: {
      FIRN_TRY(ReadIndex(node.symbols.size()));
      return Ok();
    }
    case Kind::kRecord: {
      // Nothing but nulls: no bytes, however many there are.
      if (node.min_bytes == 0) return Ok();
      for (const auto& field : node.fields) FIRN_TRY(SkipAt(*field.type, depth + 1));
      return Ok();
    }
    case Kind::kUnion: {
      FIRN_ASSIGN(const Node* branch, ReadBranch(node));
      return SkipAt(*branch, depth + 1);
    }
    case Kind::kArray:
      return ReadItems(node, [&] { return SkipAt(*node.items, depth + 1); });
    case Kind::kMap:
      return ReadItems(node, [&]() -> Status {
        FIRN_TRY(ReadBytes());
        return SkipAt(*node.items, depth + 1);
      });
  }
  return Corrupt("a type that does not exist");
}

void BinaryWriter::WriteLong(int64_t value) {
  uint64_t raw = (static_cast<uint64_t>(value) << 1) ^ static_cast<uint64_t>(value >> 63);
  while (raw >= 0x80) {
    out_ += static_cast<char>(raw | 0x80);
    raw >>= 7;
  }
  out_ += static_cast<char>(raw);
}

void BinaryWriter::WriteFloat(float value) {
  char bytes[sizeof(value)];
  std::memcpy(bytes, &value, sizeof(value));
  out_.append(bytes, sizeof(value));
}

void BinaryWriter::WriteDouble(double value) {
  char bytes[sizeof(value)];
  std::memcpy(bytes, &value, sizeof(value));
  out_.append(bytes, sizeof(value));
}

void BinaryWriter::WriteBytes(std::string_view bytes) {
  WriteLong(static_cast<int64_t>(bytes.size()));
  out_ += bytes;
}

void BinaryWriter::BeginItems(size_t count) {
  if (count > 0) WriteLong(static_cast<int64_t>(count));
}

}  // namespace firn::avro
