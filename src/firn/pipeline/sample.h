#pragma once

#include <cstdint>
#include <vector>

#include "firn/base/result.h"
#include "firn/record/raw_batch.h"
#include "firn/source/source.h"

namespace firn::pipeline {

/// Reads about `records` records from an opened source that nobody else reads: from `positions`, at most for
/// `wait_ms`, or until every partition's end. Nothing is acknowledged. Few or no records is not an error.
Result<std::vector<record::RawBatch>> ReadSample(source::Source& source, const record::Positions& positions,
                                                 int64_t records, int64_t wait_ms);

}  // namespace firn::pipeline
