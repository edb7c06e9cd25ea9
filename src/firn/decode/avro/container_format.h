#pragma once

#include <memory>

#include "firn/record/file_format.h"

namespace firn::decode {

/// Avro object container files, split into bare data; RawBatch::file carries the writer's schema. A file is
/// read block by block, so that it may be of any size; reading goes on at the block where it stood, or,
/// inside a block of more records than one batch takes, is found again by counting the blocks before. Damage
/// is kCorrupt and names the file and the offset, a codec that we do not have kUnsupported.
std::shared_ptr<record::FileFormat> MakeAvroContainerFormat();

}  // namespace firn::decode
