#include "firn/decode/json/json_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "firn/record/text_stream.h"

namespace firn::decode {
namespace {

using record::FilePosition;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct Split {
  std::vector<std::string> records;
  std::vector<int64_t> lines;
  FilePosition end;
  std::string error;
};

Split Read(const std::string& text, const FilePosition& start = {}, size_t piece = 7, size_t records = 2,
           size_t max_record_bytes = kMaxJsonRecordBytes) {
  Split split;
  auto format = MakeJsonFiles(max_record_bytes);
  auto reader =
      format->Open("/landing/a.json", nullptr, std::make_unique<record::TextStream>(text, piece), start);
  if (!reader.ok()) return {{}, {}, {}, reader.error().ToString()};
  for (bool more = true; more;) {
    record::RawBatch batch;
    auto read = (*reader)->Read(records, SIZE_MAX, &batch);
    for (size_t i = 0; i < batch.values.size(); ++i) split.records.emplace_back(batch.value(i));
    split.lines.insert(split.lines.end(), batch.lines.begin(), batch.lines.end());
    if (!read.ok()) split.error = read.error().ToString();
    more = read.ok() && *read;
  }
  split.end = (*reader)->position();
  return split;
}

/// From behind every record the rest is what it was.
void ExpectSameFromEveryPosition(const std::string& text) {
  const Split whole = Read(text);
  auto format = MakeJsonFiles();
  auto reader = format->Open("f", nullptr, std::make_unique<record::TextStream>(text, 1000), {});
  ASSERT_TRUE(reader.ok());
  for (size_t taken = 1; taken <= whole.records.size(); ++taken) {
    record::RawBatch batch;
    ASSERT_TRUE((*reader)->Read(1, SIZE_MAX, &batch).ok());
    const Split rest = Read(text, (*reader)->position());
    EXPECT_EQ(rest.error, "");
    EXPECT_EQ(rest.records, std::vector<std::string>(whole.records.begin() + static_cast<int64_t>(taken),
                                                     whole.records.end()));
    EXPECT_EQ(rest.lines,
              std::vector<int64_t>(whole.lines.begin() + static_cast<int64_t>(taken), whole.lines.end()));
    EXPECT_EQ(rest.end.record, whole.end.record);
  }
}

TEST(JsonFiles, LinesAreRecordsWhateverIsInThem) {
  const std::string text = "{\"a\":1}\r\n\n  \n{\"a\":\"{\"}\nnonsense {\n{\"a\":3}";
  const Split split = Read(text);
  EXPECT_THAT(split.records, ElementsAre("{\"a\":1}", "{\"a\":\"{\"}", "nonsense {", "{\"a\":3}"));
  EXPECT_THAT(split.lines, ElementsAre(1, 4, 5, 6));
  EXPECT_EQ(split.error, "");
  ExpectSameFromEveryPosition(text);
}

TEST(JsonFiles, ElementsOfAnArrayAreRecords) {
  const std::string text = "\xef\xbb\xbf [ {\"a\":\"]\\\"\"} ,\n{\"b\":[1,{\"c\":2}]},\n\n 7 ]\n ";
  const Split split = Read(text);
  EXPECT_EQ(split.error, "");
  EXPECT_THAT(split.records, ElementsAre("{\"a\":\"]\\\"\"}", "{\"b\":[1,{\"c\":2}]}", "7"));
  EXPECT_THAT(split.lines, ElementsAre(1, 2, 4));
  ExpectSameFromEveryPosition(text);
  EXPECT_TRUE(Read("[]").records.empty());
  EXPECT_EQ(Read("[]").error, "");
}

TEST(JsonFiles, ValuesSpreadOverLinesOrWithoutSpace) {
  const std::string pretty = "{\n  \"a\": 1,\n  \"b\": {\"c\": \"}\"}\n}\n{\n  \"a\": 2\n}\n";
  EXPECT_THAT(Read(pretty).records,
              ElementsAre("{\n  \"a\": 1,\n  \"b\": {\"c\": \"}\"}\n}", "{\n  \"a\": 2\n}"));
  EXPECT_THAT(Read(pretty).lines, ElementsAre(1, 5));
  ExpectSameFromEveryPosition(pretty);
  EXPECT_THAT(Read("{\"a\":1}{\"a\":2} {\"a\":3}").records,
              ElementsAre("{\"a\":1}", "{\"a\":2}", "{\"a\":3}"));
}

TEST(JsonFiles, AMarkOfTheByteOrderIsPassedOver) {
  EXPECT_THAT(Read("\xef\xbb\xbf{\"a\":1}\n{\"a\":2}\n").records, ElementsAre("{\"a\":1}", "{\"a\":2}"));
  EXPECT_THAT(Read(std::string("\xff\xfe{\0", 4)).error, HasSubstr("UTF-16"));
}

TEST(JsonFiles, AFileWithoutRecordsHasNone) {
  for (const char* text : {"", "\n", "  \r\n \n", "\xef\xbb\xbf"}) {
    const Split split = Read(text);
    EXPECT_TRUE(split.records.empty());
    EXPECT_EQ(split.error, "");
  }
}

TEST(JsonFiles, DamageInAnArrayIsToldWithItsLine) {
  for (const char* text :
       {"[{\"a\":1},\n{\"a\":2}", "[{\"a\":1},\n", "[{\"a\":1},\n]", "[{\"a\":1},\n,{\"a\":2}]",
        "[{\"a\":1}\n{\"a\":2}]", "[{\"a\":1}\n] {\"a\":2}", "[{\"a\":1}\n"}) {
    const Split split = Read(text);
    ASSERT_FALSE(split.records.empty()) << text;
    EXPECT_EQ(split.records.front(), "{\"a\":1}") << text;
    EXPECT_THAT(split.error, HasSubstr("/landing/a.json: line 2")) << text;
  }
}

TEST(JsonFiles, ACutOffObjectStandsAsItIs) {
  EXPECT_THAT(Read("{\"a\":1}\n{\"a\":").records, ElementsAre("{\"a\":1}", "{\"a\":"));
  EXPECT_THAT(Read("{\n\"a\":1}\n{\n\"a\":").records, ElementsAre("{\n\"a\":1}", "{\n\"a\":"));
}

TEST(JsonFiles, ALineThatIsTooLongIsOneBadRecordAndTheNextOnesAreRead) {
  const std::string text = "{\"a\":1}\n{\"b\":\"" + std::string(900'000, 'x') + "\"}\n{\"a\":3}\n";
  const Split split = Read(text, {}, 50'000, 2, 1000);
  ASSERT_EQ(split.records.size(), 3u);
  EXPECT_EQ(split.records[1], text.substr(8, 1000));
  EXPECT_EQ(split.records[2], "{\"a\":3}");
  EXPECT_THAT(split.lines, ElementsAre(1, 2, 3));
  EXPECT_EQ(split.end.byte, static_cast<int64_t>(text.size()));
  EXPECT_EQ(split.error, "");
}

TEST(JsonFiles, AValueThatIsTooLongAndNoLineIsDamage) {
  const std::string text = "[{\"a\":1},\n{\"b\":\"" + std::string(900'000, 'x') + "\"}]";
  const Split split = Read(text, {}, 50'000, 2, 1000);
  EXPECT_THAT(split.records, ElementsAre("{\"a\":1}"));
  EXPECT_THAT(split.error, HasSubstr("line 2"));
}

TEST(JsonFiles, LargeFilesGoOnAnywhere) {
  std::string text;
  for (int i = 0; i < 20'000; ++i) text += "{\"id\":" + std::to_string(i) + "}\n";
  const Split head = Read(text, {}, 4096, 5000);
  ASSERT_EQ(head.records.size(), 20'000u);
  const auto at = static_cast<int64_t>(text.find("{\"id\":15000}"));
  const Split rest = Read(text, {15'000, at, 15'000}, 4096, 5000);
  ASSERT_EQ(rest.records.size(), 5'000u);
  EXPECT_EQ(rest.records.front(), "{\"id\":15000}");
  EXPECT_EQ(rest.lines.front(), 15'001);
  EXPECT_EQ(rest.end.byte, static_cast<int64_t>(text.size()));
}

}  // namespace
}  // namespace firn::decode
