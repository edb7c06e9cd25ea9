#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <sstream>
#include <string>

#include <nlohmann/json.hpp>

#include "firn/decode/csv/csv_decoder.h"
#include "firn/decode/csv/csv_test_support.h"

// Files that Python's csv module wrote (test/golden/csv/make.py), in many dialects, with every character that
// matters in their fields.
namespace firn::decode {
namespace {

using testing::Field;
using testing::MakeSchema;
using testing::Primitive;

std::string FileText(const std::string& name) {
  const std::ifstream in(std::string(FIRN_SOURCE_DIR) + "/test/golden/csv/" + name, std::ios::binary);
  EXPECT_TRUE(in.good()) << name;
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

CsvDialect Base() {
  CsvDialect dialect;
  dialect.null_text = "NULL";
  return dialect;
}

CsvDialect With(void (*change)(CsvDialect&)) {
  CsvDialect dialect = Base();
  change(dialect);
  return dialect;
}

/// The settings of make.py's DIALECTS.
const std::map<std::string, CsvDialect>& Dialects() {
  static const std::map<std::string, CsvDialect> dialects = {
      {"rfc4180", Base()},
      {"bom", Base()},
      {"tabs", With([](CsvDialect& d) { d.delimiter = '\t'; })},
      {"all_quoted", Base()},
      {"carriage_returns", Base()},
      {"semicolons", With([](CsvDialect& d) { d.delimiter = ';', d.quote = '\''; })},
      {"backslash", With([](CsvDialect& d) { d.backslash_escapes = true; })},
      {"no_quotes", With([](CsvDialect& d) {
         d.backslash_escapes = true;
         d.quote = std::nullopt;
         d.delimiter = '|';
       })},
      {"utf16le", With([](CsvDialect& d) { d.encoding = CsvEncoding::kUtf16Le; })},
      {"utf16be", With([](CsvDialect& d) { d.encoding = CsvEncoding::kUtf16Be; })},
      {"latin1", With([](CsvDialect& d) { d.encoding = CsvEncoding::kLatin1; })},
      {"windows1252", With([](CsvDialect& d) { d.encoding = CsvEncoding::kWindows1252; })},
  };
  return dialects;
}

BoundSchema Bound() {
  BoundSchema bound;
  bound.schema = MakeSchema({Field(1, "id", Primitive("string")), Field(2, "a", Primitive("string")),
                             Field(3, "b", Primitive("string")), Field(4, "c", Primitive("string"))});
  return bound;
}

std::vector<std::string> Expected(const std::string& name) {
  std::vector<std::string> rows;
  for (const auto& row : nlohmann::json::parse(FileText(name + ".json"))) {
    const nlohmann::json object = {{"id", row[0]}, {"a", row[1]}, {"b", row[2]}, {"c", row[3]}};
    rows.push_back(object.dump());
  }
  return rows;
}

class CsvGoldenTest : public ::testing::TestWithParam<std::string> {};

TEST_P(CsvGoldenTest, FileIsReadAsPythonWroteIt) {
  const CsvDialect& dialect = Dialects().at(GetParam());
  const auto file = testing::ReadAll(dialect, FileText(GetParam() + ".csv"));
  const DecodeResult result = testing::DecodeWith(MakeCsvDecoder(dialect, Bound()), file.raw);
  EXPECT_TRUE(result.dead_letters.empty());
  EXPECT_EQ(testing::Rows(result), Expected(GetParam()));
}

TEST_P(CsvGoldenTest, ReadingGoesOnAtEveryRecord) {
  const CsvDialect& dialect = Dialects().at(GetParam());
  const std::string bytes = FileText(GetParam() + ".csv");
  const auto whole = testing::ReadAll(dialect, bytes);
  const std::vector<std::string> all = testing::Values(whole.raw);
  for (size_t i = 0; i < whole.positions.size(); i += 7) {
    const auto rest = testing::ReadAll(dialect, bytes, whole.positions[i]);
    EXPECT_EQ(testing::Values(rest.raw),
              std::vector<std::string>(all.begin() + static_cast<std::ptrdiff_t>(i) + 1, all.end()));
    EXPECT_EQ(rest.raw.lines,
              std::vector<int64_t>(whole.raw.lines.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                                   whole.raw.lines.end()));
  }
}

INSTANTIATE_TEST_SUITE_P(Dialects, CsvGoldenTest,
                         ::testing::Values("rfc4180", "bom", "tabs", "all_quoted", "carriage_returns",
                                           "semicolons", "backslash", "no_quotes", "utf16le", "utf16be",
                                           "latin1", "windows1252"),
                         [](const auto& dialect) { return dialect.param; });

}  // namespace
}  // namespace firn::decode
