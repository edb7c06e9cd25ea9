#include <arrow/buffer.h>
#include <arrow/io/memory.h>
#include <gtest/gtest.h>
#include <parquet/column_page.h>
#include <parquet/column_reader.h>
#include <parquet/file_reader.h>
#include <parquet/metadata.h>
#include <parquet/schema.h>

#include "firn/iceberg/model/update.h"
#include "firn/store/memory/memory_store.h"
#include "firn/write/parquet_schema.h"
#include "firn/write/random_rows.h"
#include "firn/write/writer.h"

namespace firn::write {
namespace {

using iceberg::Schema;
using iceberg::SchemaPtr;
using testing::Field;
using testing::RandomRows;
using testing::Type;
using testing::TypeId;

std::string SchemaText(const Schema& schema) {
  auto root = MakeParquetSchema(schema);
  EXPECT_TRUE(root.ok());
  std::ostringstream text;
  parquet::schema::PrintSchema(root->get(), text);
  return text.str();
}

TEST(ParquetSchemaTest, FollowsTheFormatsMapping) {
  const Schema schema(
      0, {Field(1, "d9", Type::Decimal(9, 2), true), Field(2, "d18", Type::Decimal(18, 2)),
          Field(3, "d19", Type::Decimal(19, 2)), Field(4, "u", Type::Primitive(TypeId::kUuid)),
          Field(5, "t", Type::Primitive(TypeId::kTime)), Field(6, "ts", Type::Primitive(TypeId::kTimestamp)),
          Field(7, "tz", Type::Primitive(TypeId::kTimestampTz)),
          Field(8, "l", Type::List(20, true, Type::Primitive(TypeId::kString))),
          Field(9, "m", Type::Map(21, Type::Primitive(TypeId::kInt), 22, false, Type::Fixed(3)))});
  const std::string text = SchemaText(schema);
  for (const char* part :
       {"required int32 field_id=1 d9 (Decimal(precision=9, scale=2))",
        "optional int64 field_id=2 d18 (Decimal(precision=18, scale=2))",
        "optional fixed_len_byte_array(9) field_id=3 d19 (Decimal(precision=19, scale=2))",
        "optional fixed_len_byte_array(16) field_id=4 u (UUID)",
        "field_id=5 t (Time(isAdjustedToUTC=false, timeUnit=microseconds))",
        "field_id=6 ts (Timestamp(isAdjustedToUTC=false, timeUnit=microseconds",
        "field_id=7 tz (Timestamp(isAdjustedToUTC=true, timeUnit=microseconds",
        "optional group field_id=8 l (List) {\n    repeated group field_id=-1 list {\n      required binary "
        "field_id=20 element (String);",
        "optional group field_id=9 m (Map) {\n    repeated group field_id=-1 key_value {\n      required "
        "int32 field_id=21 key;\n      optional fixed_len_byte_array(3) field_id=22 value;"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\nnot in\n" << text;
  }
}

TEST(ParquetSchemaTest, EmptyStructIsRefused) {
  const Schema schema(0, {Field(1, "s", Type::Struct({}))});
  EXPECT_EQ(MakeParquetSchema(schema).error().kind(), ErrorKind::kUnsupported);
}

/// Writes rows under the given properties and opens the file with the bare Parquet reader.
std::unique_ptr<parquet::ParquetFileReader> WriteAndOpen(const iceberg::Properties& properties,
                                                         int64_t rows) {
  const auto schema = std::make_shared<const Schema>(
      0, std::vector<testing::NestedField>{Field(1, "id", Type::Primitive(TypeId::kLong)),
                                           Field(2, "text", Type::Primitive(TypeId::kString)),
                                           Field(3, "key", Type::Primitive(TypeId::kUuid))});
  iceberg::NewTable table;
  table.uuid = "5d2d1f5e-8f4e-4f6e-9a51-0d3a4d8d2b11";
  table.location = "memory://wh/t";
  table.schema = schema;
  table.properties = properties;
  table.keep_field_ids = true;
  WriterContext context;
  context.table = std::make_shared<const iceberg::TableMetadata>(iceberg::NewTableMetadata(table, 1).value());
  const auto store = std::make_shared<store::MemoryStore>();
  context.store = store;
  context.operation_id = "op";
  const auto writer = MakeTableWriter(std::move(context)).value();
  EXPECT_TRUE(
      writer->Append({.rows = RandomRows(21).Batch(*schema, rows), .schema_id = 0, .input_bytes = 0}).ok());
  const auto files = writer->Finish().value();
  auto bytes = arrow::Buffer::FromString(store->ReadAll(files[0].file_path).value());
  return parquet::ParquetFileReader::Open(std::make_shared<arrow::io::BufferReader>(std::move(bytes)));
}

TEST(ParquetFileTest, DefaultsAreZstdWithDictionaryAndStatistics) {
  const auto reader = WriteAndOpen({}, 1000);
  const auto& footer = *reader->metadata();
  EXPECT_EQ(footer.num_row_groups(), 1);
  EXPECT_TRUE(footer.created_by().starts_with("firn "));
  const auto chunk = footer.RowGroup(0)->ColumnChunk(1);
  EXPECT_EQ(chunk->compression(), arrow::Compression::ZSTD);
  EXPECT_TRUE(chunk->has_dictionary_page());
  EXPECT_TRUE(chunk->is_stats_set());
  ASSERT_NE(footer.key_value_metadata(), nullptr);
  EXPECT_TRUE(footer.key_value_metadata()->Contains("iceberg.schema"));
  EXPECT_FALSE(footer.key_value_metadata()->Contains("ARROW:schema"));
}

TEST(ParquetFileTest, PropertiesChangeCodecDictionaryStatisticsAndPages) {
  const auto reader = WriteAndOpen({{"write.parquet.compression-codec", "SNAPPY"},
                                    {"write.parquet.dict-encoding-enabled.column.text", "false"},
                                    {"write.parquet.stats-enabled.column.id", "false"},
                                    {"write.parquet.page-row-limit", "100"},
                                    {"write.parquet.page-version", "v2"}},
                                   1000);
  const auto group = reader->metadata()->RowGroup(0);
  EXPECT_EQ(group->ColumnChunk(0)->compression(), arrow::Compression::SNAPPY);
  EXPECT_FALSE(group->ColumnChunk(0)->is_stats_set());
  EXPECT_FALSE(group->ColumnChunk(1)->has_dictionary_page());
  const auto pages = reader->RowGroup(0)->GetColumnPageReader(1);
  int count = 0;
  while (const auto page = pages->NextPage()) {
    EXPECT_EQ(page->type(), parquet::PageType::DATA_PAGE_V2);
    ++count;
  }
  EXPECT_EQ(count, 10);
}

TEST(ParquetFileTest, UuidsHaveNeitherStatisticsNorDictionaryUnlessAskedFor) {
  const auto plain_file = WriteAndOpen({}, 1000);
  const auto plain = plain_file->metadata()->RowGroup(0)->ColumnChunk(2);
  EXPECT_FALSE(plain->is_stats_set());
  EXPECT_FALSE(plain->has_dictionary_page());
  const auto asked_file = WriteAndOpen({{"write.parquet.stats-enabled.column.key", "true"},
                                        {"write.parquet.dict-encoding-enabled.column.key", "true"}},
                                       1000);
  const auto asked = asked_file->metadata()->RowGroup(0)->ColumnChunk(2);
  EXPECT_TRUE(asked->is_stats_set());
  EXPECT_TRUE(asked->has_dictionary_page());
}

TEST(ParquetFileTest, EveryCodecIsWritten) {
  for (const char* codec : {"zstd", "snappy", "gzip", "brotli", "lz4", "uncompressed"}) {
    const auto reader = WriteAndOpen({{"write.parquet.compression-codec", codec}}, 100);
    EXPECT_EQ(reader->metadata()->num_rows(), 100) << codec;
  }
}

}  // namespace
}  // namespace firn::write
