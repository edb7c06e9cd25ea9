#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "firn/base/result.h"
#include "firn/iceberg/meta/manifest.h"
#include "firn/iceberg/model/expression.h"
#include "firn/iceberg/model/table_metadata.h"
#include "firn/store/store.h"

namespace firn::iceberg {

/// One data file to read, with the delete files that apply to it (spec, "Scan Planning").
struct ScanTask {
  DataFile file;
  int64_t sequence_number = 0;
  std::vector<DataFile> deletes;
};

struct ScanPlan {
  std::vector<ScanTask> tasks;
  int64_t manifests = 0;          ///< data manifests of the snapshot
  int64_t manifests_skipped = 0;  ///< left unread because of their partition summaries
  int64_t files_skipped = 0;      ///< live files left out because of partition or bounds
  int64_t record_count = 0;       ///< of the tasks' files, before deletes
  int64_t file_bytes = 0;
};

/// Whether a file is Parquet by its manifest entry (any case).
bool IsParquetFile(const DataFile& file);

/// The live files of a snapshot that may hold rows matching `filter` (bound by field ids of the table).
Result<ScanPlan> PlanFiles(store::Store& store, const TableMetadata& table, const Snapshot& snapshot,
                           const Filter& filter);

}  // namespace firn::iceberg
