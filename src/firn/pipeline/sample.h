#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "firn/base/result.h"
#include "firn/commit/protocol/shared_read.h"
#include "firn/pipeline/lane_maker.h"
#include "firn/pipeline/pipeline.h"
#include "firn/record/raw_batch.h"
#include "firn/runtime/clock.h"
#include "firn/source/source.h"

namespace firn::pipeline {

/// Reads about `records` records from an opened source that nobody else reads: from `positions`, at most for
/// `wait_ms`, or until every partition's end. Nothing is acknowledged. Few or no records is not an error.
Result<std::vector<record::RawBatch>> ReadSample(source::Source& source, const record::Positions& positions,
                                                 int64_t records, int64_t wait_ms, runtime::Clock& clock);

using SampleRecords = std::shared_ptr<const std::vector<record::RawBatch>>;
/// Records that go to one table, from where they are missing in it, for its columns to be inferred; read with
/// a source of its own. Any thread.
Result<SampleRecords> SampleOfTable(const PipelineDeps& deps, const LaneMaker& maker, const TargetPtr& target,
                                    const commit::PendingFrom& missing);

}  // namespace firn::pipeline
