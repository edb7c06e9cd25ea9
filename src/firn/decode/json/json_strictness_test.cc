#include <gtest/gtest.h>

#include <array>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "firn/decode/json/dom_oracle.h"

namespace firn::decode {
namespace {

const std::vector<std::string> kSeeds = {
    R"({"i":1,"l":-2,"s":"text","b":true,"d":1.5e3,"t":"2024-01-01T00:00:00","c":12.34,"p":{"x":1,"y":2},"a":[1,2,3],"m":{"k":"v"}})",
    R"({ "s" : "a \"quoted\" \u00e9 \ud83d\ude00 \\ \/ \b\f\n\r\t" , "unknown" : [ {}, [], [[1]], {"a":null}, "\u0041" ] })",
    R"({"x":tru,"y":[false,null,true],"z":{"deep":{"er":[1,{"a":"b"}]}},"n":-0.0e-0})",
    R"({"s":null,"i":null,"a":[],"p":{},"m":{},"u":123456789012345678901234567890,"v":1e999})",
    R"({"s":"one","s":"two","a":[1],"a":[2,3],"m":{"k":"1","k":"2","j":"3"},"p":{"x":1,"x":2}})",
    R"({"a":[1,2,null,4],"s":"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef","q":"\\\\\\\""})",
    R"([{"i":1},{"i":2}])",
    R"("text")",
    R"(12.5)",
    R"(null)",
    "\t{\"i\"\r\n:\n 1 ,\"s\":\"\xc3\xa9\xe4\xb8\xad\xf0\x9f\x98\x80\"}  \n",
};

TEST(JsonStrictnessTest, WhatOnDemandLetsPassIsMalformed) {
  const std::vector<std::string> texts = {
      R"({"a":1,"x":tru,"b":2})",
      R"({"a":1,"x":012,"b":2})",
      R"({"a":1,"x":"\q","b":2})",
      R"({"a":1 "b":2})",
      R"({"a":1}x)",
      R"({"a":1}{"a":2})",
      R"({"a":1},)",
      R"({"a":1)",
      R"({"a" 1})",
      R"({"a":})",
      R"({"a":1,})",
      R"({,"a":1})",
      R"({a:1})",
      R"({"a":[1,]})",
      R"({"a":[1 2]})",
      R"({"a":[})",
      R"({"a":1e})",
      R"({"a":1.})",
      R"({"a":.5})",
      R"({"a":+1})",
      R"({"a":0x1})",
      R"({"a":1_000})",
      R"({"a":NaN})",
      R"({"a":nul})",
      R"({"a":nulll})",
      R"({"a":truefalse})",
      R"({"a":"\u12"})",
      R"({"a":"\ud800\u0041"})",
      R"({"\q":1})",
      R"({"a":'b'})",
      R"({"a":1/**/})",
      "{\"a\":\"\x01\"}",
      "{\"a\":\"\xc0\x80\"}",
      "{\"a\":\"\xed\xa0\x80\"}",
      "{\"a\":\"\xf5\x80\x80\x80\"}",
      "\xef\xbb\xbf{}",
      "",
      "   ",
      "{",
      "}",
      "\"",
      "{\"",
      "{\"a\"",
      "{\"a\":",
      "{\"a\":1,\0}",
  };
  for (const std::string& text : texts) {
    EXPECT_EQ(AskDom(text), DomVerdict::kRejected) << text;
    EXPECT_EQ(DifferenceFromDom(text), "") << text;
  }
}

TEST(JsonStrictnessTest, ZeroBytesAreNoWhiteSpace) {
  using namespace std::string_literals;
  for (const std::string& text :
       {"{\"a\":1\0}"s, "{\"a\":tru\0}"s, "{}\0"s, "\0{}"s, "{\"i\":\0 1}"s, "1\0"s, "{\"a\":\"\0\"}"s}) {
    EXPECT_EQ(DifferenceFromDom(text), "") << ::testing::PrintToString(text);
  }
}

TEST(JsonStrictnessTest, NestingAsDeepAsDomAllows) {
  for (const size_t depth : {1021u, 1022u, 1023u, 1024u, 1025u, 3000u}) {
    for (const std::string_view inner : {"", "1", "{}", "[]"}) {
      const std::string array =
          "{\"u\":" + std::string(depth, '[') + std::string(inner) + std::string(depth, ']') + "}";
      EXPECT_EQ(DifferenceFromDom(array), "") << depth << " arrays around '" << inner << "'";
    }
    std::string object = "{\"p\":";
    for (size_t i = 0; i < depth; ++i) object += "{\"u\":";
    object += "1" + std::string(depth, '}') + "}";
    EXPECT_EQ(DifferenceFromDom(object), "") << depth << " objects";
  }
}

TEST(JsonStrictnessTest, EveryPrefixOfAGoodRecord) {
  for (const std::string& seed : kSeeds) {
    for (size_t size = 0; size <= seed.size(); ++size) {
      const std::string text = seed.substr(0, size);
      EXPECT_EQ(DifferenceFromDom(text), "") << text;
    }
  }
}

/// Damages a text the way networks, bugs and people do.
class Mutator {
 public:
  explicit Mutator(uint32_t seed) : random_(seed) {}

  std::string Next() {
    std::string text = kSeeds[Below(kSeeds.size())];
    for (size_t rounds = 1 + Below(3); rounds > 0; --rounds) Mutate(text);
    return text;
  }

 private:
  static constexpr std::string_view kTokens[] = {
      "{",   "}", "[", "]", ":",  ",",       "\"",      "\\",   "true", "null", "false", "0",  "-",
      "1e5", ".", "e", " ", "\n", "\\u00e9", "\\ud800", "\\\"", "\xc3", "\xa9", "{}",    "[]", "\"k\":"};

  size_t Below(size_t limit) { return std::uniform_int_distribution<size_t>(0, limit - 1)(random_); }

  void Mutate(std::string& text) {
    const size_t at = Below(text.size() + 1);
    const std::string token(kTokens[Below(std::size(kTokens))]);
    switch (Below(6)) {
      case 0:
        text.insert(at, token);
        break;
      case 1:
        text.erase(at, 1 + Below(4));
        break;
      case 2:
        text.replace(at, std::min(token.size(), text.size() - at), token);
        break;
      case 3:
        if (at < text.size()) text[at] = static_cast<char>(Below(256));
        break;
      case 4:
        text.insert(at, text.substr(Below(text.size() + 1), Below(20)));
        break;
      default:
        text.resize(at);
    }
  }

  std::mt19937 random_;
};

TEST(JsonStrictnessTest, DamagedRecordsAreJudgedAsDomJudgesThem) {
  Mutator mutator(20260101);
  int accepted = 0;
  constexpr int kTexts = 12'000;
  for (int i = 0; i < kTexts; ++i) {
    const std::string text = mutator.Next();
    ASSERT_EQ(DifferenceFromDom(text), "") << "text " << i << ": " << ::testing::PrintToString(text);
    if (AskDom(text) != DomVerdict::kRejected) ++accepted;
  }
  // The damage leaves enough texts valid, so that both sides of the border are looked at.
  EXPECT_GT(accepted, kTexts / 20);
  EXPECT_LT(accepted, kTexts / 2);
}

}  // namespace
}  // namespace firn::decode
