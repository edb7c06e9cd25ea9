#include "firn/decode/parquet/parquet_format.h"

#include <arrow/api.h>
#include <fmt/format.h>
#include <parquet/arrow/reader.h>
#include <parquet/file_reader.h>
#include <parquet/metadata.h>
#include <parquet/properties.h>
#include <parquet/schema.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "firn/iceberg/scan/arrow_error.h"
#include "firn/iceberg/scan/store_file.h"

namespace firn::decode {

namespace {

constexpr int64_t kBatchRows = 4096;
constexpr int64_t kStreamBytes = int64_t{256} << 10;
constexpr int64_t kSmallestFile = 12;  // mark, length of the footer, mark
constexpr int64_t kMarkBytes = 4;
constexpr int64_t kMinRowBytes = 16;

/// Lets a StoreFile own its part of a shared object.
class SharedObject : public store::RandomAccessObject {
 public:
  explicit SharedObject(std::shared_ptr<store::RandomAccessObject> object) : object_(std::move(object)) {}
  int64_t size_bytes() const override { return object_->size_bytes(); }
  Result<int64_t> ReadAt(int64_t offset, int64_t length, void* out) override {
    return object_->ReadAt(offset, length, out);
  }

 private:
  std::shared_ptr<store::RandomAccessObject> object_;
};

Result<std::string> MarkAt(store::RandomAccessObject& object, int64_t offset) {
  std::string mark(kMarkBytes, '\0');
  FIRN_ASSIGN(const int64_t read, object.ReadAt(offset, kMarkBytes, mark.data()));
  mark.resize(static_cast<size_t>(read));
  return mark;
}

/// What is wrong with files that were never finished, in better words than Parquet's.
Status CheckMarks(store::RandomAccessObject& object) {
  const int64_t size = object.size_bytes();
  if (size < kSmallestFile) {
    return Error(ErrorKind::kCorrupt, fmt::format("no Parquet file: it has {} bytes only", size))
        .WithRemedy("Write it again, or keep unfinished files out of the source's path.");
  }
  FIRN_ASSIGN(const std::string begin, MarkAt(object, 0));
  FIRN_ASSIGN(const std::string end, MarkAt(object, size - kMarkBytes));
  if (end == "PARE" || begin == "PARE")
    return Error(ErrorKind::kUnsupported, "the Parquet file is encrypted");
  if (begin != "PAR1") return Error(ErrorKind::kCorrupt, "no Parquet file: it does not begin with PAR1");
  if (end == "PAR1") return Ok();
  return Error(ErrorKind::kCorrupt,
               fmt::format("the Parquet file is half-written or cut off: its {} bytes do not end with PAR1",
                           size))
      .WithRemedy("Write it again, or keep unfinished files out of the source's path.");
}

std::string Int96Columns(const parquet::SchemaDescriptor& schema) {
  std::set<std::string> names;
  for (int i = 0; i < schema.num_columns(); ++i) {
    if (schema.Column(i)->physical_type() == parquet::Type::INT96)
      names.insert(schema.GetColumnRoot(i)->name());
  }
  std::string text;
  for (const std::string& name : names) text += name + "\n";
  return text;
}

class ParquetFileReader : public record::FileReader {
 public:
  explicit ParquetFileReader(std::string location) { origin_.location = std::move(location); }

  Status Open(std::shared_ptr<store::RandomAccessObject> object, int64_t start) {
    FIRN_TRY(CheckMarks(*object));
    parquet::ReaderProperties properties;
    properties.enable_buffered_stream();
    properties.set_buffer_size(kStreamBytes);
    parquet::ArrowReaderProperties arrow_properties(/*use_threads=*/false);
    arrow_properties.set_batch_size(kBatchRows);
    arrow_properties.set_pre_buffer(false);
    arrow_properties.set_coerce_int96_timestamp_unit(arrow::TimeUnit::MICRO);
    parquet::arrow::FileReaderBuilder builder;
    FIRN_ARROW_TRY(builder.Open(
        std::make_shared<iceberg::StoreFile>(std::make_unique<SharedObject>(std::move(object))), properties));
    builder.properties(arrow_properties);
    FIRN_ARROW_TRY(builder.Build(&file_));
    metadata_ = file_->parquet_reader()->metadata();
    int96_columns_ = Int96Columns(*metadata_->schema());
    return SkipTo(start);
  }

  Result<bool> Read(size_t max_records, size_t max_bytes, record::RawBatch* batch) override {
    if (max_records == 0) return true;
    auto rows = iceberg::CatchParquet([&] { return NextRows(max_records, max_bytes); });
    if (!rows.ok()) return Error(std::move(rows).error()).WithContext("file " + origin_.location);
    if (*rows == nullptr) return false;
    for (int64_t i = 0; i < (*rows)->num_rows(); ++i) {
      batch->values.emplace_back();
      batch->lines.push_back(row_ + i + 1);
    }
    row_ += (*rows)->num_rows();
    batch->rows = *std::move(rows);
    return true;
  }

  record::FilePosition position() const override { return {row_, 0, row_}; }
  const record::FileOrigin& origin() const override { return origin_; }

 private:
  using Rows = std::shared_ptr<arrow::RecordBatch>;

  /// Whole row groups are passed over without reading them.
  Status SkipTo(int64_t start) {
    if (start > metadata_->num_rows()) {
      return Error(ErrorKind::kCorrupt,
                   fmt::format("reading was to go on at row {}, but the file has {} rows", start,
                               metadata_->num_rows()));
    }
    while (group_ < metadata_->num_row_groups() && row_ + metadata_->RowGroup(group_)->num_rows() <= start)
      row_ += metadata_->RowGroup(group_++)->num_rows();
    while (row_ < start) {
      FIRN_ASSIGN(const Rows rows, NextRows(static_cast<size_t>(start - row_), SIZE_MAX));
      if (rows == nullptr) return Error(ErrorKind::kCorrupt, "the file has fewer rows than its footer says");
      row_ += rows->num_rows();
    }
    return Ok();
  }

  /// Null at the end.
  Result<Rows> NextRows(size_t max_records, size_t max_bytes) {
    while (pending_ == nullptr || pending_->num_rows() == 0) {
      FIRN_ASSIGN(const bool more, ReadPending());
      if (!more) return Rows();
    }
    const auto by_bytes = static_cast<int64_t>(max_bytes / static_cast<size_t>(row_bytes_));
    const int64_t most = std::max<int64_t>(1, std::min(static_cast<int64_t>(max_records), by_bytes));
    const Rows rows = pending_->Slice(0, most);
    pending_ = pending_->Slice(rows->num_rows());
    return rows;
  }

  Result<bool> ReadPending() {
    if (reader_ == nullptr) {
      if (group_ == metadata_->num_row_groups()) return false;
      const auto group = metadata_->RowGroup(group_);
      row_bytes_ = std::max(kMinRowBytes, group->total_byte_size() / std::max<int64_t>(1, group->num_rows()));
      FIRN_ARROW_ASSIGN(reader_, file_->GetRecordBatchReader({group_++}));
    }
    FIRN_ARROW_TRY(reader_->ReadNext(&pending_));
    if (pending_ == nullptr) {
      reader_.reset();
    } else if (!int96_columns_.empty()) {
      pending_ = pending_->ReplaceSchemaMetadata(
          arrow::key_value_metadata({std::string(kInt96Columns)}, {int96_columns_}));
    }
    return true;
  }

  record::FileOrigin origin_;
  std::unique_ptr<parquet::arrow::FileReader> file_;
  std::shared_ptr<parquet::FileMetaData> metadata_;
  std::string int96_columns_;
  std::unique_ptr<arrow::RecordBatchReader> reader_;  ///< of the row group before group_
  Rows pending_;
  int64_t row_bytes_ = kMinRowBytes;
  int group_ = 0;
  int64_t row_ = 0;
};

class ParquetFormat : public record::FileFormat {
 public:
  bool random_access() const override { return true; }

  Result<std::unique_ptr<record::FileReader>> Open(std::string location,
                                                   std::shared_ptr<store::RandomAccessObject> object,
                                                   std::unique_ptr<record::ByteStream> /*stream*/,
                                                   const record::FilePosition& start) override {
    auto reader = std::make_unique<ParquetFileReader>(location);
    FIRN_TRY_CTX(iceberg::CatchParquet([&] { return reader->Open(std::move(object), start.record); }),
                 "file " + location);
    return std::unique_ptr<record::FileReader>(std::move(reader));
  }
};

}  // namespace

std::shared_ptr<record::FileFormat> MakeParquetFormat() { return std::make_shared<ParquetFormat>(); }

}  // namespace firn::decode
