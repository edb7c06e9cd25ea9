#include "firn/store/s3/answers.h"

#include <gtest/gtest.h>

namespace firn::store::s3 {
namespace {

TEST(ListPage, ReadsKeysWithAndWithoutEncoding) {
  const std::string contents =
      "<Contents><Key>a+b%2Fc</Key><LastModified>2024-02-03T04:05:06.789Z</LastModified><ETag>\"e-2\"</ETag>"
      "<Size>12</Size><StorageClass>STANDARD</StorageClass></Contents>";
  const Result<ListPage> plain = ParseListPage("<ListBucketResult>" + contents + "</ListBucketResult>");
  ASSERT_TRUE(plain.ok()) << plain.error().ToString();
  ASSERT_EQ(plain->objects.size(), 1U);
  EXPECT_EQ(plain->objects[0].key, "a+b%2Fc");
  EXPECT_EQ(plain->objects[0].etag, "e-2");
  EXPECT_EQ(plain->objects[0].size_bytes, 12);
  EXPECT_EQ(plain->objects[0].modified_ms, 1'706'933'106'789);
  const Result<ListPage> encoded =
      ParseListPage("<ListBucketResult><EncodingType>url</EncodingType>" + contents + "</ListBucketResult>");
  EXPECT_EQ(encoded->objects[0].key, "a b/c");
}

TEST(ListPage, RefusesWhatWouldLoseOrRepeatObjects) {
  for (const char* body :
       {"<Other/>", "<ListBucketResult><IsTruncated>true</IsTruncated></ListBucketResult>",
        "<ListBucketResult><Contents><Key>a</Key></Contents></ListBucketResult>",
        "<ListBucketResult><Contents><Key>a</Key><Size>-1</Size></Contents></ListBucketResult>",
        "<ListBucketResult><Contents><Key>a</Key><Size>1</Size><LastModified>x</LastModified></Contents>"
        "</ListBucketResult>"}) {
    EXPECT_EQ(ParseListPage(body).error().kind(), ErrorKind::kCorrupt) << body;
  }
}

TEST(ServiceErrorDocument, IsReadOrIsNone) {
  const auto error = ParseServiceError(
      "<Error><Code>SlowDown</Code><Message>m</Message><RequestId>r</RequestId><Region>x</Region></Error>");
  ASSERT_TRUE(error.has_value());
  EXPECT_EQ(error->code, "SlowDown");
  EXPECT_EQ(error->region, "x");
  EXPECT_FALSE(ParseServiceError("<html/>").has_value());
  EXPECT_FALSE(ParseServiceError("").has_value());
}

TEST(HttpDate, ReadsTheOneFormThatS3Sends) {
  EXPECT_EQ(ParseHttpDate("Fri, 24 May 2013 00:00:00 GMT"), 1'369'353'600'000);
  for (const char* text : {"", "Fri, 24 Mai 2013 00:00:00 GMT", "Fri, 32 May 2013 00:00:00 GMT",
                           "2013-05-24T00:00:00Z", "Fri, 24 May 2013 00:00:00 CET"}) {
    EXPECT_FALSE(ParseHttpDate(text).has_value()) << text;
  }
}

TEST(ContentRange, GivesTheLengthOfTheWhole) {
  EXPECT_EQ(TotalOfContentRange("bytes 0-9/1000"), 1000);
  EXPECT_EQ(TotalOfContentRange("bytes */0"), 0);
  EXPECT_FALSE(TotalOfContentRange("bytes 0-9/*").has_value());
  EXPECT_FALSE(TotalOfContentRange("").has_value());
}

TEST(CompleteUploadBody, NumbersThePartsFromOne) {
  const std::string body = CompleteUploadBody(std::vector<std::string>{"\"a\"", "\"b\""});
  EXPECT_NE(body.find("<PartNumber>2</PartNumber><ETag>&#34;b&#34;</ETag>"), std::string::npos) << body;
}

}  // namespace
}  // namespace firn::store::s3
