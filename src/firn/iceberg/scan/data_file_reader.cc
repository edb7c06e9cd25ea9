#include "firn/iceberg/scan/data_file_reader.h"

#include <arrow/io/caching.h>
#include <arrow/memory_pool.h>
#include <arrow/record_batch.h>
#include <parquet/arrow/reader.h>
#include <parquet/file_reader.h>
#include <parquet/metadata.h>
#include <parquet/properties.h>

#include <algorithm>
#include <utility>

#include "firn/iceberg/scan/arrow_error.h"
#include "firn/iceberg/scan/file_schema.h"
#include "firn/iceberg/scan/store_file.h"

namespace firn::iceberg {

namespace {

/// Column chunks are fetched when they are needed, neighbours with one request.
arrow::io::CacheOptions Coalescing(int64_t cheap_gap_bytes) {
  arrow::io::CacheOptions options = arrow::io::CacheOptions::LazyDefaults();
  options.hole_size_limit = cheap_gap_bytes;
  return options;
}

parquet::ArrowReaderProperties ReaderProperties(int64_t batch_rows, int64_t cheap_gap_bytes) {
  parquet::ArrowReaderProperties properties(/*use_threads=*/false);
  properties.set_batch_size(batch_rows);
  properties.set_pre_buffer(true);
  properties.set_cache_options(Coalescing(cheap_gap_bytes));
  properties.set_coerce_int96_timestamp_unit(arrow::TimeUnit::MICRO);
  return properties;
}

}  // namespace

DataFileReader::DataFileReader(std::string location, DataFileReadOptions options)
    : location_(std::move(location)), options_(std::move(options)) {}

DataFileReader::~DataFileReader() = default;

Result<std::unique_ptr<DataFileReader>> DataFileReader::Open(store::Store& store, const std::string& location,
                                                             DataFileReadOptions options) {
  if (options.pool == nullptr) options.pool = arrow::default_memory_pool();
  std::unique_ptr<DataFileReader> reader(new DataFileReader(location, std::move(options)));
  FIRN_TRY_CTX(CatchParquet([&] { return reader->OpenParquet(store); }), "data file " + location);
  return reader;
}

Status DataFileReader::OpenParquet(store::Store& store) {
  FIRN_ASSIGN(auto object, store.Open(location_));
  const int64_t cheap_gap_bytes = object->cheap_gap_bytes();
  parquet::arrow::FileReaderBuilder builder;
  FIRN_ARROW_TRY(
      builder.Open(std::make_shared<StoreFile>(std::move(object)), parquet::ReaderProperties(options_.pool)));
  builder.memory_pool(options_.pool)->properties(ReaderProperties(options_.batch_rows, cheap_gap_bytes));
  FIRN_ARROW_TRY(builder.Build(&file_));
  FIRN_ASSIGN(const auto fields, ReadFileSchema(file_->manifest(), options_.name_mapping));
  FIRN_ASSIGN(projection_, Projection::Make(*options_.schema, fields, options_.constants));
  total_rows_ = file_->parquet_reader()->metadata()->num_rows();
  return Ok();
}

Result<std::shared_ptr<arrow::RecordBatch>> DataFileReader::Next() {
  auto rows = CatchParquet([&] { return projection_.leaves().empty() ? NextConstant() : NextStored(); });
  if (!rows.ok()) return Error(std::move(rows).error()).WithContext("data file " + location_);
  if (*rows != nullptr) position_ += (*rows)->num_rows();
  return rows;
}

Result<std::shared_ptr<arrow::RecordBatch>> DataFileReader::NextStored() {
  while (true) {
    if (group_ == nullptr) {
      if (next_group_ == file_->num_row_groups()) return std::shared_ptr<arrow::RecordBatch>();
      FIRN_ARROW_ASSIGN(group_, file_->GetRecordBatchReader({next_group_++}, projection_.leaves()));
    }
    std::shared_ptr<arrow::RecordBatch> rows;
    FIRN_ARROW_TRY(group_->ReadNext(&rows));
    if (rows != nullptr) return projection_.Apply(rows.get(), rows->num_rows(), options_.pool);
    group_.reset();
  }
}

Result<std::shared_ptr<arrow::RecordBatch>> DataFileReader::NextConstant() {
  const int64_t length = std::min(options_.batch_rows, total_rows_ - position_);
  if (length <= 0) return std::shared_ptr<arrow::RecordBatch>();
  return projection_.Apply(nullptr, length, options_.pool);
}

}  // namespace firn::iceberg
