#include "firn/http/aws/credentials.h"

#include <atomic>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "firn/runtime/manual_clock.h"

namespace firn::http::aws {
namespace {

constexpr int64_t kHourMs = 3'600'000;

class RenewedCredentialsTest : public ::testing::Test {
 protected:
  /// Keys "key-1", "key-2" ..., each good for an hour.
  Result<AwsCredentials> Fetch() {
    const int number = ++fetches_;
    if (failing_) return Error(ErrorKind::kUnavailable, "no answer");
    return AwsCredentials{
        {"key-" + std::to_string(number), "secret", "token"}, clock_.NowMs() + kHourMs, "test"};
  }

  std::string Key() { return provider_.Get().value().keys.access_key_id; }

  runtime::ManualClock clock_;
  std::atomic<int> fetches_ = 0;
  std::atomic<bool> failing_ = false;
  RenewedCredentials provider_{[this] { return Fetch(); }, clock_};
};

TEST_F(RenewedCredentialsTest, KeptUntilFiveMinutesBeforeTheyEnd) {
  EXPECT_EQ(Key(), "key-1");
  clock_.Advance(kHourMs - 5 * 60'000 - 1);
  EXPECT_EQ(Key(), "key-1");
  clock_.Advance(1);
  EXPECT_EQ(Key(), "key-2");
  EXPECT_EQ(Key(), "key-2");
}

TEST_F(RenewedCredentialsTest, FailedRenewalKeepsTheOldOnesWhileTheyHold) {
  EXPECT_EQ(Key(), "key-1");
  failing_ = true;
  clock_.Advance(kHourMs - 60'000);
  EXPECT_EQ(Key(), "key-1");
  EXPECT_EQ(Key(), "key-1");
  EXPECT_EQ(fetches_, 2);  // not at every request
  clock_.Advance(30'000);
  EXPECT_EQ(Key(), "key-1");
  EXPECT_EQ(fetches_, 3);
  clock_.Advance(30'000);
  EXPECT_FALSE(provider_.Get().ok());
  failing_ = false;
  EXPECT_EQ(Key(), "key-5");
}

TEST_F(RenewedCredentialsTest, RejectedOnesAreFetchedAnew) {
  EXPECT_EQ(Key(), "key-1");
  EXPECT_TRUE(provider_.Reject("another"));
  EXPECT_EQ(Key(), "key-1");
  EXPECT_TRUE(provider_.Reject("key-1"));
  EXPECT_EQ(Key(), "key-2");
}

TEST_F(RenewedCredentialsTest, ManyThreadsFetchOnce) {
  std::vector<std::jthread> threads;
  for (int i = 0; i < 8; ++i) threads.emplace_back([this] { EXPECT_EQ(Key(), "key-1"); });
  threads.clear();
  EXPECT_EQ(fetches_, 1);
}

TEST(StaticCredentials, AreAlwaysTheSameAndCannotBeReplaced) {
  const auto provider = StaticCredentials({"id", "secret", ""}, "configuration");
  EXPECT_EQ(provider->Get()->keys.access_key_id, "id");
  EXPECT_FALSE(provider->Reject("id"));
}

}  // namespace
}  // namespace firn::http::aws
