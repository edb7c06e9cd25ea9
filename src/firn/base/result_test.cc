#include "firn/base/result.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace firn {
namespace {

Result<int> Half(int value) {
  if (value % 2 != 0) return Error(ErrorKind::kInvalidArgument, "odd");
  return value / 2;
}

Result<std::string> QuarterText(int value) {
  FIRN_ASSIGN(const int half, Half(value));
  FIRN_ASSIGN_CTX(const int quarter, Half(half), "second step");
  return std::to_string(quarter);
}

Status Twice(int value) {
  FIRN_TRY(Half(value));
  FIRN_TRY_CTX(Half(value / 2), "again");
  return Ok();
}

TEST(ResultTest, MacrosHandValuesOnAndErrorsUp) {
  EXPECT_EQ(QuarterText(8).value(), "2");
  EXPECT_EQ(QuarterText(3).error().ToString(), "odd");
  EXPECT_EQ(QuarterText(6).error().ToString(), "second step: odd");
  EXPECT_TRUE(Twice(4).ok());
  EXPECT_EQ(Twice(2).error().ToString(), "again: odd");
}

TEST(ResultTest, HoldsMoveOnlyValues) {
  Result<std::unique_ptr<int>> result = std::make_unique<int>(7);
  const std::unique_ptr<int> taken = std::move(result).value();
  EXPECT_EQ(*taken, 7);
}

TEST(ErrorTest, ContextGrowsOutwardsAndRemedyComesLast) {
  Error error(ErrorKind::kNotFound, "no such topic");
  error.AddContext("topic flights");
  error.AddContext("pipeline flights");
  EXPECT_EQ(std::move(error).WithRemedy("Create it first.").ToString(),
            "pipeline flights: topic flights: no such topic. Create it first.");
}

TEST(ErrorTest, DomainAndRetryFollowTheKindUnlessSaid) {
  EXPECT_EQ(Error(ErrorKind::kConflict, "x").retry(), RetryHint::kYes);
  EXPECT_EQ(Error(ErrorKind::kConflict, "x").domain(), ErrorDomain::kExternal);
  EXPECT_EQ(Error(ErrorKind::kInvalidArgument, "x").domain(), ErrorDomain::kUser);
  EXPECT_EQ(Error(ErrorKind::kTimeout, "x").WithRetry(RetryHint::kNo).retry(), RetryHint::kNo);
}

TEST(ErrorTest, CopiesAreIndependent) {
  const Error original(ErrorKind::kIo, "disk");
  Error copy = original;
  copy.AddContext("file");
  EXPECT_EQ(original.ToString(), "disk");
  EXPECT_EQ(copy.ToString(), "file: disk");
}

TEST(ResultDeathTest, ValueOfAnErrorAbortsWithItsText) {
  EXPECT_DEATH(static_cast<void>(Half(3).value()), "check failed.*odd");
}

}  // namespace
}  // namespace firn
