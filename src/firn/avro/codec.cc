#include "firn/avro/codec.h"

#include <snappy.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <limits>
#include <memory>

#include <fmt/format.h>

namespace firn::avro {

namespace {

constexpr int kRawDeflate = -15;  // largest window, no zlib header
constexpr size_t kStepBytes = 64 << 10;
constexpr size_t kCrcBytes = 4;

Error Damaged(Codec codec, std::string_view what) {
  return {ErrorKind::kCorrupt, fmt::format("Avro block, codec {}: {}", ToString(codec), what)};
}

Bytef* ZBytes(std::string_view bytes) {
  // zlib's interface is not const-correct; it only reads here.
  return reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
}

/// Room for the next step of an unpacker; false when the limit is reached.
bool Grow(std::string& out, size_t used, size_t max_bytes) {
  if (used >= max_bytes) return false;
  out.resize(std::min(max_bytes, std::max(used + kStepBytes, used * 2)));
  return true;
}

Result<std::string> Deflate(std::string_view bytes, int level) {
  z_stream stream{};
  if (deflateInit2(&stream, level, Z_DEFLATED, kRawDeflate, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
    return Error(ErrorKind::kInvalidArgument, fmt::format("deflate has no level {}", level));
  }
  std::string out(deflateBound(&stream, bytes.size()), '\0');
  stream.next_in = ZBytes(bytes);
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = ZBytes(out);
  stream.avail_out = static_cast<uInt>(out.size());
  int code = deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  if (code != Z_STREAM_END) return Error(ErrorKind::kInternal, fmt::format("deflate answered {}", code));
  return out;
}

Result<std::string> Inflate(std::string_view bytes, size_t max_bytes) {
  z_stream stream{};
  if (inflateInit2(&stream, kRawDeflate) != Z_OK)
    return Error(ErrorKind::kResourceExhausted, "no memory to inflate");
  std::unique_ptr<z_stream, decltype(&inflateEnd)> closer(&stream, &inflateEnd);
  stream.next_in = ZBytes(bytes);
  stream.avail_in = static_cast<uInt>(bytes.size());
  std::string out;
  int code = Z_OK;
  while (code != Z_STREAM_END) {
    size_t used = stream.total_out;
    if (!Grow(out, used, max_bytes)) return Damaged(Codec::kDeflate, "larger than allowed");
    stream.next_out = ZBytes(out) + used;
    stream.avail_out = static_cast<uInt>(out.size() - used);
    code = inflate(&stream, Z_NO_FLUSH);
    if (code != Z_OK && code != Z_STREAM_END) return Damaged(Codec::kDeflate, "damaged");
  }
  out.resize(stream.total_out);
  return out;
}

uint32_t Crc(std::string_view bytes) {
  return static_cast<uint32_t>(crc32(0, ZBytes(bytes), static_cast<uInt>(bytes.size())));
}

std::string BigEndian(uint32_t value) {
  return {static_cast<char>(value >> 24), static_cast<char>(value >> 16), static_cast<char>(value >> 8),
          static_cast<char>(value)};
}

Result<std::string> Unsnap(std::string_view bytes, size_t max_bytes) {
  if (bytes.size() < kCrcBytes) return Damaged(Codec::kSnappy, "too short for its checksum");
  auto packed = bytes.substr(0, bytes.size() - kCrcBytes);
  size_t length = 0;
  if (!snappy::GetUncompressedLength(packed.data(), packed.size(), &length))
    return Damaged(Codec::kSnappy, "damaged");
  if (length > max_bytes) return Damaged(Codec::kSnappy, "larger than allowed");
  // Snappy packs at most about 21 to 1 (64 bytes in 3); a length beyond that is a lie that must not be
  // allocated.
  if (length > packed.size() * 24 + 64) return Damaged(Codec::kSnappy, "damaged");
  std::string out(length, '\0');
  if (!snappy::RawUncompress(packed.data(), packed.size(), out.data()))
    return Damaged(Codec::kSnappy, "damaged");
  if (bytes.substr(packed.size()) != BigEndian(Crc(out))) return Damaged(Codec::kSnappy, "wrong checksum");
  return out;
}

Result<std::string> Zstd(std::string_view bytes, int level) {
  std::string out(ZSTD_compressBound(bytes.size()), '\0');
  size_t size = ZSTD_compress(out.data(), out.size(), bytes.data(), bytes.size(), level);
  if (ZSTD_isError(size) != 0U)
    return Error(ErrorKind::kInternal, fmt::format("zstd: {}", ZSTD_getErrorName(size)));
  out.resize(size);
  return out;
}

/// By streaming: writers may leave the content size out of the frame.
Result<std::string> Unzstd(std::string_view bytes, size_t max_bytes) {
  std::unique_ptr<ZSTD_DStream, decltype(&ZSTD_freeDStream)> stream(ZSTD_createDStream(), &ZSTD_freeDStream);
  if (stream == nullptr) return Error(ErrorKind::kResourceExhausted, "no memory for zstd");
  ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
  std::string out;
  size_t used = 0;
  size_t hint = 1;
  while (hint != 0) {
    if (!Grow(out, used, max_bytes)) return Damaged(Codec::kZstandard, "larger than allowed");
    ZSTD_outBuffer room{out.data(), out.size(), used};
    size_t before = in.pos;
    hint = ZSTD_decompressStream(stream.get(), &room, &in);
    if (ZSTD_isError(hint) != 0U) return Damaged(Codec::kZstandard, ZSTD_getErrorName(hint));
    if (hint != 0 && in.pos == before && room.pos == used) return Damaged(Codec::kZstandard, "cut short");
    used = room.pos;
    if (hint == 0 && in.pos < in.size) hint = 1;  // a further frame
  }
  out.resize(used);
  return out;
}

}  // namespace

std::string_view ToString(Codec codec) {
  switch (codec) {
    case Codec::kNull:
      return "null";
    case Codec::kDeflate:
      return "deflate";
    case Codec::kSnappy:
      return "snappy";
    case Codec::kZstandard:
      return "zstandard";
  }
  return "?";
}

Result<Codec> ParseCodec(std::string_view name) {
  for (Codec codec : {Codec::kNull, Codec::kDeflate, Codec::kSnappy, Codec::kZstandard}) {
    if (ToString(codec) == name) return codec;
  }
  return Error(ErrorKind::kUnsupported, fmt::format("Avro codec '{}' is not supported", name))
      .WithRemedy("Supported are null, deflate, snappy and zstandard.");
}

Result<std::string> Compress(Codec codec, std::string_view bytes, std::optional<int32_t> level) {
  if (bytes.size() > std::numeric_limits<uInt>::max())
    return Error(ErrorKind::kInvalidArgument, "Avro block of 4 GiB or more");
  switch (codec) {
    case Codec::kNull:
      return std::string(bytes);
    case Codec::kDeflate:
      return Deflate(bytes, level.value_or(9));
    case Codec::kSnappy: {
      std::string out;
      snappy::Compress(bytes.data(), bytes.size(), &out);
      return out + BigEndian(Crc(bytes));
    }
    case Codec::kZstandard:
      return Zstd(bytes, level.value_or(3));
  }
  return Error(ErrorKind::kInternal, "unknown Avro codec");
}

Result<std::string> Decompress(Codec codec, std::string_view bytes, size_t max_bytes) {
  if (bytes.size() > std::numeric_limits<uInt>::max()) return Damaged(codec, "4 GiB or more");
  switch (codec) {
    case Codec::kNull:
      if (bytes.size() > max_bytes) return Damaged(codec, "larger than allowed");
      return std::string(bytes);
    case Codec::kDeflate:
      return Inflate(bytes, max_bytes);
    case Codec::kSnappy:
      return Unsnap(bytes, max_bytes);
    case Codec::kZstandard:
      return Unzstd(bytes, max_bytes);
  }
  return Error(ErrorKind::kInternal, "unknown Avro codec");
}

}  // namespace firn::avro
