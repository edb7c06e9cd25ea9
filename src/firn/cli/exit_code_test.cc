#include "firn/cli/exit_code.h"

#include <gtest/gtest.h>

namespace firn::cli {
namespace {

TEST(ExitCode, ErrorsOfTheUserAreTwo) {
  EXPECT_EQ(ExitCodeOf(Error(ErrorKind::kInvalidArgument, "x")), ExitCode::kUserError);
  EXPECT_EQ(ExitCodeOf(Error(ErrorKind::kNotFound, "x")), ExitCode::kUserError);
  EXPECT_EQ(ExitCodeOf(Error(ErrorKind::kAlreadyExists, "x")), ExitCode::kUserError);
}

TEST(ExitCode, TroubleOutsideAndDefectsAreOne) {
  EXPECT_EQ(ExitCodeOf(Error(ErrorKind::kUnavailable, "x")), ExitCode::kFailed);
  EXPECT_EQ(ExitCodeOf(Error(ErrorKind::kResourceExhausted, "x")), ExitCode::kFailed);
  EXPECT_EQ(ExitCodeOf(Error(ErrorKind::kInternal, "x")), ExitCode::kFailed);
}

TEST(ExitCode, DataLossIsThreeWhateverItsDomain) {
  EXPECT_EQ(ExitCodeOf(Error(ErrorKind::kDataLoss, "x")), ExitCode::kDataStop);
  EXPECT_EQ(ExitCodeOf(Error(ErrorKind::kDataLoss, "x").WithDomain(ErrorDomain::kExternal)),
            ExitCode::kDataStop);
}

TEST(ExitCode, TheGravestOfSeveralPipelinesDecides) {
  EXPECT_EQ(Gravest({}), ExitCode::kDone);
  EXPECT_EQ(Gravest({ExitCode::kDone, ExitCode::kFailed}), ExitCode::kFailed);
  EXPECT_EQ(Gravest({ExitCode::kDataStop, ExitCode::kUserError, ExitCode::kDone}), ExitCode::kDataStop);
}

}  // namespace
}  // namespace firn::cli
