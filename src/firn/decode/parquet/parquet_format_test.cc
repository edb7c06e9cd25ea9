#include "firn/decode/parquet/parquet_format.h"

#include <arrow/api.h>
#include <gtest/gtest.h>

#include <numeric>
#include <string>

#include "firn/decode/parquet/parquet_test_support.h"
#include "firn/iceberg/scan/parquet_fixture.h"

namespace firn::decode {
namespace {

std::string NumberedRows(int64_t count) {
  std::vector<int64_t> ids(static_cast<size_t>(count));
  std::iota(ids.begin(), ids.end(), 0);
  const auto schema = arrow::schema({arrow::field("id", arrow::int64())});
  const auto rows = arrow::RecordBatch::Make(schema, count, {iceberg::testing::Longs(ids)});
  return iceberg::testing::ParquetBytes(rows, {.row_group_rows = 300});
}

std::vector<int64_t> Ids(const std::vector<record::RawBatch>& batches) {
  std::vector<int64_t> ids;
  for (const auto& raw : batches) {
    const auto& column = static_cast<const arrow::Int64Array&>(*raw.rows->column(0));
    for (int64_t i = 0; i < column.length(); ++i) ids.push_back(column.Value(i));
  }
  return ids;
}

TEST(ParquetFormatTest, ReadingGoesOnAtAnyRow) {
  const std::string bytes = NumberedRows(1000);
  for (const int64_t start : {0, 1, 299, 300, 301, 600, 999, 1000}) {
    const auto batches = testing::ReadParquet(bytes, start, 70);
    std::vector<int64_t> expected(static_cast<size_t>(1000 - start));
    std::iota(expected.begin(), expected.end(), start);
    EXPECT_EQ(Ids(batches), expected) << start;
    if (!batches.empty()) {
      EXPECT_EQ(batches[0].lines[0], start + 1);
    }
  }
}

TEST(ParquetFormatTest, BatchesKeepTheirLimits) {
  for (const auto& raw : testing::ReadParquet(NumberedRows(1000), 0, 64)) {
    EXPECT_LE(raw.values.size(), 64U);
    EXPECT_EQ(static_cast<int64_t>(raw.values.size()), raw.rows->num_rows());
    EXPECT_TRUE(raw.values[0].is_null());
  }
}

TEST(ParquetFormatTest, AFileThatIsShorterThanItWasIsAnError) {
  EXPECT_EQ(testing::OpenParquet(NumberedRows(10), 11).error().kind(), ErrorKind::kCorrupt);
}

TEST(ParquetFormatTest, DamagedFilesAreNamedWithWhatIsWrong) {
  const std::string whole = NumberedRows(100);
  const auto error_of = [](const std::string& bytes) {
    const auto reader = testing::OpenParquet(bytes);
    return reader.ok() ? std::string() : reader.error().ToString();
  };
  for (const std::string& bytes : {std::string(), std::string("PAR1"), whole.substr(0, whole.size() / 2),
                                   whole.substr(1), "PAR1" + std::string(100, 'x') + "PAR1"}) {
    EXPECT_NE(error_of(bytes).find("f.parquet"), std::string::npos) << error_of(bytes);
  }
  EXPECT_NE(error_of(whole.substr(0, whole.size() - 10)).find("cut off"), std::string::npos);
}

TEST(ParquetFormatTest, NoCutOfAFileIsTakenForAFile) {
  const std::string whole = NumberedRows(20);
  for (size_t length = 0; length < whole.size(); ++length)
    EXPECT_FALSE(testing::OpenParquet(whole.substr(0, length)).ok()) << length;
}

TEST(ParquetFormatTest, FlippedBytesNeverCrash) {
  const std::string whole = NumberedRows(50);
  for (size_t i = 0; i < whole.size(); ++i) {
    std::string damaged = whole;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x5A);
    auto reader = testing::OpenParquet(damaged);
    record::RawBatch raw;
    if (reader.ok()) Ignore((*reader)->Read(100, 1 << 20, &raw));
  }
}

}  // namespace
}  // namespace firn::decode
