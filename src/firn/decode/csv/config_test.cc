#include "firn/decode/csv/config.h"

#include <gtest/gtest.h>

#include <string>

#include "firn/config/load.h"

namespace firn::decode {
namespace {

/// The problems, or nothing.
std::string Read(const std::string& yaml, CsvDialect* dialect) {
  config::Problems problems;
  const auto node = config::LoadText(yaml, "x.yaml", config::SystemEnvironment(), problems);
  if (node) ReadCsvConfig(*node, problems, dialect);
  return problems.ToString();
}

TEST(CsvConfigTest, EveryKeyIsRead) {
  CsvDialect dialect;
  EXPECT_EQ(
      Read(R"({format: csv, delimiter: tab, quote: none, escape: backslash, header: false, columns: [a, b],
                     comment: "#", null_text: "NULL", trim: true, encoding: windows-1252,
                     ragged_rows: allow_missing_trailing, max_record_bytes: 2KiB})",
           &dialect),
      "");
  EXPECT_EQ(dialect.delimiter, '\t');
  EXPECT_FALSE(dialect.quote.has_value());
  EXPECT_TRUE(dialect.backslash_escapes);
  EXPECT_EQ(dialect.header, false);
  EXPECT_EQ(dialect.columns.size(), 2U);
  EXPECT_EQ(dialect.comment, '#');
  EXPECT_EQ(dialect.null_text, "NULL");
  EXPECT_TRUE(dialect.trim);
  EXPECT_EQ(dialect.encoding, CsvEncoding::kWindows1252);
  EXPECT_EQ(dialect.ragged_rows, RaggedRows::kAllowMissingTrailing);
  EXPECT_EQ(dialect.max_record_bytes, 2048);
}

TEST(CsvConfigTest, TheDefaultsAreRfc4180) {
  CsvDialect dialect;
  EXPECT_EQ(Read("{format: csv}", &dialect), "");
  EXPECT_EQ(dialect.delimiter, ',');
  EXPECT_EQ(dialect.quote, '"');
  EXPECT_TRUE(dialect.has_header(/*in_file=*/true));
  EXPECT_FALSE(dialect.has_header(/*in_file=*/false));
}

TEST(CsvConfigTest, CharactersThatCannotBeToldApartAreProblems) {
  CsvDialect dialect;
  for (const char* yaml :
       {"{delimiter: ',', quote: ','}", "{delimiter: '1'}", "{delimiter: '||'}",
        "{delimiter: ','\n, comment: ','}", "{columns: [a, a]}", "{delimiter: \"\\\\\"}"}) {
    EXPECT_NE(Read(yaml, &dialect), "") << yaml;
  }
}

}  // namespace
}  // namespace firn::decode
