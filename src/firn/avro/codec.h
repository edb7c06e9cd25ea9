#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "firn/base/result.h"

namespace firn::avro {

/// Compression of a container's blocks.
enum class Codec : uint8_t { kNull, kDeflate, kSnappy, kZstandard };

std::string_view ToString(Codec codec);  ///< the name in a file's header: null, deflate, snappy, zstandard
/// kUnsupported for a codec that we do not have (bzip2, xz ...).
Result<Codec> ParseCodec(std::string_view name);

/// One block, compressed. `level` empty: deflate 9, zstandard 3.
Result<std::string> Compress(Codec codec, std::string_view bytes, std::optional<int32_t> level);
/// One block, unpacked; kCorrupt when it is damaged or larger than `max_bytes`. Snappy's checksum is
/// verified.
Result<std::string> Decompress(Codec codec, std::string_view bytes, size_t max_bytes);

}  // namespace firn::avro
