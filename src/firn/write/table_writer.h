#pragma once

#include <arrow/type_fwd.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "firn/iceberg/model/location_provider.h"
#include "firn/iceberg/model/metrics.h"
#include "firn/write/data_file_writer.h"
#include "firn/write/file_format.h"
#include "firn/write/partition_router.h"
#include "firn/write/row_order.h"
#include "firn/write/writer.h"

namespace firn::write {

/// The writer behind MakeTableWriter. How rows travel:
///
/// - A batch is routed: rows of one partition stand together (PartitionRouter), copied once at most.
/// - Rows of the active partition (the only one of an unpartitioned table; else that of most rows of the
/// first batch) go
///   straight into the open file. All others wait in `waiting_` until Finish, and so do all rows of a sorted
///   table.
/// - When more than max_buffered_bytes wait, the partitions with the most rows are written until half of the
/// bytes are
///   gone, and what remains of their batches is copied together, so that memory is really given back.
/// - At Finish the open file is closed, then each partition is written, one file open at a time.
class ParquetTableWriter : public TableWriter {
 public:
  static Result<std::unique_ptr<ParquetTableWriter>> Make(WriterContext context);
  ~ParquetTableWriter() override;

  Status Append(const record::Batch& batch) override;
  int64_t buffered_bytes() const override;
  int64_t rows() const override { return rows_; }
  Result<std::vector<iceberg::DataFile>> Finish() override;
  std::vector<std::string> Discard() override;

 private:
  using BatchPtr = std::shared_ptr<arrow::RecordBatch>;

  struct WaitingBatch {
    BatchPtr rows;
    std::vector<Segment> segments;
    int64_t bytes = 0;
  };

  ParquetTableWriter(WriterContext context, FileFormat format, iceberg::MetricsConfig modes,
                     iceberg::LocationProvider locations, PartitionRouter router,
                     std::optional<RowOrder> order, arrow::MemoryPool* pool);

  Result<BatchPtr> StoredColumns(const record::Batch& batch) const;
  Status AppendRouted(RoutedBatch routed);
  void ChooseActive(const std::vector<Segment>& segments);
  Status Wait(BatchPtr rows, std::vector<Segment> segments);

  Status FlushSome();
  Status FlushAll();
  Status FlushPartition(uint32_t partition, const std::vector<BatchPtr>& slices);
  Status WriteSorted(uint32_t partition, const std::vector<BatchPtr>& slices);
  Status WriteJoined(uint32_t partition, const std::vector<BatchPtr>& slices);
  Status DropWritten(const std::vector<bool>& written);
  std::vector<std::vector<BatchPtr>> SlicesByPartition() const;

  Status WriteRows(uint32_t partition, const arrow::RecordBatch& rows);
  Status OpenFile(uint32_t partition);
  Status CloseFile();
  std::string NextFileName();
  void Reset();

  const WriterContext context_;
  const FileFormat format_;
  const iceberg::MetricsConfig modes_;
  const iceberg::LocationProvider locations_;
  PartitionRouter router_;
  const std::optional<RowOrder> order_;
  arrow::MemoryPool* const pool_;

  std::vector<WaitingBatch> waiting_;
  int64_t waiting_bytes_ = 0;
  int64_t rows_ = 0;
  std::optional<uint32_t> active_;  ///< partition whose rows go straight to the open file
  uint32_t open_partition_ = 0;
  std::unique_ptr<DataFileWriter> open_;
  EncodingRatio ratio_;
  std::vector<iceberg::DataFile> files_;
  std::vector<std::string> created_;  ///< locations of every file since the last Finish or Discard
  int64_t file_count_ = 0;            ///< over the writer's life: names must not repeat
};

}  // namespace firn::write
