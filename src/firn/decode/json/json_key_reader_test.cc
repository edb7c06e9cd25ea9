#include "firn/decode/json/json_key_reader.h"

#include <gtest/gtest.h>

namespace firn::decode {
namespace {

std::vector<std::string> Read(const std::vector<std::string>& paths, std::optional<std::string> value) {
  record::RawBatch raw;
  raw.offsets = {0};
  raw.timestamps_ms = {0};
  raw.keys.resize(1);
  raw.values.resize(1);
  if (value) raw.values[0] = {raw.arena.Append(*value), static_cast<uint32_t>(value->size())};
  auto reader = MakeJsonKeyReader(paths);
  EXPECT_TRUE(reader.ok());
  std::vector<std::string> out;
  for (const auto& found : (*reader)->Read(raw, 0)) out.emplace_back(found.value_or("-"));
  return out;
}
using Values = std::vector<std::string>;

TEST(JsonKeyReaderTest, ReadsNamedFieldsAtAnyDepth) {
  EXPECT_EQ(Read({"type", "payload.kind", "payload.n"},
                 R"({"x":[1,{"type":"no"}],"payload":{"n":-7,"kind":"a\u00e4"},"type":"order"})"),
            (Values{"order", "a\xc3\xa4", "-7"}));
  EXPECT_EQ(Read({"a"}, R"({"a":true})"), (Values{"true"}));
}

TEST(JsonKeyReaderTest, WhatIsNoScalarOrNotThereIsMissing) {
  EXPECT_EQ(Read({"a", "b", "c", "d", "e"}, R"({"a":null,"b":{},"c":[1],"d":1.5})"),
            (Values{"-", "-", "-", "-", "-"}));
  EXPECT_EQ(Read({"a.b"}, R"({"a":"text"})"), (Values{"-"}));
  EXPECT_EQ(Read({"a", "a.b"}, R"({"a":{"b":"x"}})"), (Values{"-", "x"}));
}

TEST(JsonKeyReaderTest, TheLaterOfTwoEqualKeysCounts) {
  EXPECT_EQ(Read({"a"}, R"({"a":"x","a":"y"})"), (Values{"y"}));
  EXPECT_EQ(Read({"a"}, R"({"a":"x","a":null})"), (Values{"-"}));
}

TEST(JsonKeyReaderTest, ARecordThatCannotBeReadHasNoFields) {
  for (const char* text :
       {"", "not json", "[1]", R"({"a":"x")", R"({"a":"x",})", R"({"a":"x" "b":1})", R"("a")"}) {
    EXPECT_EQ(Read({"a"}, text), (Values{"-"})) << text;
  }
  EXPECT_EQ(Read({"a"}, std::nullopt), (Values{"-"}));
}

}  // namespace
}  // namespace firn::decode
