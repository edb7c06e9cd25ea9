#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "firn/base/result.h"
#include "firn/iceberg/meta/manifest.h"
#include "firn/iceberg/model/table_metadata.h"
#include "firn/record/batch.h"
#include "firn/store/store.h"

namespace arrow {
class MemoryPool;
}

namespace firn::write {

/// What a writer needs to know of its table: taken from one metadata, kept for one batch (schema, spec,
/// order, properties).
struct WriterContext {
  std::shared_ptr<const iceberg::TableMetadata> table;
  std::shared_ptr<store::Store> store;
  arrow::MemoryPool* pool = nullptr;       ///< null: Arrow's default
  std::string operation_id;                ///< UUID in the data files' names
  int32_t lane = 0;                        ///< task id in the data files' names
  int64_t max_buffered_bytes = 256 << 20;  ///< rows kept in memory before files are cut early
  /// Rows that wait before the first file is opened: an open file costs memory for each column, whatever it
  /// holds. 0: opened with the first rows.
  int64_t open_file_from_bytes = 0;
};

/// Rows of one table and lane -> Parquet data files (later delete files).
/// Rows stay as Arrow with a partition id and are ordered by partition (and the table's sort order) at flush;
/// one Parquet writer is open at a time. Files are invisible to readers until a commit names them. Finish or
/// Discard, never neither; after either the writer is empty and takes the next batch. Not thread-safe.
class TableWriter {
 public:
  virtual ~TableWriter() = default;
  /// Columns as iceberg/scan/arrow_schema.h maps the table schema, in its order. Lists below a null struct
  /// are empty, as Arrow builders leave them. After an error only Discard is left.
  virtual Status Append(const record::Batch& batch) = 0;
  /// Memory held: rows that wait and pages of the open file.
  virtual int64_t buffered_bytes() const = 0;
  virtual int64_t rows() const = 0;  ///< since the last Finish or Discard
  /// Writes and closes everything; the data files of all rows appended since the last Finish. After an error
  /// only Discard is left.
  virtual Result<std::vector<iceberg::DataFile>> Finish() = 0;
  /// Drops rows and removes the files already written for them. Best effort on the files: returns what could
  /// not be removed.
  virtual std::vector<std::string> Discard() = 0;
};

/// Refuses tables it must not write: `write.location-provider.impl`, non-parquet `write.format.default`,
/// unknown transforms ...
Result<std::unique_ptr<TableWriter>> MakeTableWriter(WriterContext context);

/// Problems of a table's properties that are worth one warning (bloom filters asked for ...), empty when
/// none.
std::vector<std::string> UnhonouredProperties(const iceberg::TableMetadata& table);

}  // namespace firn::write
