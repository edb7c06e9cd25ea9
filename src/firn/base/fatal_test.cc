#include "firn/base/fatal.h"

#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include <csignal>
#include <cstdlib>
#include <stdexcept>

#include "firn/base/check.h"
#include "firn/base/version.h"

namespace firn {
namespace {

/// Death tests run their statement in a child, which installs the handlers for itself.
void Prepare() {
  const rlimit no_core = {0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  InstallFatalHandlers();
  prctl(PR_SET_NAME, "test-thread");
}

TEST(VersionTest, BuildIdComesFromTheElfNote) {
  EXPECT_EQ(Version(), "0.1.0");
  EXPECT_EQ(BuildId().size(), 40U);
  EXPECT_EQ(BuildId().find_first_not_of("0123456789abcdef"), std::string_view::npos);
}

TEST(FatalDeathTest, SegmentationFaultReportsAndDiesOfTheSignal) {
  const auto crash = [] {
    Prepare();
    raise(SIGSEGV);
  };
  EXPECT_EXIT(crash(), testing::KilledBySignal(SIGSEGV),
              "firn 0\\.1\\.0 git .* build id [0-9a-f]{40} thread test-thread.*SIGSEGV at address "
              "0x.*firn_base_test");
}

TEST(FatalDeathTest, FailedCheckReportsOnceAndAborts) {
  const auto crash = [] {
    Prepare();
    FIRN_CHECK(1 > 2, "numbers are ordered");
  };
  EXPECT_EXIT(crash(), testing::KilledBySignal(SIGABRT),
              "check failed at .*fatal_test.cc:.*1 > 2: numbers are ordered");
}

TEST(FatalDeathTest, UncaughtExceptionReportsItsText) {
  const auto fail = [] { throw std::runtime_error("nobody caught this"); };
  const auto crash = [&]() noexcept {
    Prepare();
    fail();
  };
  EXPECT_EXIT(crash(), testing::KilledBySignal(SIGABRT), "nobody caught this");
}

}  // namespace
}  // namespace firn
