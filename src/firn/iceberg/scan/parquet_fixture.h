#pragma once

#include <arrow/api.h>
#include <arrow/io/memory.h>
#include <gtest/gtest.h>
#include <parquet/arrow/writer.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "firn/iceberg/model/schema.h"
#include "firn/iceberg/model/test_field.h"
#include "firn/iceberg/scan/arrow_schema.h"
#include "firn/store/memory/memory_store.h"

namespace firn::iceberg::testing {

inline TypePtr Of(TypeId id) { return Type::Primitive(id); }

inline SchemaPtr SchemaOf(std::vector<NestedField> fields) {
  return std::make_shared<const Schema>(0, std::move(fields));
}

template <typename Builder, typename Value>
std::shared_ptr<arrow::Array> ArrayOf(Builder builder, const std::vector<Value>& values) {
  for (const Value& value : values) {
    const arrow::Status appended = builder.Append(value);
    EXPECT_TRUE(appended.ok()) << appended.ToString();
  }
  return builder.Finish().ValueOrDie();
}

inline std::shared_ptr<arrow::Array> Ints(const std::vector<int32_t>& values) {
  return ArrayOf(arrow::Int32Builder(), values);
}
inline std::shared_ptr<arrow::Array> Longs(const std::vector<int64_t>& values) {
  return ArrayOf(arrow::Int64Builder(), values);
}
inline std::shared_ptr<arrow::Array> Texts(const std::vector<std::string>& values) {
  return ArrayOf(arrow::StringBuilder(), values);
}

/// Rows under the names and field ids of a schema.
inline std::shared_ptr<arrow::RecordBatch> Rows(const SchemaPtr& schema, arrow::ArrayVector columns) {
  const int64_t length = columns[0]->length();
  return arrow::RecordBatch::Make(ToArrowSchema(*schema).value(), length, std::move(columns));
}

struct ParquetStyle {
  int64_t row_group_rows = 1 << 20;
  bool store_arrow_schema = false;
  bool int96 = false;
};

/// The bytes of a Parquet file as Arrow (not Firn) writes it.
inline std::string ParquetBytes(const std::shared_ptr<arrow::RecordBatch>& rows, ParquetStyle style = {}) {
  const auto table = arrow::Table::FromRecordBatches({rows}).ValueOrDie();
  const auto sink = arrow::io::BufferOutputStream::Create().ValueOrDie();
  parquet::ArrowWriterProperties::Builder arrow_properties;
  if (style.store_arrow_schema) arrow_properties.store_schema();
  if (style.int96) arrow_properties.enable_deprecated_int96_timestamps();
  const arrow::Status written =
      parquet::arrow::WriteTable(*table, arrow::default_memory_pool(), sink, style.row_group_rows,
                                 parquet::default_writer_properties(), arrow_properties.build());
  EXPECT_TRUE(written.ok()) << written.ToString();
  return sink->Finish().ValueOrDie()->ToString();
}

inline void PutParquet(store::Store& store, const std::string& location,
                       const std::shared_ptr<arrow::RecordBatch>& rows, ParquetStyle style = {}) {
  const Status written = store.WriteAll(location, ParquetBytes(rows, style), store::IfExists::kReplace);
  EXPECT_TRUE(written.ok());
}

/// Batches as one; null where there are none.
inline std::shared_ptr<arrow::RecordBatch> Join(
    const std::vector<std::shared_ptr<arrow::RecordBatch>>& batches) {
  if (batches.empty()) return nullptr;
  return arrow::Table::FromRecordBatches(batches).ValueOrDie()->CombineChunksToBatch().ValueOrDie();
}

}  // namespace firn::iceberg::testing
