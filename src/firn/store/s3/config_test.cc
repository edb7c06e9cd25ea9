#include "firn/store/s3/config.h"

#include <gtest/gtest.h>

#include "firn/store/s3/endpoint.h"

namespace firn::store::s3 {
namespace {

S3Location Location(const std::string& text) { return ParseS3Location(text).value(); }

TEST(S3Config, ReadsIcebergsNames) {
  const Result<S3Config> config = ParseS3Config({{"s3.endpoint", "http://h:9"},
                                                 {"client.region", "eu-1"},
                                                 {"s3.path-style-access", "TRUE"},
                                                 {"s3.access-key-id", "id"},
                                                 {"s3.secret-access-key", "secret"},
                                                 {"s3.session-token", "token"},
                                                 {"s3.session-token-expires-at-ms", "12"},
                                                 {"s3.sse.type", "kms"},
                                                 {"s3.sse.key", "k"},
                                                 {"write.object-storage.enabled", "true"}});
  ASSERT_TRUE(config.ok()) << config.error().ToString();
  EXPECT_EQ(config->endpoint, "http://h:9");
  EXPECT_EQ(config->region, "eu-1");
  EXPECT_TRUE(config->path_style);
  EXPECT_EQ(config->keys.session_token, "token");
  EXPECT_EQ(config->keys_end_ms, 12);
  EXPECT_EQ(config->encryption, Encryption::kKms);
}

TEST(S3Config, RefusesWhatCannotBe) {
  using Properties = std::map<std::string, std::string>;
  for (const Properties& properties :
       {Properties{{"s3.access-key-id", "id"}}, Properties{{"s3.sse.type", "custom"}},
        Properties{{"s3.path-style-access", "yes"}}, Properties{{"s3.multipart.part-size-bytes", "100"}},
        Properties{{"s3.session-token-expires-at-ms", "soon"}},
        Properties{{"s3.remote-signing-enabled", "true"}}}) {
    const Result<S3Config> config = ParseS3Config(properties);
    ASSERT_FALSE(config.ok()) << properties.begin()->first;
    EXPECT_EQ(config.error().kind(), ErrorKind::kInvalidArgument);
  }
}

TEST(Endpoint, BucketIsInTheHostWhereItCanBe) {
  const Endpoint aws = ParseEndpoint("", "eu-west-1", false).value();
  EXPECT_EQ(AddressOf(aws, Location("s3://lake/a=1/b c")).host, "lake.s3.eu-west-1.amazonaws.com");
  EXPECT_EQ(AddressOf(aws, Location("s3://lake/a=1/b c")).path, "/a%3D1/b%20c");
  EXPECT_EQ(AddressOf(aws, Location("s3://my.lake/a")).host, "s3.eu-west-1.amazonaws.com");
  EXPECT_EQ(AddressOf(aws, Location("s3://my.lake/a")).path, "/my.lake/a");
  EXPECT_EQ(AddressOf(aws, Location("s3://lake")).path, "/");
  EXPECT_EQ(ParseEndpoint("", "cn-north-1", false)->host, "s3.cn-north-1.amazonaws.com.cn");
}

TEST(Endpoint, AddressesThatAreNoNamesTakePathStyle) {
  for (const char* text : {"http://127.0.0.1:9000", "http://localhost:9000", "http://[::1]:9000"}) {
    const Endpoint endpoint = ParseEndpoint(text, "r", false).value();
    EXPECT_TRUE(endpoint.path_style) << text;
    EXPECT_EQ(AddressOf(endpoint, Location("s3://lake/a")).path, "/lake/a");
    EXPECT_EQ(AddressOf(endpoint, Location("s3://lake")).path, "/lake");
  }
  EXPECT_FALSE(ParseEndpoint("https://s3.example.com", "r", false)->path_style);
}

TEST(Endpoint, OwnPortIsLeftOutAndAPathIsKept) {
  EXPECT_EQ(ParseEndpoint("https://h:443/", "r", true)->host, "h");
  EXPECT_EQ(ParseEndpoint("http://h:80", "r", true)->host, "h");
  const Endpoint endpoint = ParseEndpoint("https://h:444/gate/", "r", true).value();
  EXPECT_EQ(endpoint.host, "h:444");
  EXPECT_EQ(AddressOf(endpoint, Location("s3://lake/a")).path, "/gate/lake/a");
}

TEST(Endpoint, RefusesWhatIsNoAddress) {
  for (const char* text : {"localhost:9000", "ftp://h", "http://", "http://u:p@h", "http://h?x"}) {
    EXPECT_EQ(ParseEndpoint(text, "r", false).error().kind(), ErrorKind::kInvalidArgument) << text;
  }
}

}  // namespace
}  // namespace firn::store::s3
