#include "firn/write/table_writer.h"

#include <arrow/array/array_base.h>
#include <arrow/memory_pool.h>
#include <arrow/record_batch.h>
#include <arrow/table.h>
#include <arrow/type.h>
#include <arrow/util/byte_size.h>
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "firn/iceberg/model/property.h"
#include "firn/iceberg/scan/arrow_error.h"

namespace firn::write {

namespace {

using BatchPtr = std::shared_ptr<arrow::RecordBatch>;

constexpr int64_t kJoinRows = 16 << 10;              // smaller slices cost more to write than to copy
constexpr int64_t kMaxSortBytes = int64_t{1} << 30;  // Arrow's offsets are 32-bit

Result<BatchPtr> Concatenate(const std::vector<BatchPtr>& slices, arrow::MemoryPool* pool) {
  if (slices.size() == 1) return slices[0];
  FIRN_ARROW_ASSIGN(auto joined, arrow::ConcatenateRecordBatches(slices, pool));
  return joined;
}

Result<int64_t> BytesOf(const arrow::RecordBatch& rows) {
  FIRN_ARROW_ASSIGN(const int64_t bytes, arrow::util::ReferencedBufferSize(rows));
  return bytes;
}

Status CheckRequired(const iceberg::Schema& schema, const arrow::RecordBatch& rows) {
  for (int i = 0; i < rows.num_columns(); ++i) {
    const iceberg::NestedField& field = schema.fields()[static_cast<size_t>(i)];
    if (field.required && rows.column(i)->null_count() > 0) {
      return Error(ErrorKind::kInvalidArgument,
                   "column '" + field.name + "' is required but a row has null in it");
    }
  }
  return Ok();
}

}  // namespace

Result<std::unique_ptr<ParquetTableWriter>> ParquetTableWriter::Make(WriterContext context) {
  arrow::MemoryPool* pool = context.pool != nullptr ? context.pool : arrow::default_memory_pool();
  const iceberg::TableMetadata& table = *context.table;
  FIRN_ASSIGN(FileFormat format, MakeFileFormat(table, pool));
  auto modes = iceberg::MetricsConfig::Resolve(table.properties, *format.schema, table.sort_order());
  FIRN_ASSIGN(auto locations, iceberg::LocationProvider::Make(table.location, table.properties));
  FIRN_ASSIGN(PartitionRouter router, PartitionRouter::Make(table.spec(), *format.schema));
  std::optional<RowOrder> order;
  if (table.sort_order().is_sorted()) {
    FIRN_ASSIGN(order, RowOrder::Make(table.sort_order(), *format.schema));
  }
  return std::unique_ptr<ParquetTableWriter>(
      new ParquetTableWriter(std::move(context), std::move(format), std::move(modes), std::move(locations),
                             std::move(router), std::move(order), pool));
}

ParquetTableWriter::ParquetTableWriter(WriterContext context, FileFormat format, iceberg::MetricsConfig modes,
                                       iceberg::LocationProvider locations, PartitionRouter router,
                                       std::optional<RowOrder> order, arrow::MemoryPool* pool)
    : context_(std::move(context)),
      format_(std::move(format)),
      modes_(std::move(modes)),
      locations_(std::move(locations)),
      router_(std::move(router)),
      order_(std::move(order)),
      pool_(pool) {}

ParquetTableWriter::~ParquetTableWriter() = default;

Status ParquetTableWriter::Append(const record::Batch& batch) {
  if (batch.rows == nullptr || batch.rows->num_rows() == 0) return Ok();
  FIRN_ASSIGN(const BatchPtr rows, StoredColumns(batch));
  FIRN_TRY(CheckRequired(*format_.schema, *rows));
  rows_ += rows->num_rows();
  FIRN_ASSIGN(RoutedBatch routed, router_.Route(rows, pool_));
  FIRN_TRY(AppendRouted(std::move(routed)));
  return waiting_bytes_ > context_.max_buffered_bytes ? FlushSome() : Ok();
}

Result<BatchPtr> ParquetTableWriter::StoredColumns(const record::Batch& batch) const {
  const int32_t schema_id = context_.table->schema()->schema_id();
  if (batch.schema_id != schema_id) {
    return Error(
        ErrorKind::kInvalidArgument,
        fmt::format("a batch of schema {} came to a writer of schema {}", batch.schema_id, schema_id));
  }
  const auto& columns = context_.table->schema()->fields();
  if (static_cast<size_t>(batch.rows->num_columns()) != columns.size()) {
    return Error(ErrorKind::kInvalidArgument, fmt::format("a batch of {} columns came to a table of {}",
                                                          batch.rows->num_columns(), columns.size()));
  }
  FIRN_ARROW_ASSIGN(auto stored, batch.rows->SelectColumns(format_.columns));
  for (int i = 0; i < stored->num_columns(); ++i) {
    const auto& expected = *format_.arrow_schema->field(i);
    if (!stored->column(i)->type()->Equals(*expected.type())) {
      return Error(ErrorKind::kInvalidArgument,
                   fmt::format("column '{}' is {} in the batch but {} in the table", expected.name(),
                               stored->column(i)->type()->ToString(), expected.type()->ToString()));
    }
  }
  // The table's names and field ids, whatever the batch calls its columns.
  return arrow::RecordBatch::Make(format_.arrow_schema, stored->num_rows(), stored->columns());
}

Status ParquetTableWriter::AppendRouted(RoutedBatch routed) {
  if (order_.has_value()) return Wait(std::move(routed.rows), std::move(routed.segments));
  if (!active_.has_value() && context_.open_file_from_bytes > 0) {
    FIRN_TRY(Wait(std::move(routed.rows), std::move(routed.segments)));
    if (waiting_bytes_ < context_.open_file_from_bytes) return Ok();
    std::vector<WaitingBatch> early = std::exchange(waiting_, {});
    waiting_bytes_ = 0;
    ChooseActive(early.front().segments);
    for (WaitingBatch& batch : early)
      FIRN_TRY(AppendRouted({std::move(batch.rows), std::move(batch.segments)}));
    return Ok();
  }
  if (!active_.has_value()) ChooseActive(routed.segments);
  std::vector<Segment> others;
  for (const Segment& segment : routed.segments) {
    if (segment.partition == *active_) {
      FIRN_TRY(WriteRows(segment.partition, *routed.rows->Slice(segment.begin, segment.length)));
    } else {
      others.push_back(segment);
    }
  }
  return others.empty() ? Ok() : Wait(std::move(routed.rows), std::move(others));
}

void ParquetTableWriter::ChooseActive(const std::vector<Segment>& segments) {
  active_ = std::max_element(segments.begin(), segments.end(), [](const Segment& a, const Segment& b) {
              return a.length < b.length;
            })->partition;
}

Status ParquetTableWriter::Wait(BatchPtr rows, std::vector<Segment> segments) {
  FIRN_ASSIGN(const int64_t bytes, BytesOf(*rows));
  waiting_.push_back({std::move(rows), std::move(segments), bytes});
  waiting_bytes_ += bytes;
  return Ok();
}

int64_t ParquetTableWriter::buffered_bytes() const {
  return waiting_bytes_ + (open_ != nullptr ? open_->memory_bytes() : 0);
}

std::vector<std::vector<BatchPtr>> ParquetTableWriter::SlicesByPartition() const {
  std::vector<std::vector<BatchPtr>> slices(router_.partition_count());
  for (const WaitingBatch& batch : waiting_) {
    for (const Segment& segment : batch.segments) {
      slices[segment.partition].push_back(batch.rows->Slice(segment.begin, segment.length));
    }
  }
  return slices;
}

Status ParquetTableWriter::FlushAll() {
  auto slices = SlicesByPartition();
  waiting_.clear();  // the slices hold the rows: each partition is given back when it is written
  for (uint32_t partition = 0; partition < slices.size(); ++partition) {
    if (!slices[partition].empty()) FIRN_TRY(FlushPartition(partition, slices[partition]));
    slices[partition].clear();
  }
  waiting_bytes_ = 0;
  return Ok();
}

Status ParquetTableWriter::FlushSome() {
  auto slices = SlicesByPartition();
  std::vector<int64_t> rows(slices.size(), 0);
  for (size_t i = 0; i < slices.size(); ++i) {
    for (const BatchPtr& slice : slices[i]) rows[i] += slice->num_rows();
  }
  std::vector<uint32_t> by_rows(slices.size());
  std::iota(by_rows.begin(), by_rows.end(), 0);
  std::stable_sort(by_rows.begin(), by_rows.end(), [&](uint32_t a, uint32_t b) { return rows[a] > rows[b]; });

  int64_t left = std::accumulate(rows.begin(), rows.end(), int64_t{0});
  const int64_t keep = left / 2;
  std::vector<bool> written(slices.size(), false);
  for (const uint32_t partition : by_rows) {
    if (left <= keep) break;
    FIRN_TRY(FlushPartition(partition, slices[partition]));
    left -= rows[partition];
    written[partition] = true;
  }
  slices.clear();
  return DropWritten(written);
}

Status ParquetTableWriter::DropWritten(const std::vector<bool>& written) {
  std::vector<WaitingBatch> before = std::exchange(waiting_, {});
  waiting_bytes_ = 0;
  for (WaitingBatch& batch : before) {
    std::vector<BatchPtr> kept;
    std::vector<Segment> segments;
    int64_t begin = 0;
    for (const Segment& segment : batch.segments) {
      if (written[segment.partition]) continue;
      kept.push_back(batch.rows->Slice(segment.begin, segment.length));
      segments.push_back({segment.partition, begin, segment.length});
      begin += segment.length;
    }
    if (kept.empty()) {
      batch.rows.reset();
      continue;
    }
    FIRN_ARROW_ASSIGN(auto copy, arrow::ConcatenateRecordBatches(kept, pool_));
    batch.rows.reset();
    kept.clear();
    FIRN_TRY(Wait(std::move(copy), std::move(segments)));
  }
  return Ok();
}

Status ParquetTableWriter::FlushPartition(uint32_t partition, const std::vector<BatchPtr>& slices) {
  FIRN_TRY(order_.has_value() ? WriteSorted(partition, slices) : WriteJoined(partition, slices));
  return CloseFile();
}

/// Sorts as much as Arrow can hold in one batch; only a partition of more than that gets files of overlapping
/// key ranges.
Status ParquetTableWriter::WriteSorted(uint32_t partition, const std::vector<BatchPtr>& slices) {
  std::vector<BatchPtr> run;
  int64_t run_bytes = 0;
  const auto write_run = [&]() -> Status {
    FIRN_ASSIGN(BatchPtr joined, Concatenate(run, pool_));
    run.clear();
    run_bytes = 0;
    FIRN_ASSIGN(joined, order_->Sort(joined, pool_));
    FIRN_TRY(WriteRows(partition, *joined));
    return CloseFile();
  };
  for (const BatchPtr& slice : slices) {
    FIRN_ASSIGN(const int64_t bytes, BytesOf(*slice));
    if (!run.empty() && run_bytes + bytes > kMaxSortBytes) FIRN_TRY(write_run());
    run.push_back(slice);
    run_bytes += bytes;
  }
  return run.empty() ? Ok() : write_run();
}

Status ParquetTableWriter::WriteJoined(uint32_t partition, const std::vector<BatchPtr>& slices) {
  std::vector<BatchPtr> small;
  int64_t small_rows = 0;
  const auto write_small = [&]() -> Status {
    if (small.empty()) return Ok();
    FIRN_ASSIGN(const BatchPtr joined, Concatenate(small, pool_));
    small.clear();
    small_rows = 0;
    return WriteRows(partition, *joined);
  };
  for (const BatchPtr& slice : slices) {
    small.push_back(slice);
    small_rows += slice->num_rows();
    if (small_rows >= kJoinRows) FIRN_TRY(write_small());
  }
  return write_small();
}

Status ParquetTableWriter::WriteRows(uint32_t partition, const arrow::RecordBatch& rows) {
  if (open_ != nullptr && open_partition_ != partition) FIRN_TRY(CloseFile());
  int64_t begin = 0;
  while (begin < rows.num_rows()) {
    if (open_ == nullptr) FIRN_TRY(OpenFile(partition));
    FIRN_ASSIGN(const int64_t taken, open_->Write(*rows.Slice(begin)));
    begin += taken;
    if (open_->full()) FIRN_TRY(CloseFile());
  }
  return Ok();
}

Status ParquetTableWriter::OpenFile(uint32_t partition) {
  const std::string location =
      locations_.DataLocation(context_.table->spec(), router_.partition(partition), NextFileName());
  FIRN_ASSIGN(open_, DataFileWriter::Open(format_, *context_.store, location, &ratio_, pool_));
  open_partition_ = partition;
  created_.push_back(location);
  return Ok();
}

Status ParquetTableWriter::CloseFile() {
  if (open_ == nullptr) return Ok();
  const auto writer = std::move(open_);
  FIRN_ASSIGN(iceberg::DataFile file, writer->Finish(modes_));
  file.spec_id = context_.table->spec().spec_id;
  file.partition = router_.partition(open_partition_);
  if (order_.has_value()) file.sort_order_id = context_.table->sort_order().order_id;
  files_.push_back(std::move(file));
  return Ok();
}

std::string ParquetTableWriter::NextFileName() {
  return fmt::format("{:05d}-{}-{}-{:05d}.parquet", 0, context_.lane, context_.operation_id, ++file_count_);
}

Result<std::vector<iceberg::DataFile>> ParquetTableWriter::Finish() {
  FIRN_TRY(CloseFile());
  FIRN_TRY(FlushAll());
  std::vector<iceberg::DataFile> files = std::move(files_);
  Reset();
  return files;
}

std::vector<std::string> ParquetTableWriter::Discard() {
  open_.reset();
  std::vector<std::string> left;
  for (auto& [location, why] : context_.store->DeleteMany(created_)) left.push_back(std::move(location));
  Reset();
  return left;
}

void ParquetTableWriter::Reset() {
  open_.reset();
  active_.reset();
  waiting_.clear();
  waiting_bytes_ = 0;
  rows_ = 0;
  files_.clear();
  created_.clear();
  router_.Clear();
}

Result<std::unique_ptr<TableWriter>> MakeTableWriter(WriterContext context) {
  FIRN_ASSIGN(auto writer, ParquetTableWriter::Make(std::move(context)));
  return std::unique_ptr<TableWriter>(std::move(writer));
}

std::vector<std::string> UnhonouredProperties(const iceberg::TableMetadata& table) {
  std::vector<std::string> problems;
  for (const auto& [key, value] : table.properties) {
    if (key.starts_with(iceberg::property::kParquetBloomFilterPrefix) && value == "true") {
      problems.push_back(key + "=true: bloom filters are not written (the Parquet library in use cannot)");
    }
  }
  return problems;
}

}  // namespace firn::write
