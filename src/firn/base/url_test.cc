#include "firn/base/url.h"

#include <gtest/gtest.h>

namespace firn {
namespace {

TEST(UrlTest, PercentEncodingKeepsUnreservedOnly) {
  EXPECT_EQ(PercentEncode("aZ09-._~"), "aZ09-._~");
  EXPECT_EQ(PercentEncode("a b/c=é+*"), "a%20b%2Fc%3D%C3%A9%2B%2A");
}

TEST(UrlTest, FormEncodingIsThatOfJavasUrlEncoder) {
  EXPECT_EQ(FormEncode("a b/c=é+*~-_."), "a+b%2Fc%3D%C3%A9%2B*%7E-_.");
  EXPECT_EQ(FormEncodePairs({{"grant_type", "client_credentials"}, {"scope", "a b"}}),
            "grant_type=client_credentials&scope=a+b");
}

TEST(UrlTest, DecodingUndoesEncoding) {
  const std::string text = "50% of a+b & é/\x01";
  EXPECT_EQ(PercentDecode(PercentEncode(text)).value(), text);
  EXPECT_EQ(FormDecode(FormEncode(text)).value(), text);
  EXPECT_EQ(PercentDecode("a+b").value(), "a+b");
}

TEST(UrlTest, BrokenEscapesAreErrors) {
  for (const char* bad : {"%", "%1", "a%zz", "%%20"}) EXPECT_FALSE(PercentDecode(bad).ok()) << bad;
}

}  // namespace
}  // namespace firn
