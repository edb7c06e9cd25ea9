#pragma once

#include <arrow/memory_pool.h>
#include <arrow/type_fwd.h>
#include <parquet/type_fwd.h>

#include <cstdint>
#include <memory>
#include <string>

#include "firn/base/result.h"
#include "firn/iceberg/meta/manifest.h"
#include "firn/iceberg/scan/store_file.h"
#include "firn/store/store.h"
#include "firn/write/file_format.h"
#include "firn/write/file_metrics.h"
#include "firn/write/nan_counter.h"

namespace parquet {
class RowGroupWriter;
namespace arrow {
class FileWriter;
}
}  // namespace parquet

namespace firn::write {

/// What earlier files taught about the size of encoded rows: encoded bytes for each byte in memory; 0 before
/// the first.
struct EncodingRatio {
  double encoded_per_byte = 0;
};

/// One Parquet data file being written. Rows are encoded as they come; a row group is closed when it is full.
/// Finish or Discard once; the destructor discards. Not thread-safe.
class DataFileWriter {
 public:
  /// `format` and `ratio` outlive the writer.
  static Result<std::unique_ptr<DataFileWriter>> Open(const FileFormat& format, store::Store& store,
                                                      const std::string& location, EncodingRatio* ratio,
                                                      arrow::MemoryPool* pool);
  ~DataFileWriter();

  /// `rows` has the stored columns of the format. Stops early when the file is full; returns how many rows it
  /// took, at least one unless the file was full before.
  Result<int64_t> Write(const arrow::RecordBatch& rows);
  int64_t rows() const { return rows_; }
  /// What the file would have if it were closed now, about.
  int64_t estimated_bytes() const;
  bool full() const { return estimated_bytes() >= format_.target_file_size_bytes; }
  /// Memory held for pages that are not written yet.
  int64_t memory_bytes() const { return pool_.bytes_allocated(); }

  /// Closes the file and makes it visible under its location. Everything of it but spec id, partition and
  /// sort order.
  Result<iceberg::DataFile> Finish(const iceberg::MetricsConfig& modes);
  void Discard() noexcept;
  const std::string& location() const { return location_; }

 private:
  class Contents;

  DataFileWriter(const FileFormat& format, std::string location, EncodingRatio* ratio,
                 arrow::MemoryPool* pool);
  Status OpenParquet();
  Status WriteSlice(const arrow::RecordBatch& rows, int64_t bytes);
  Status StartRowGroup();
  void LearnRatio();
  int64_t group_bytes() const;

  const FileFormat& format_;
  const std::string location_;
  EncodingRatio* const ratio_;
  arrow::ProxyMemoryPool pool_;
  std::unique_ptr<store::ObjectWriter> object_;
  std::shared_ptr<iceberg::StoreOutputStream> stream_;
  parquet::RowGroupWriter* row_group_ = nullptr;  ///< owned by the Parquet writer below
  std::unique_ptr<parquet::arrow::FileWriter> writer_;
  NanCounter nans_;
  int64_t rows_ = 0;
  int64_t group_begin_ = 0;         ///< file position where the open row group begins
  int64_t group_memory_bytes_ = 0;  ///< Arrow bytes of the open row group
};

}  // namespace firn::write
