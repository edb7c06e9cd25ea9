#pragma once

#include <cstdint>
#include <map>

#include "firn/base/result.h"
#include "firn/iceberg/meta/manifest.h"
#include "firn/iceberg/model/metrics.h"
#include "firn/iceberg/model/schema.h"

namespace parquet {
class FileMetaData;
}

namespace firn::write {

/// Row count, column metrics and split offsets of a Parquet file that was just closed, from its footer, as
/// the Java implementation derives them: sizes of every column; counts and bounds by the column's mode; no
/// bounds inside lists and maps; no null count and bounds where a row group has no statistics. `nan_counts`
/// by field id.
Result<iceberg::DataFile> DescribeFile(const parquet::FileMetaData& footer, const iceberg::Schema& schema,
                                       const iceberg::MetricsConfig& modes,
                                       const std::map<int32_t, int64_t>& nan_counts);

}  // namespace firn::write
