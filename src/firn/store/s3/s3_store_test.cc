#include "firn/store/s3/s3_store.h"

#include <algorithm>
#include <stop_token>
#include <thread>

#include <gtest/gtest.h>

#include "firn/runtime/manual_clock.h"
#include "firn/runtime/seeded_ids.h"
#include "firn/store/s3/fake_s3_fixture.h"
#include "firn/store/s3/part_sizes.h"

namespace firn::store::s3 {
namespace {

constexpr int64_t kMiB = 1 << 20;

/// Keys that change each time they are rejected.
class TestCredentials final : public http::aws::CredentialsProvider {
 public:
  Result<http::aws::AwsCredentials> Get() override {
    return http::aws::AwsCredentials{
        {"KEY" + std::to_string(generation), "secret-of-the-test", ""}, std::nullopt, "test"};
  }
  bool Reject(const std::string& /*access_key_id*/) override {
    if (renewable) ++generation;
    return renewable;
  }
  int generation = 1;
  bool renewable = true;
};

class S3StoreTest : public ::testing::Test {
 protected:
  S3StoreTest() { Make({}); }

  void Make(std::map<std::string, std::string> properties) {
    properties.emplace("client.region", "eu-test-1");
    properties.emplace("s3.multipart.part-size-bytes", std::to_string(5 * kMiB));
    S3Config config = ParseS3Config(properties).value();
    ClientDeps deps{fake_,
                    MakeSigV4Signer(credentials_, config.region, clock_),
                    time_,
                    &ids_,
                    DefaultRetryPolicy(),
                    stop_.get_token()};
    auto client = std::make_shared<S3Client>(
        config, ParseEndpoint("http://127.0.0.1:9", config.region, true).value(), std::move(deps));
    store_ = std::make_unique<S3Store>(client, uploads_);
  }

  /// The next `times` requests of this method are answered so, before they take effect.
  void Refuse(const std::string& method, int times, Result<http::HttpResponse> answer) {
    fake_->before =
        [=, left = times](
            const http::HttpRequest& request) mutable -> std::optional<Result<http::HttpResponse>> {
      if (request.method != method || left-- <= 0) return std::nullopt;
      return answer;
    };
  }

  /// The answer to the next request of this method is lost after it took effect.
  void LoseAnswer(const std::string& method, const std::string& part = "") {
    fake_->after =
        [=, lost = false](
            const http::HttpRequest& request) mutable -> std::optional<Result<http::HttpResponse>> {
      if (lost || request.method != method || request.url.find(part) == std::string::npos)
        return std::nullopt;
      lost = true;
      return Result<http::HttpResponse>(Error(ErrorKind::kIo, "connection reset"));
    };
  }

  Status WriteBig(const std::string& location, const WriteCondition& condition, size_t size) {
    FIRN_ASSIGN(auto writer, store_->Create(location, condition));
    const std::string piece(3 * kMiB, 'x');
    for (size_t written = 0; written < size; written += piece.size())
      FIRN_TRY(writer->Write(std::string_view(piece).substr(0, size - written)));
    return writer->Finish();
  }

  runtime::ManualClock clock_;
  runtime::Clock* time_ = &clock_;  ///< in which the client waits
  std::stop_source stop_;
  runtime::SeededIds ids_{7};
  std::shared_ptr<FakeS3> fake_ = std::make_shared<FakeS3>();
  std::shared_ptr<TestCredentials> credentials_ = std::make_shared<TestCredentials>();
  std::shared_ptr<runtime::Executor> uploads_ = std::make_shared<runtime::Executor>("upload", 2);
  std::unique_ptr<S3Store> store_;
};

// --- whole objects

TEST_F(S3StoreTest, SmallObjectIsOnePutAndOneGet) {
  const std::string location = "s3://bucket/t/day=2024-01-01 %2F/\xC3\xA4+b.json";
  ASSERT_TRUE(store_->WriteAll(location, "hello", IfExists::kFail).ok());
  EXPECT_EQ(store_->ReadAll(location).value(), "hello");
  ASSERT_EQ(fake_->seen.size(), 2U);
  EXPECT_EQ(fake_->seen[0].target, "/bucket/t/day%3D2024-01-01%20%252F/%C3%A4%2Bb.json");
  EXPECT_EQ(fake_->seen[0].header("if-none-match"), "*");
  const ObjectInfo info = store_->Head(location).value();
  EXPECT_EQ(info.location, location);
  EXPECT_EQ(info.size_bytes, 5);
  EXPECT_EQ(info.modified_ms, 1'369'353'600'000);
  EXPECT_EQ(info.version, "5d41402abc4b2a76b9719d911017c592");
}

TEST_F(S3StoreTest, NothingIsThereBeforeFinishNorAfterDiscard) {
  auto writer = store_->Create("s3://bucket/a", IfExists::kFail).value();
  ASSERT_TRUE(writer->Write("abc").ok());
  EXPECT_EQ(store_->Head("s3://bucket/a").error().kind(), ErrorKind::kNotFound);
  writer->Discard();
  writer.reset();
  EXPECT_TRUE(fake_->objects.empty());
}

TEST_F(S3StoreTest, SecondWriterOfANameIsRefusedUnlessItReplaces) {
  ASSERT_TRUE(store_->WriteAll("s3://bucket/a", "one", IfExists::kFail).ok());
  EXPECT_EQ(store_->WriteAll("s3://bucket/a", "two", IfExists::kFail).error().kind(),
            ErrorKind::kAlreadyExists);
  EXPECT_EQ(store_->ReadAll("s3a://bucket/a").value(), "one");
  ASSERT_TRUE(store_->WriteAll("s3://bucket/a", "two", IfExists::kReplace).ok());
  EXPECT_EQ(store_->ReadAll("s3n://bucket/a").value(), "two");
}

TEST_F(S3StoreTest, EmptyObjectCanBeWrittenAndRead) {
  ASSERT_TRUE(store_->WriteAll("s3://bucket/empty", "", IfExists::kFail).ok());
  EXPECT_EQ(store_->ReadAll("s3://bucket/empty").value(), "");
}

TEST_F(S3StoreTest, RangesAreReadAndTheTailOnlyOnce) {
  std::string bytes;
  for (int i = 0; i < 300'000; ++i) bytes += static_cast<char>('a' + i % 23);
  ASSERT_TRUE(store_->WriteAll("s3://bucket/a", bytes, IfExists::kFail).ok());
  auto object = store_->Open("s3://bucket/a").value();
  EXPECT_EQ(object->size_bytes(), 300'000);
  std::string out(300'000, '\0');
  EXPECT_EQ(object->ReadAt(299'000, 5000, out.data()).value(), 1000);
  EXPECT_EQ(out.substr(0, 1000), bytes.substr(299'000));
  EXPECT_EQ(fake_->Count("GET"), 1U);
  EXPECT_EQ(object->ReadAt(10, 20'000, out.data()).value(), 20'000);
  EXPECT_EQ(out.substr(0, 20'000), bytes.substr(10, 20'000));
  EXPECT_EQ(object->ReadAt(100'000, 200'000, out.data()).value(), 200'000);  // across the tail's begin
  EXPECT_EQ(out.substr(0, 200'000), bytes.substr(100'000));
  EXPECT_EQ(object->ReadAt(300'000, 10, out.data()).value(), 0);
  EXPECT_EQ(fake_->Count("GET"), 3U);
}

TEST_F(S3StoreTest, ObjectOverwrittenWhileItIsReadIsAnError) {
  const std::string bytes(300'000, 'a');
  ASSERT_TRUE(store_->WriteAll("s3://bucket/a", bytes, IfExists::kFail).ok());
  auto object = store_->Open("s3://bucket/a").value();
  ASSERT_TRUE(store_->WriteAll("s3://bucket/a", std::string(300'000, 'b'), IfExists::kReplace).ok());
  std::string out(100, '\0');
  const Result<int64_t> read = object->ReadAt(0, 100, out.data());
  ASSERT_FALSE(read.ok());
  EXPECT_NE(read.error().ToString().find("overwritten"), std::string::npos);
}

// --- multipart

TEST_F(S3StoreTest, BigObjectIsUploadedInParts) {
  ASSERT_TRUE(WriteBig("s3://bucket/big", IfExists::kFail, 16 * kMiB).ok());
  EXPECT_EQ(fake_->objects.at("/bucket/big").body.size(), 16U * kMiB);
  EXPECT_EQ(fake_->Count("PUT", "partNumber="), 4U);
  EXPECT_TRUE(fake_->uploads.empty());
  EXPECT_EQ(fake_->seen.back().header("if-none-match"), "*");
}

TEST_F(S3StoreTest, ObjectOfExactlyOnePartNeedsNoUpload) {
  ASSERT_TRUE(WriteBig("s3://bucket/big", IfExists::kFail, 5 * kMiB).ok());
  EXPECT_EQ(fake_->seen.size(), 1U);
}

TEST_F(S3StoreTest, DiscardAbortsTheUpload) {
  auto writer = store_->Create("s3://bucket/big", IfExists::kFail).value();
  ASSERT_TRUE(writer->Write(std::string(12 * kMiB, 'x')).ok());
  writer.reset();
  EXPECT_TRUE(fake_->uploads.empty());
  EXPECT_TRUE(fake_->objects.empty());
  EXPECT_EQ(fake_->Count("DELETE", "uploadId="), 1U);
}

TEST_F(S3StoreTest, OfTwoBigWritersOfANameOneIsRefused) {
  ASSERT_TRUE(WriteBig("s3://bucket/big", IfExists::kFail, 6 * kMiB).ok());
  EXPECT_EQ(WriteBig("s3://bucket/big", IfExists::kFail, 7 * kMiB).error().kind(), ErrorKind::kAlreadyExists);
  EXPECT_EQ(fake_->objects.at("/bucket/big").body.size(), 6U * kMiB);
  EXPECT_TRUE(fake_->uploads.empty());
}

TEST_F(S3StoreTest, FailedPartFailsTheObject) {
  fake_->before = [](const http::HttpRequest& request) -> std::optional<Result<http::HttpResponse>> {
    if (request.url.find("partNumber=2") == std::string::npos) return std::nullopt;
    return FakeS3::Failure(403, "AccessDenied");
  };
  const Status written = WriteBig("s3://bucket/big", IfExists::kFail, 20 * kMiB);
  ASSERT_FALSE(written.ok());
  EXPECT_EQ(written.error().kind(), ErrorKind::kPermissionDenied);
  EXPECT_TRUE(fake_->uploads.empty());
}

TEST(PartSizes, TenThousandPartsHoldFiveTebibytes) {
  int64_t sum = 0;
  for (int32_t number = 1; number <= kMaxParts; ++number) {
    const int64_t part = PartBytes(number, 8 * kMiB);
    EXPECT_LE(part, int64_t{5} << 30);
    sum += part;
  }
  EXPECT_GE(sum, kMaxObjectBytes);
  EXPECT_EQ(PartBytes(1000, 8 * kMiB), 8 * kMiB);
}

// --- lost answers

TEST_F(S3StoreTest, PutWhoseAnswerWasLostIsFoundToBeOurs) {
  LoseAnswer("PUT");
  EXPECT_TRUE(store_->WriteAll("s3://bucket/a", "hello", IfExists::kFail).ok());
  EXPECT_EQ(fake_->Count("PUT"), 2U);
}

TEST_F(S3StoreTest, PutWhoseAnswerWasLostIsFoundByItsBytesWhereMetadataIsNotKept) {
  fake_->keeps_metadata = false;
  LoseAnswer("PUT");
  EXPECT_TRUE(store_->WriteAll("s3://bucket/a", "hello", IfExists::kFail).ok());
}

TEST_F(S3StoreTest, ObjectOfSomebodyElseIsNotTakenForOurs) {
  fake_->objects["/bucket/a"] = {
      "hello", "5d41402abc4b2a76b9719d911017c592", {{"x-amz-meta-firn-write", "other"}}};
  Refuse("PUT", 1, Error(ErrorKind::kTimeout, "no answer"));
  EXPECT_EQ(store_->WriteAll("s3://bucket/a", "hello", IfExists::kFail).error().kind(),
            ErrorKind::kAlreadyExists);
}

TEST_F(S3StoreTest, CompletedUploadWhoseAnswerWasLostIsFoundToBeOurs) {
  LoseAnswer("POST", "uploadId=");
  EXPECT_TRUE(WriteBig("s3://bucket/big", IfExists::kFail, 6 * kMiB).ok());
  EXPECT_EQ(fake_->objects.at("/bucket/big").body.size(), 6U * kMiB);
}

TEST_F(S3StoreTest, ErrorInsideASuccessOfCompleteIsTriedAgain) {
  fake_->before =
      [times = 0](const http::HttpRequest& request) mutable -> std::optional<Result<http::HttpResponse>> {
    if (request.method != "POST" || request.url.find("uploadId=") == std::string::npos || ++times > 2)
      return std::nullopt;
    return FakeS3::Failure(200, "InternalError");
  };
  EXPECT_TRUE(WriteBig("s3://bucket/big", IfExists::kFail, 6 * kMiB).ok());
}

TEST_F(S3StoreTest, ServerWithoutConditionsIsAskedBeforeEachWrite) {
  fake_->knows_if_none_match = false;
  EXPECT_TRUE(store_->WriteAll("s3://bucket/a", "hello", IfExists::kFail).ok());
  EXPECT_EQ(store_->WriteAll("s3://bucket/a", "again", IfExists::kFail).error().kind(),
            ErrorKind::kAlreadyExists);
  EXPECT_TRUE(WriteBig("s3://bucket/big", IfExists::kFail, 6 * kMiB).ok());
  EXPECT_EQ(WriteBig("s3://bucket/big", IfExists::kFail, 7 * kMiB).error().kind(), ErrorKind::kAlreadyExists);
  EXPECT_EQ(fake_->objects.at("/bucket/big").body.size(), 6U * kMiB);
}

// --- replacing one version

class S3ReplaceTest : public S3StoreTest {
 protected:
  S3ReplaceTest() {
    EXPECT_TRUE(store_->WriteAll(kKey, "one", IfExists::kFail).ok());
    first_ = store_->Head(kKey)->version;
  }
  Status Replace(const std::string& text, const std::string& version) {
    return store_->WriteAll(kKey, text, WriteCondition::IfVersion(version));
  }
  ErrorKind KindOfReplace() { return Replace("mine", first_).error().kind(); }
  /// Somebody else's write after the next request of this method took effect, and the answer is lost.
  void LoseAnswerAndOverwrite(const std::string& method) {
    fake_->after =
        [this, method, lost = false](
            const http::HttpRequest& request) mutable -> std::optional<Result<http::HttpResponse>> {
      if (lost || request.method != method) return std::nullopt;
      lost = true;
      fake_->objects["/bucket/a"] = {"other", "other-etag", {{"x-amz-meta-firn-write", "other"}}};
      return Result<http::HttpResponse>(Error(ErrorKind::kTimeout, "no answer"));
    };
  }

  static constexpr const char* kKey = "s3://bucket/a";
  std::string first_;
};

TEST_F(S3ReplaceTest, TakesTheVersionThatIsThereAndNoOther) {
  ASSERT_TRUE(Replace("two", first_).ok());
  EXPECT_EQ(fake_->seen.back().header("if-match"), '"' + first_ + '"');
  EXPECT_EQ(fake_->seen.back().header("if-none-match"), "");
  const Error error = Replace("three", first_).error();
  EXPECT_EQ(error.kind(), ErrorKind::kConflict);
  EXPECT_EQ(error.retry(), RetryHint::kNo);
  EXPECT_NE(error.ToString().find(kKey), std::string::npos);
  EXPECT_EQ(store_->ReadAll(kKey).value(), "two");
}

TEST_F(S3ReplaceTest, ObjectOfManyPartsReplacesAVersionToo) {
  ASSERT_TRUE(WriteBig(kKey, WriteCondition::IfVersion(first_), 6 * kMiB).ok());
  EXPECT_EQ(WriteBig(kKey, WriteCondition::IfVersion(first_), 7 * kMiB).error().kind(), ErrorKind::kConflict);
  EXPECT_EQ(fake_->objects.at("/bucket/a").body.size(), 6U * kMiB);
  EXPECT_TRUE(fake_->uploads.empty());
}

TEST_F(S3ReplaceTest, ObjectThatIsGoneIsAConflict) {
  fake_->objects.clear();
  EXPECT_EQ(KindOfReplace(), ErrorKind::kConflict);
  EXPECT_TRUE(fake_->objects.empty());
}

TEST_F(S3ReplaceTest, WriteOfAnotherAtTheSameTimeIsAConflictAtOnce) {
  Refuse("PUT", 100, FakeS3::Failure(409, "ConditionalRequestConflict"));
  EXPECT_EQ(KindOfReplace(), ErrorKind::kConflict);
  EXPECT_EQ(clock_.elapsed_ms(), 0);
}

TEST_F(S3ReplaceTest, LostAnswerIsFoundToBeOurs) {
  LoseAnswer("PUT");
  EXPECT_TRUE(Replace("mine", first_).ok());
  LoseAnswer("POST", "uploadId=");
  EXPECT_TRUE(WriteBig(kKey, WriteCondition::IfVersion(store_->Head(kKey)->version), 6 * kMiB).ok());
}

TEST_F(S3ReplaceTest, LostAnswerFollowedByAnotherWriteIsUnknown) {
  LoseAnswerAndOverwrite("PUT");
  EXPECT_EQ(KindOfReplace(), ErrorKind::kUnknownOutcome);
}

TEST_F(S3ReplaceTest, ThrottledTriesLeaveNoDoubt) {
  ASSERT_TRUE(Replace("other", first_).ok());
  Refuse("PUT", 3, FakeS3::Failure(503, "SlowDown"));
  EXPECT_EQ(KindOfReplace(), ErrorKind::kConflict);
}

TEST_F(S3ReplaceTest, ServerThatNeverAnswersLeavesItUnknown) {
  Refuse("PUT", 1'000'000, Error(ErrorKind::kTimeout, "no answer"));
  EXPECT_EQ(KindOfReplace(), ErrorKind::kUnknownOutcome);
  EXPECT_EQ(fake_->Count("HEAD"), 1U);  // the test's own
}

TEST_F(S3ReplaceTest, OtherRefusalsStayWhatTheyAre) {
  Refuse("PUT", 100, FakeS3::Failure(403, "AccessDenied"));
  EXPECT_EQ(KindOfReplace(), ErrorKind::kPermissionDenied);
  Refuse("PUT", 100, FakeS3::Failure(501, "NotImplemented"));
  EXPECT_EQ(KindOfReplace(), ErrorKind::kUnsupported);
}

// --- retries and errors

TEST_F(S3StoreTest, ThrottlingIsOutlasted) {
  Refuse("PUT", 12, FakeS3::Failure(503, "SlowDown"));
  EXPECT_TRUE(store_->WriteAll("s3://bucket/a", "hello", IfExists::kFail).ok());
  EXPECT_EQ(fake_->Count("PUT"), 13U);
  EXPECT_GT(clock_.elapsed_ms(), 1000);
}

TEST_F(S3StoreTest, EndsAfterTenMinutesWithTheLastReason) {
  Refuse("GET", 1'000'000, FakeS3::Failure(503, "SlowDown"));
  const auto read = store_->Open("s3://bucket/a");
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.error().kind(), ErrorKind::kUnavailable);
  EXPECT_EQ(read.error().service_type(), "SlowDown");
  EXPECT_LE(clock_.elapsed_ms(), 10 * 60'000);
  EXPECT_GT(clock_.elapsed_ms(), 8 * 60'000);
}

TEST_F(S3StoreTest, NothingIsTriedAgainAfterAStop) {
  Refuse("PUT", 1'000'000, FakeS3::Failure(503, "SlowDown"));
  stop_.request_stop();
  EXPECT_EQ(store_->WriteAll("s3://bucket/a", "x", IfExists::kFail).error().service_type(), "SlowDown");
  EXPECT_EQ(fake_->Count("PUT"), 1U);
}

TEST_F(S3StoreTest, StopEndsALongPause) {
  time_ = &runtime::SystemClock();
  Make({});
  http::HttpResponse busy = FakeS3::Failure(503, "SlowDown");
  busy.headers.emplace_back("retry-after", "60");
  Refuse("GET", 1'000'000, busy);
  std::jthread stopper([this] {
    runtime::SystemClock().SleepMs(50);
    stop_.request_stop();
  });
  const int64_t begin_ns = time_->MonotonicNs();
  EXPECT_EQ(store_->Open("s3://bucket/a").error().kind(), ErrorKind::kUnavailable);
  EXPECT_LT(time_->MonotonicNs() - begin_ns, 20'000'000'000);
  EXPECT_EQ(fake_->Count("GET"), 1U);
}

TEST_F(S3StoreTest, RetryAfterIsObeyed) {
  http::HttpResponse busy = FakeS3::Failure(429, "TooManyRequests");
  busy.headers.emplace_back("retry-after", "7");
  Refuse("HEAD", 1, busy);
  EXPECT_EQ(store_->Head("s3://bucket/a").error().kind(), ErrorKind::kNotFound);
  EXPECT_EQ(clock_.elapsed_ms(), 7000);
}

TEST_F(S3StoreTest, LostConnectionsAreTriedAgain) {
  for (const ErrorKind kind : {ErrorKind::kIo, ErrorKind::kTimeout, ErrorKind::kUnavailable}) {
    Refuse("PUT", 3, Error(kind, "gone"));
    EXPECT_TRUE(store_->WriteAll("s3://bucket/a", "hello", IfExists::kReplace).ok());
  }
}

struct Refusal {
  int status;
  const char* code;
  ErrorKind kind;
  const char* remedy;  ///< a word of it
};

TEST_F(S3StoreTest, RefusalsAreToldOnceWithPlaceCodeAndRemedy) {
  for (const Refusal& refusal : std::initializer_list<Refusal>{
           {403, "AccessDenied", ErrorKind::kPermissionDenied, "s3:PutObject"},
           {403, "InvalidAccessKeyId", ErrorKind::kPermissionDenied, "keys"},
           {403, "SignatureDoesNotMatch", ErrorKind::kPermissionDenied, "secret"},
           {403, "RequestTimeTooSkewed", ErrorKind::kPermissionDenied, "clock"},
           {400, "ExpiredToken", ErrorKind::kPermissionDenied, "ended"},
           {404, "NoSuchBucket", ErrorKind::kNotFound, "Create the bucket"},
           {301, "PermanentRedirect", ErrorKind::kInvalidArgument, "region"},
           {400, "AuthorizationHeaderMalformed", ErrorKind::kInvalidArgument, "eu-other-2"},
           {400, "InvalidArgument", ErrorKind::kInvalidArgument, ""},
           {507, "XMinioStorageFull", ErrorKind::kResourceExhausted, ""}}) {
    credentials_->renewable = false;
    fake_->seen.clear();
    Refuse("PUT", 100,
           FakeS3::Failure(refusal.status, refusal.code,
                           refusal.status == 400 ? "<Region>eu-other-2</Region>" : ""));
    const Error error = store_->WriteAll("s3://bucket/a", "hello", IfExists::kFail).error();
    const std::string text = error.ToString();
    EXPECT_EQ(error.kind(), refusal.kind) << text;
    EXPECT_EQ(error.retry(), RetryHint::kNo) << text;
    EXPECT_EQ(fake_->Count("PUT"), 1U) << text;
    EXPECT_NE(text.find("s3://bucket/a"), std::string::npos) << text;
    EXPECT_NE(text.find(refusal.code), std::string::npos) << text;
    EXPECT_NE(text.find("R7"), std::string::npos) << text;
    EXPECT_NE(error.remedy().find(refusal.remedy), std::string::npos) << text;
    EXPECT_EQ(text.find("secret-of-the-test"), std::string::npos) << text;
  }
}

TEST_F(S3StoreTest, HeadTellsWhyItWasRefused) {
  fake_->before = [](const http::HttpRequest& request) -> std::optional<Result<http::HttpResponse>> {
    if (request.method == "HEAD") return http::HttpResponse{.status = 400, .headers = {}, .body = {}};
    return FakeS3::Failure(400, "ExpiredToken");
  };
  credentials_->renewable = false;
  const Error error = store_->Head("s3://bucket/a").error();
  EXPECT_EQ(error.service_type(), "ExpiredToken");
  EXPECT_EQ(error.kind(), ErrorKind::kPermissionDenied);
}

TEST_F(S3StoreTest, KeysThatEndInMidUploadAreReplaced) {
  fake_->before = [this](const http::HttpRequest& request) -> std::optional<Result<http::HttpResponse>> {
    if (request.url.find("partNumber=2") == std::string::npos || credentials_->generation > 1)
      return std::nullopt;
    return FakeS3::Failure(400, "ExpiredToken");
  };
  EXPECT_TRUE(WriteBig("s3://bucket/big", IfExists::kFail, 16 * kMiB).ok());
  EXPECT_EQ(credentials_->generation, 2);
}

TEST_F(S3StoreTest, PageOfAProxyIsQuotedNotParsed) {
  http::HttpResponse page;
  page.status = 403;
  page.body = "<html>Corporate proxy says no</html>";
  Refuse("PUT", 1, page);
  const std::string text = store_->WriteAll("s3://bucket/a", "x", IfExists::kFail).error().ToString();
  EXPECT_NE(text.find("Corporate proxy"), std::string::npos) << text;
}

// --- listing and deleting

TEST_F(S3StoreTest, ListsAllPagesOfAPrefix) {
  std::vector<std::string> expected;
  for (const char* key : {"t/a b", "t/c+d", "t/e&f", "t/\xC3\xA4=1", "t/z%2F"}) {
    expected.push_back(std::string("s3://bucket/") + key);
    ASSERT_TRUE(store_->WriteAll(expected.back(), "xy", IfExists::kFail).ok());
  }
  ASSERT_TRUE(store_->WriteAll("s3://bucket/u", "xy", IfExists::kFail).ok());
  std::vector<std::string> listed;
  ASSERT_TRUE(store_
                  ->List("s3://bucket/t/",
                         [&](const ObjectInfo& info) {
                           EXPECT_EQ(info.size_bytes, 2);
                           EXPECT_EQ(info.modified_ms, 1'369'353'600'000);
                           EXPECT_EQ(info.version, store_->Head(info.location)->version);
                           listed.push_back(info.location);
                           return true;
                         })
                  .ok());
  std::ranges::sort(expected);
  std::ranges::sort(listed);
  EXPECT_EQ(listed, expected);
  EXPECT_EQ(fake_->Count("GET", "list-type=2"), 3U);
}

TEST_F(S3StoreTest, ListStopsWhenToldTo) {
  for (const char* key : {"a", "b", "c"})
    ASSERT_TRUE(store_->WriteAll(std::string("s3://bucket/") + key, "", IfExists::kFail).ok());
  int seen = 0;
  ASSERT_TRUE(store_->List("s3://bucket/", [&](const ObjectInfo&) { return ++seen < 2; }).ok());
  EXPECT_EQ(seen, 2);
  EXPECT_EQ(fake_->Count("GET", "list-type=2"), 1U);
}

TEST_F(S3StoreTest, DeletingWhatIsNotThereIsOkButNotInABucketThatIsNot) {
  EXPECT_TRUE(store_->Delete("s3://bucket/none").ok());
  EXPECT_EQ(store_->Delete("s3://other/none").error().kind(), ErrorKind::kNotFound);
}

TEST_F(S3StoreTest, ManyAreDeletedAThousandAtATime) {
  std::vector<std::string> locations;
  for (int i = 0; i < 2500; ++i) {
    locations.push_back("s3://bucket/f&" + std::to_string(i));
    fake_->objects["/bucket/f&" + std::to_string(i)] = {};
  }
  fake_->objects["/bucket/odd\x01"] = {};
  locations.emplace_back("s3://bucket/odd\x01");
  EXPECT_TRUE(store_->DeleteMany(locations).empty());
  EXPECT_TRUE(fake_->objects.empty());
  EXPECT_EQ(fake_->Count("POST", "delete"), 3U);
  EXPECT_EQ(fake_->Count("DELETE"), 1U);
}

TEST_F(S3StoreTest, DeleteManyNamesWhatIsLeft) {
  fake_->objects["/bucket/a"] = {};
  fake_->objects["/bucket/locked"] = {};
  fake_->before = [](const http::HttpRequest& request) -> std::optional<Result<http::HttpResponse>> {
    if (request.method == "DELETE") return FakeS3::Failure(403, "AccessDenied");
    return std::nullopt;
  };
  const std::vector<std::string> locations = {"s3://bucket/a", "s3://bucket/locked"};
  const std::vector<NotDeleted> left = store_->DeleteMany(locations);
  ASSERT_EQ(left.size(), 1U);
  EXPECT_EQ(left[0].location, "s3://bucket/locked");
  EXPECT_EQ(left[0].why.kind(), ErrorKind::kPermissionDenied);
}

TEST_F(S3StoreTest, DeletesOneByOneWhereTheServerKnowsNoBatches) {
  fake_->knows_delete_objects = false;
  for (const char* key : {"/bucket/a", "/bucket/b"}) fake_->objects[key] = {};
  EXPECT_TRUE(store_->DeleteMany(std::vector<std::string>{"s3://bucket/a", "s3://bucket/b"}).empty());
  EXPECT_TRUE(fake_->objects.empty());
}

// --- what new objects are like

TEST_F(S3StoreTest, EncryptionAndStorageClassAreAskedFor) {
  Make({{"s3.sse.type", "kms"}, {"s3.sse.key", "arn:key"}, {"s3.write.storage-class", "GLACIER_IR"}});
  ASSERT_TRUE(store_->WriteAll("s3://bucket/a", "x", IfExists::kFail).ok());
  ASSERT_TRUE(WriteBig("s3://bucket/big", IfExists::kFail, 6 * kMiB).ok());
  for (const char* path : {"/bucket/a", "/bucket/big"}) {
    const auto& headers = fake_->objects.at(path).headers;
    EXPECT_EQ(headers.at("x-amz-server-side-encryption"), "aws:kms") << path;
    EXPECT_EQ(headers.at("x-amz-server-side-encryption-aws-kms-key-id"), "arn:key") << path;
    EXPECT_EQ(headers.at("x-amz-storage-class"), "GLACIER_IR") << path;
  }
}

TEST_F(S3StoreTest, BucketAloneIsNoObject) {
  EXPECT_EQ(store_->Head("s3://bucket").error().kind(), ErrorKind::kInvalidArgument);
  EXPECT_EQ(store_->Head("s3:///key").error().kind(), ErrorKind::kInvalidArgument);
  EXPECT_EQ(store_->Head("gs://bucket/key").error().kind(), ErrorKind::kInvalidArgument);
}

}  // namespace
}  // namespace firn::store::s3
