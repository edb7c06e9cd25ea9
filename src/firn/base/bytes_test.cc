#include "firn/base/bytes.h"

#include <gtest/gtest.h>

namespace firn {
namespace {

using namespace std::string_literals;

TEST(HexTest, EncodesAndDecodesAllBytes) {
  std::string bytes;
  for (int i = 0; i < 256; ++i) bytes += static_cast<char>(i);
  EXPECT_EQ(HexEncode("\x00\xff\x1a"s), "00ff1a");
  EXPECT_EQ(HexDecode(HexEncode(bytes)).value(), bytes);
  EXPECT_EQ(HexDecode("0AfF").value(), "\x0a\xff");
}

TEST(HexTest, RefusesOddLengthAndOtherCharacters) {
  EXPECT_EQ(HexDecode("abc").error().kind(), ErrorKind::kInvalidArgument);
  EXPECT_EQ(HexDecode("0g").error().kind(), ErrorKind::kInvalidArgument);
}

TEST(Base64Test, MatchesTheVectorsOfRfc4648) {
  EXPECT_EQ(Base64Encode(""), "");
  EXPECT_EQ(Base64Encode("f"), "Zg==");
  EXPECT_EQ(Base64Encode("fo"), "Zm8=");
  EXPECT_EQ(Base64Encode("foo"), "Zm9v");
  EXPECT_EQ(Base64Encode("foobar"), "Zm9vYmFy");
  EXPECT_EQ(Base64Encode("\xfb\xff"), "+/8=");
  EXPECT_EQ(Base64UrlEncode("\xfb\xff"), "-_8=");
}

TEST(Base64Test, DecodesBothAlphabetsWithAndWithoutPadding) {
  EXPECT_EQ(Base64Decode("Zm9vYg==").value(), "foob");
  EXPECT_EQ(Base64Decode("Zm9vYg").value(), "foob");
  EXPECT_EQ(Base64Decode("+/8=").value(), "\xfb\xff");
  EXPECT_EQ(Base64Decode("-_8").value(), "\xfb\xff");
  EXPECT_EQ(Base64Decode("").value(), "");
}

TEST(Base64Test, RefusesWrongLengthCharactersAndTrailingBits) {
  for (const char* bad : {"A", "Zm9vA", "Zm=v", "Zm9v\n", "Zg=", "Zh=="}) {
    EXPECT_FALSE(Base64Decode(bad).ok()) << bad;
  }
}

TEST(ExcerptTest, EscapesControlBytesAndBrokenUtf8AndKeepsTheRest) {
  EXPECT_EQ(Excerpt("plain é"), "plain é");
  EXPECT_EQ(Excerpt("a\n\xff"), "a\\x0a\\xff");
  EXPECT_EQ(Excerpt("abcdef", 4), "abcd... (2 bytes more)");
  EXPECT_EQ(Excerpt("aé", 2), "aé");
}

TEST(Utf8Test, TellsWellFormedFromMalformed) {
  EXPECT_TRUE(IsValidUtf8("aé€😀"));
  for (const char* bad : {"\x80", "\xc0\xaf", "\xc3", "\xe0\x80\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80",
                          "\xf8\x88\x80\x80\x80"}) {
    EXPECT_FALSE(IsValidUtf8(bad));
  }
}

}  // namespace
}  // namespace firn
