#include "firn/store/s3/open_store.h"

#include <gtest/gtest.h>

#include "firn/runtime/manual_clock.h"
#include "firn/runtime/seeded_ids.h"
#include "firn/store/s3/fake_s3_fixture.h"

namespace firn::store::s3 {
namespace {

constexpr int64_t kHourMs = 3'600'000;

class OpenS3StoreTest : public ::testing::Test {
 protected:
  OpenS3StoreTest() {
    deps_.aws.variable = [this](const std::string& name) -> std::optional<std::string> {
      const auto found = variables_.find(name);
      return found == variables_.end() ? std::nullopt : std::optional(found->second);
    };
    deps_.aws.read_file = [](const std::string& path) -> Result<std::string> {
      return Error(ErrorKind::kNotFound, "no file " + path);
    };
    deps_.aws.http = deps_.aws.metadata = fake_;
    deps_.aws.clock = &clock_;
    deps_.aws.ids = &ids_;
    deps_.uploads = std::make_shared<runtime::Executor>("upload", 1);
    access_.properties = {{"s3.endpoint", "http://127.0.0.1:9"}};
  }

  static std::map<std::string, std::string> Keys(const std::string& id, int64_t end_ms) {
    return {{"s3.access-key-id", id},
            {"s3.secret-access-key", "secret"},
            {"s3.session-token", "token of " + id},
            {"s3.session-token-expires-at-ms", std::to_string(end_ms)}};
  }

  /// `Credential=` of the newest request.
  std::string Signer() const {
    const std::string authorization = fake_->seen.back().header("authorization");
    const size_t begin = authorization.find("Credential=") + 11;
    return authorization.substr(begin, authorization.find('/') - begin);
  }

  runtime::ManualClock clock_;
  runtime::SeededIds ids_{5};
  std::shared_ptr<FakeS3> fake_ = std::make_shared<FakeS3>();
  std::map<std::string, std::string> variables_;
  S3Deps deps_;
  StoreAccess access_;
};

TEST_F(OpenS3StoreTest, VendedKeysAreRenewedFiveMinutesBeforeTheyEnd) {
  int renewals = 0;
  access_.properties.merge(Keys("first", clock_.NowMs() + kHourMs));
  access_.renew = [&]() -> Result<std::map<std::string, std::string>> {
    return Keys("renewed-" + std::to_string(++renewals), clock_.NowMs() + kHourMs);
  };
  const auto store = OpenS3Store(access_, deps_).value();
  ASSERT_TRUE(store->WriteAll("s3://bucket/a", "x", IfExists::kFail).ok());
  EXPECT_EQ(Signer(), "first");
  EXPECT_EQ(fake_->seen.back().header("x-amz-security-token"), "token of first");
  clock_.Advance(kHourMs - 5 * 60'000);
  ASSERT_TRUE(store->Delete("s3://bucket/a").ok());
  EXPECT_EQ(Signer(), "renewed-1");
  ASSERT_TRUE(store->Delete("s3://bucket/a").ok());
  EXPECT_EQ(renewals, 1);
}

TEST_F(OpenS3StoreTest, VendedKeysThatAreRefusedAreRenewedAtOnce) {
  access_.properties.merge(Keys("first", clock_.NowMs() + kHourMs));
  access_.renew = [&]() -> Result<std::map<std::string, std::string>> {
    return Keys("renewed", clock_.NowMs() + kHourMs);
  };
  fake_->before = [](const http::HttpRequest& request) -> std::optional<Result<http::HttpResponse>> {
    for (const auto& [name, value] : request.headers)
      if (name == "authorization" && value.find("=first/") != std::string::npos)
        return FakeS3::Failure(400, "ExpiredToken");
    return std::nullopt;
  };
  const auto store = OpenS3Store(access_, deps_).value();
  EXPECT_TRUE(store->WriteAll("s3://bucket/a", "x", IfExists::kFail).ok());
  EXPECT_EQ(Signer(), "renewed");
}

TEST_F(OpenS3StoreTest, EnvironmentFillsWhatTheAccessLeavesOut) {
  variables_ = {{"AWS_ACCESS_KEY_ID", "env"}, {"AWS_SECRET_ACCESS_KEY", "s"}, {"AWS_REGION", "eu-env-1"}};
  const auto store = OpenS3Store(access_, deps_).value();
  ASSERT_TRUE(store->Delete("s3://bucket/a").ok());
  EXPECT_EQ(Signer(), "env");
  EXPECT_NE(fake_->seen.back().header("authorization").find("/eu-env-1/s3/"), std::string::npos);
}

TEST_F(OpenS3StoreTest, AccessThatCannotBeIsToldBeforeAnyRequest) {
  access_.properties["s3.sse.type"] = "rot13";
  EXPECT_EQ(OpenS3Store(access_, deps_).error().kind(), ErrorKind::kInvalidArgument);
  EXPECT_TRUE(fake_->seen.empty());
}

TEST_F(OpenS3StoreTest, CatalogThatSignsIsAskedForEachWriteAndRemembersReads) {
  access_.properties.insert({{"s3.remote-signing-enabled", "true"}, {"s3.signer.uri", "http://catalog/"}});
  access_.signer_headers = []() -> Result<std::map<std::string, std::string>> {
    return std::map<std::string, std::string>{{"authorization", "Bearer catalog-token"}};
  };
  int signatures = 0;
  fake_->before = [&](const http::HttpRequest& request) -> std::optional<Result<http::HttpResponse>> {
    if (request.url != "http://catalog/v1/aws/s3/sign") return std::nullopt;
    ++signatures;
    http::HttpResponse answer;
    answer.status = 200;
    answer.headers = {{"cache-control", "private"}};
    const std::string body(request.body);
    const size_t uri = body.find("\"uri\":\"") + 7;
    answer.body = "{\"uri\":\"" + body.substr(uri, body.find('"', uri) - uri) +
                  "\",\"headers\":{\"Authorization\":[\"signed\"],\"Host\":[\"h\"]}}";
    return answer;
  };
  const auto store = OpenS3Store(access_, deps_).value();
  ASSERT_TRUE(store->WriteAll("s3://bucket/a", "x", IfExists::kReplace).ok());
  EXPECT_EQ(fake_->seen[0].header("authorization"), "Bearer catalog-token");
  EXPECT_EQ(fake_->seen.back().header("Authorization"), "signed");
  EXPECT_EQ(signatures, 1);
  ASSERT_TRUE(store->Head("s3://bucket/a").ok());
  ASSERT_TRUE(store->Head("s3://bucket/a").ok());
  EXPECT_EQ(signatures, 2);
  clock_.Advance(30'000);
  ASSERT_TRUE(store->Head("s3://bucket/a").ok());
  EXPECT_EQ(signatures, 3);
}

}  // namespace
}  // namespace firn::store::s3
