#include <gtest/gtest.h>

#include <string>

#include "firn/decode/csv/csv_test_support.h"

namespace firn::decode {
namespace {

using testing::ReadAll;
using testing::Values;
using Texts = std::vector<std::string>;

TEST(CsvFormatTest, EveryKindOfLineBreakEndsARecord) {
  const auto file = ReadAll({}, "h\n1\r\n2\r3\n\n4");
  EXPECT_EQ(Values(file.raw), (Texts{"1", "2", "3", "4"}));
  EXPECT_EQ(file.raw.lines, (std::vector<int64_t>{2, 3, 4, 6}));
  EXPECT_EQ(file.raw.file->schema, "h");
}

TEST(CsvFormatTest, LineBreaksInQuotesBelongToTheField) {
  const auto file = ReadAll({}, "h\n\"a\nb\r\nc\",1\nd,2\n");
  EXPECT_EQ(Values(file.raw), (Texts{"\"a\nb\r\nc\",1", "d,2"}));
  EXPECT_EQ(file.raw.lines, (std::vector<int64_t>{2, 5}));
}

TEST(CsvFormatTest, AQuoteInsideAFieldOpensNothing) {
  EXPECT_EQ(Values(ReadAll({}, "h\n5\" pipe,1\nb,2\n").raw), (Texts{"5\" pipe,1", "b,2"}));
}

TEST(CsvFormatTest, CommentsAndBlankLinesArePassedOver) {
  CsvDialect dialect;
  dialect.comment = '#';
  const auto file = ReadAll(dialect, "# made by \"hand\nh\n\n1\n#2\n3");
  EXPECT_EQ(Values(file.raw), (Texts{"1", "3"}));
  EXPECT_EQ(file.raw.lines, (std::vector<int64_t>{4, 6}));
}

TEST(CsvFormatTest, WithTrimASpaceBeforeTheQuoteDoesNotHideIt) {
  CsvDialect dialect;
  dialect.trim = true;
  EXPECT_EQ(Values(ReadAll(dialect, "h\n \"a\nb\" ,1\n  \n2,2\n").raw), (Texts{" \"a\nb\" ,1", "2,2"}));
}

TEST(CsvFormatTest, AFileWithoutHeaderBeginsWithARecord) {
  CsvDialect dialect;
  dialect.header = false;
  const auto file = ReadAll(dialect,
                            "\xEF\xBB\xBF"
                            "1,2\n");
  EXPECT_EQ(Values(file.raw), (Texts{"1,2"}));
  EXPECT_EQ(file.raw.file->schema, "");
}

TEST(CsvFormatTest, EmptyFilesAndLoneHeadersHaveNoRecords) {
  for (const char* bytes : {"", "\n\n", "a,b", "a,b\r\n"}) EXPECT_TRUE(ReadAll({}, bytes).raw.values.empty());
}

TEST(CsvFormatTest, AQuoteWithoutEndCostsAtMostTheBound) {
  CsvDialect dialect;
  dialect.max_record_bytes = 64;
  std::string bytes = "h\n1\n\"open\n";
  for (int i = 0; i < 20; ++i) bytes += "line " + std::to_string(i) + "\n";
  const auto values = Values(ReadAll(dialect, bytes).raw);
  EXPECT_EQ(values[0], "1");
  EXPECT_TRUE(values[1].starts_with("\"open\nline 0\n"));
  EXPECT_LT(values[1].size(), 64U);
  EXPECT_EQ(values.back(), "line 19");
  std::string all;
  for (const std::string& value : values) all += value + "\n";
  EXPECT_EQ("h\n" + all, bytes);
}

TEST(CsvFormatTest, LinesStayRightBehindAnOverlongRecord) {
  CsvDialect dialect;
  dialect.max_record_bytes = 16;
  const auto file = ReadAll(
      dialect, "h\n" + std::string(40, 'x') + "\n2\n\"" + std::string(6, 'y') + "\nzzzzzzzzzzzzzz\nlast\n");
  EXPECT_EQ(Values(file.raw), (Texts{std::string(16, 'x'), "2", "\"yyyyyy", "zzzzzzzzzzzzzz", "last"}));
  EXPECT_EQ(file.raw.lines, (std::vector<int64_t>{2, 3, 4, 5, 6}));
}

TEST(CsvFormatTest, RecordsBeforeTheStartArePassedOverWithoutAByte) {
  const auto file = ReadAll({}, "h\n1\n2\n3\n", {.record = 2});
  EXPECT_EQ(Values(file.raw), (Texts{"3"}));
  EXPECT_EQ(file.positions.back().record, 3);
}

TEST(CsvFormatTest, ReadingGoesOnFarBehindTheBeginning) {
  std::string bytes = "h\n";
  for (int i = 0; i < 200'000; ++i) bytes += std::to_string(i) + "\n";
  const auto at = static_cast<int64_t>(bytes.find("\n150000\n")) + 1;
  const auto file = ReadAll({}, bytes, {.record = 150'000, .byte = at, .line = 150'001});
  EXPECT_EQ(file.raw.value(0), "150000");
  EXPECT_EQ(file.raw.lines.at(0), 150'002);
  EXPECT_EQ(file.raw.values.size(), 50'000U);
}

TEST(CsvFormatTest, AFileThatIsShorterThanItWasIsAnError) {
  const auto reader = MakeCsvFormat({})->Open("f.csv", nullptr,
                                              std::make_unique<record::TextStream>("h\n1\n", testing::kPiece),
                                              {.record = 9, .byte = 90'000'000, .line = 10});
  ASSERT_FALSE(reader.ok());
  EXPECT_EQ(reader.error().kind(), ErrorKind::kCorrupt);
  EXPECT_NE(reader.error().ToString().find("f.csv"), std::string::npos);
}

TEST(CsvFormatTest, AnotherEncodingsByteOrderMarkIsAnErrorWithARemedy) {
  const auto reader = MakeCsvFormat({})->Open("f.csv", nullptr,
                                              std::make_unique<record::TextStream>(std::string("\xFF\xFE"
                                                                                               "a\0",
                                                                                               4),
                                                                                   testing::kPiece),
                                              {});
  ASSERT_FALSE(reader.ok());
  EXPECT_NE(reader.error().ToString().find("encoding: utf-16le"), std::string::npos);
}

}  // namespace
}  // namespace firn::decode
