#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "firn/base/result.h"
#include "firn/record/file_format.h"
#include "firn/runtime/executor.h"
#include "firn/store/store.h"

namespace firn::source::files {

/// How the bytes of files are read: in requests of this size, the next one on its way meanwhile.
struct ReadSetup {
  int64_t chunk_bytes = int64_t{1} << 20;
  runtime::Executor* executor = nullptr;
};

/// The bytes of an object from its beginning, unpacked where its first bytes say that it is gzip (any number
/// of members) or zstd (any number of frames). kCorrupt, with location and place, for compressed data that is
/// damaged or cut off, and for a file that is named .gz or .zst and is neither.
Result<std::unique_ptr<record::ByteStream>> OpenByteStream(const std::string& location,
                                                           std::shared_ptr<store::RandomAccessObject> object,
                                                           const ReadSetup& setup);

/// Whether the name says that the file is compressed as a whole.
bool IsNamedCompressed(std::string_view location);

}  // namespace firn::source::files
