#include "firn/write/data_file_writer.h"

#include <arrow/record_batch.h>
#include <arrow/util/byte_size.h>
#include <parquet/arrow/writer.h>
#include <parquet/file_writer.h>
#include <parquet/metadata.h>

#include <algorithm>
#include <utility>

#include "firn/iceberg/scan/arrow_error.h"
#include "firn/runtime/fault_point.h"
#include "firn/write/file_metrics.h"

namespace firn::write {

using iceberg::CatchParquet;

namespace {

constexpr int64_t kMaxSliceRows = 64 << 10;
constexpr int64_t kMinSliceBytes = 64 << 10;
constexpr int64_t kLearnFromBytes = 64 << 10;  // smaller row groups say little

Result<int64_t> BytesOf(const arrow::RecordBatch& rows) {
  FIRN_ARROW_ASSIGN(const int64_t bytes, arrow::util::ReferencedBufferSize(rows));
  return bytes;
}

}  // namespace

/// Stands between Arrow's writer and Parquet's only to see the open row group, which alone knows how much is
/// encoded.
class DataFileWriter::Contents : public parquet::ParquetFileWriter::Contents {
 public:
  Contents(std::unique_ptr<parquet::ParquetFileWriter> inner, const FileFormat& format,
           parquet::RowGroupWriter** row_group)
      : parquet::ParquetFileWriter::Contents(format.parquet_schema, format.key_value_metadata),
        inner_(std::move(inner)),
        row_group_(row_group) {}

  void Close() override {
    *row_group_ = nullptr;
    inner_->Close();
    file_metadata_ = inner_->metadata();
  }
  parquet::RowGroupWriter* AppendRowGroup() override { return *row_group_ = inner_->AppendRowGroup(); }
  parquet::RowGroupWriter* AppendBufferedRowGroup() override {
    return *row_group_ = inner_->AppendBufferedRowGroup();
  }
  int64_t num_rows() const override { return inner_->num_rows(); }
  int num_columns() const override { return inner_->num_columns(); }
  int num_row_groups() const override { return inner_->num_row_groups(); }
  const std::shared_ptr<parquet::WriterProperties>& properties() const override {
    return inner_->properties();
  }
  void AddKeyValueMetadata(const std::shared_ptr<const arrow::KeyValueMetadata>& metadata) override {
    inner_->AddKeyValueMetadata(metadata);
  }

 private:
  std::unique_ptr<parquet::ParquetFileWriter> inner_;
  parquet::RowGroupWriter** row_group_;
};

DataFileWriter::DataFileWriter(const FileFormat& format, std::string location, EncodingRatio* ratio,
                               arrow::MemoryPool* pool)
    : format_(format),
      location_(std::move(location)),
      ratio_(ratio),
      pool_(pool),
      nans_(format.schema, pool) {}

DataFileWriter::~DataFileWriter() { Discard(); }

Result<std::unique_ptr<DataFileWriter>> DataFileWriter::Open(const FileFormat& format, store::Store& store,
                                                             const std::string& location,
                                                             EncodingRatio* ratio, arrow::MemoryPool* pool) {
  FIRN_FAULT_POINT(data_file_before_create);
  std::unique_ptr<DataFileWriter> writer(new DataFileWriter(format, location, ratio, pool));
  FIRN_ASSIGN_CTX(writer->object_, store.Create(location, store::IfExists::kFail), "data file " + location);
  writer->stream_ = std::make_shared<iceberg::StoreOutputStream>(writer->object_.get());
  FIRN_TRY_CTX(writer->OpenParquet(), "data file " + location);
  return writer;
}

Status DataFileWriter::OpenParquet() {
  return CatchParquet([&]() -> Status {
    auto properties = parquet::WriterProperties::Builder(*format_.properties).memory_pool(&pool_)->build();
    auto inner = parquet::ParquetFileWriter::Open(stream_, format_.parquet_schema, std::move(properties),
                                                  format_.key_value_metadata);
    auto outer = std::make_unique<parquet::ParquetFileWriter>();
    outer->Open(std::make_unique<Contents>(std::move(inner), format_, &row_group_));
    FIRN_ARROW_TRY(parquet::arrow::FileWriter::Make(&pool_, std::move(outer), format_.arrow_schema,
                                                    parquet::default_arrow_writer_properties(), &writer_));
    return Ok();
  });
}

Result<int64_t> DataFileWriter::Write(const arrow::RecordBatch& rows) {
  FIRN_FAULT_POINT(data_file_during_write);
  FIRN_ASSIGN(const int64_t bytes, BytesOf(rows));
  const int64_t check_bytes =
      std::max(kMinSliceBytes, std::min(format_.row_group_size_bytes, format_.target_file_size_bytes) / 8);
  const int64_t slices = std::max<int64_t>(1, bytes / check_bytes);
  const int64_t slice_rows = std::clamp<int64_t>(rows.num_rows() / slices, 1, kMaxSliceRows);
  int64_t begin = 0;
  while (begin < rows.num_rows() && !full()) {
    const auto slice = rows.Slice(begin, slice_rows);
    FIRN_TRY_CTX(WriteSlice(*slice, bytes * slice->num_rows() / rows.num_rows()), "data file " + location_);
    begin += slice->num_rows();
  }
  return begin;
}

Status DataFileWriter::WriteSlice(const arrow::RecordBatch& rows, int64_t bytes) {
  if (group_bytes() >= format_.row_group_size_bytes) FIRN_TRY(StartRowGroup());
  FIRN_TRY(nans_.Add(rows));
  group_memory_bytes_ += bytes;
  return CatchParquet([&]() -> Status {
    FIRN_ARROW_TRY(writer_->WriteRecordBatch(rows));
    rows_ += rows.num_rows();
    return Ok();
  });
}

Status DataFileWriter::StartRowGroup() {
  FIRN_TRY(CatchParquet([&]() -> Status {
    FIRN_ARROW_TRY(writer_->NewBufferedRowGroup());  // writes the one before
    return Ok();
  }));
  LearnRatio();
  group_begin_ = stream_->Tell().ValueUnsafe();
  group_memory_bytes_ = 0;
  return Ok();
}

void DataFileWriter::LearnRatio() {
  if (group_memory_bytes_ < kLearnFromBytes) return;
  const int64_t encoded = stream_->Tell().ValueUnsafe() - group_begin_;
  ratio_->encoded_per_byte = static_cast<double>(encoded) / static_cast<double>(group_memory_bytes_);
}

int64_t DataFileWriter::group_bytes() const {
  if (row_group_ == nullptr) return 0;
  const int64_t pages = row_group_->total_compressed_bytes() + row_group_->total_compressed_bytes_written();
  return std::max(pages,
                  static_cast<int64_t>(ratio_->encoded_per_byte * static_cast<double>(group_memory_bytes_)));
}

int64_t DataFileWriter::estimated_bytes() const { return group_begin_ + group_bytes(); }

Result<iceberg::DataFile> DataFileWriter::Finish(const iceberg::MetricsConfig& modes) {
  FIRN_TRY_CTX(CatchParquet([&]() -> Status {
                 FIRN_ARROW_TRY(writer_->Close());
                 return Ok();
               }),
               "data file " + location_);
  LearnRatio();
  FIRN_ASSIGN(iceberg::DataFile file, CatchParquet([&] {
                return DescribeFile(*writer_->metadata(), *format_.schema, modes, nans_.counts());
              }));
  file.file_path = location_;
  file.file_size_bytes = object_->bytes_written();
  FIRN_TRY_CTX(object_->Finish(), "data file " + location_);
  object_.reset();
  FIRN_FAULT_POINT(data_file_after_finish);
  return file;
}

void DataFileWriter::Discard() noexcept {
  if (stream_ != nullptr) stream_->Detach();
  writer_.reset();
  if (object_ != nullptr) object_->Discard();
  object_.reset();
}

}  // namespace firn::write
