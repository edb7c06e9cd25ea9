#pragma once

#include <arrow/type_fwd.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "firn/base/result.h"
#include "firn/iceberg/model/expression.h"
#include "firn/iceberg/model/table_metadata.h"
#include "firn/iceberg/scan/scan_plan.h"
#include "firn/store/store.h"

namespace firn::iceberg {

/// What to read. At most one of snapshot_id, as_of_ms and ref.
struct ScanOptions {
  std::vector<std::string> columns;  ///< dotted names in this order; empty: all
  std::string where;                 ///< text of a filter (ParseFilter); empty: all rows
  std::optional<int64_t> snapshot_id;
  std::optional<int64_t> as_of_ms;  ///< the snapshot that was current then, by the snapshot log
  std::string ref;                  ///< branch or tag; empty: main
  std::optional<int64_t> limit;     ///< rows
  int64_t batch_rows = 32 << 10;
  arrow::MemoryPool* pool = nullptr;  ///< null: Arrow's default
};

/// Rows of a scan, batch by batch. Not thread-safe.
class RowStream {
 public:
  virtual ~RowStream() = default;
  /// The next rows (never an empty batch) in the Arrow form of TableScan::schema; null at the end.
  virtual Result<std::shared_ptr<arrow::RecordBatch>> Next() = 0;
};

/// Reads one snapshot of a table: plan (manifest list -> manifests -> files, pruned by partition and bounds)
/// and rows (Parquet by field id, deletes applied, filtered). A small value; keeps table and store alive.
class TableScan {
 public:
  /// kNotFound for an unknown snapshot, ref or column (with the nearest name), kInvalidArgument for a bad
  /// filter.
  static Result<TableScan> Make(std::shared_ptr<const TableMetadata> table,
                                std::shared_ptr<store::Store> store, ScanOptions options);

  /// Columns of the rows: the table's current schema for a branch, the snapshot's for a snapshot, time or
  /// tag.
  const SchemaPtr& schema() const { return schema_; }
  /// Null: the table (or branch) has no snapshot yet, hence no rows.
  const Snapshot* snapshot() const { return snapshot_; }

  Result<ScanPlan> Plan() const;
  /// Plans and reads.
  Result<std::unique_ptr<RowStream>> Read() const;
  /// Reads the files of a plan, in its order.
  Result<std::unique_ptr<RowStream>> Read(ScanPlan plan) const;

 private:
  TableScan() = default;
  Status Select();
  Status Bind();

  std::shared_ptr<const TableMetadata> table_;
  std::shared_ptr<store::Store> store_;
  ScanOptions options_;
  const Snapshot* snapshot_ = nullptr;
  SchemaPtr whole_;        ///< schema of the snapshot
  SchemaPtr schema_;       ///< what rows have
  SchemaPtr read_schema_;  ///< what is read of files: schema_ and the filter's columns
  FilterPtr filter_;
};

}  // namespace firn::iceberg
