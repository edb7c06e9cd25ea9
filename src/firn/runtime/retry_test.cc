#include "firn/runtime/retry.h"

#include <gtest/gtest.h>

#include <vector>

#include "firn/runtime/manual_clock.h"
#include "firn/runtime/seeded_ids.h"

namespace firn::runtime {
namespace {

class RetryTest : public testing::Test {
 protected:
  /// Fails `failures` times with `kind`, then gives 7.
  Result<int> Run(int failures, ErrorKind kind, const RetryPolicy& policy) {
    return Retry(
        policy, clock_, ids_, stop_.get_token(),
        [&]() -> Result<int> {
          if (calls_++ < failures) return Error(kind, "try " + std::to_string(calls_));
          return 7;
        },
        [&](const Error&, int, int64_t backoff_ms) { pauses_.push_back(backoff_ms); });
  }

  ManualClock clock_;
  SeededIds ids_{3};
  std::stop_source stop_;
  int calls_ = 0;
  std::vector<int64_t> pauses_;
};

TEST_F(RetryTest, SucceedsAfterRetriableFailures) {
  EXPECT_EQ(Run(2, ErrorKind::kUnavailable, {}).value(), 7);
  EXPECT_EQ(calls_, 3);
  EXPECT_EQ(clock_.elapsed_ms(), pauses_[0] + pauses_[1]);
}

TEST_F(RetryTest, DoesNotRepeatAFinalError) {
  EXPECT_EQ(Run(1, ErrorKind::kPermissionDenied, {}).error().kind(), ErrorKind::kPermissionDenied);
  EXPECT_EQ(calls_, 1);
}

TEST_F(RetryTest, GivesTheLastErrorWhenTriesAreUsedUp) {
  EXPECT_EQ(Run(99, ErrorKind::kTimeout, {.max_attempts = 4}).error().message(), "try 4");
  EXPECT_EQ(calls_, 4);
}

TEST_F(RetryTest, StartsNoTryAfterTheElapsedBound) {
  const RetryPolicy policy = {
      .max_attempts = 1000, .initial_backoff_ms = 1000, .max_backoff_ms = 1000, .max_elapsed_ms = 5000};
  EXPECT_FALSE(Run(9999, ErrorKind::kUnavailable, policy).ok());
  EXPECT_LE(clock_.elapsed_ms(), 5000);
  EXPECT_GE(calls_, 5);
}

TEST_F(RetryTest, StopEndsTheTries) {
  stop_.request_stop();
  EXPECT_FALSE(Run(5, ErrorKind::kUnavailable, {}).ok());
  EXPECT_EQ(calls_, 1);
}

TEST_F(RetryTest, PausesGrowAreCappedAndJittered) {
  const RetryPolicy policy = {.initial_backoff_ms = 100, .max_backoff_ms = 1000};
  for (int i = 0; i < 200; ++i) {
    const int64_t first = policy.BackoffMs(1, ids_);
    EXPECT_GE(first, 50);
    EXPECT_LE(first, 100);
    const int64_t third = policy.BackoffMs(3, ids_);
    EXPECT_GE(third, 200);
    EXPECT_LE(third, 400);
    EXPECT_LE(policy.BackoffMs(60, ids_), 1000);
  }
  EXPECT_NE(policy.BackoffMs(9, ids_), policy.BackoffMs(9, ids_));
}

TEST_F(RetryTest, FullJitterSpreadsOverTheWholeStep) {
  const RetryPolicy policy = {.initial_backoff_ms = 1000, .max_backoff_ms = 1000, .min_backoff_share = 0};
  int below_half = 0;
  for (int i = 0; i < 200; ++i) below_half += policy.BackoffMs(1, ids_) < 500 ? 1 : 0;
  EXPECT_GT(below_half, 50);
  EXPECT_LT(below_half, 150);
}

}  // namespace
}  // namespace firn::runtime
