#include "firn/runtime/limits.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <filesystem>
#include <fstream>

namespace firn::runtime {
namespace {

class CgroupTest : public testing::Test {
 protected:
  void SetUp() override {
    root_ = std::filesystem::path(testing::TempDir()) /
            ("cgroup-" + std::string(testing::UnitTest::GetInstance()->current_test_info()->name()));
    std::filesystem::remove_all(root_);
  }
  void TearDown() override { std::filesystem::remove_all(root_); }

  void Write(const std::string& path, const std::string& text) {
    std::filesystem::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text;
  }
  CgroupLimits Read() { return ReadCgroupLimits(root_.string(), (root_ / "own").string()); }

  std::filesystem::path root_;
};

TEST_F(CgroupTest, Version2TakesTheTightestBoundOnTheWayUp) {
  Write("own", "0::/a/b\n");
  Write("a/b/memory.max", "max\n");
  Write("a/memory.max", "1048576\n");
  Write("a/b/cpu.max", "150000 100000\n");
  Write("cpu.max", "max 100000\n");
  EXPECT_EQ(Read().memory_bytes, 1048576);
  EXPECT_EQ(Read().cpus, 1.5);
}

TEST_F(CgroupTest, Version1ReadsControllersAndKnowsUnlimited) {
  Write("own", "5:memory:/x\n4:cpu,cpuacct:/x\n");
  Write("memory/x/memory.limit_in_bytes", "2097152\n");
  Write("memory/memory.limit_in_bytes", "9223372036854771712\n");
  Write("cpu/x/cpu.cfs_quota_us", "-1\n");
  Write("cpu/x/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(Read().memory_bytes, 2097152);
  EXPECT_EQ(Read().cpus, std::nullopt);
}

TEST_F(CgroupTest, NoGroupsMeansNoBounds) {
  EXPECT_EQ(Read().memory_bytes, std::nullopt);
  Write("own", "garbage\n0:\n0::/../..\n");
  EXPECT_EQ(Read().cpus, std::nullopt);
}

TEST(LimitsTest, RowsGetWhatTheProgramDoesNotNeed) {
  EXPECT_EQ(ReservableBytes(int64_t{1} << 30), ((int64_t{1} << 30) - (int64_t{64} << 20)) / 5 * 3);
  EXPECT_EQ(ReservableBytes(int64_t{128} << 20), int64_t{48} << 20);
  EXPECT_EQ(ReservableBytes(0), int64_t{48} << 20);
}

TEST(LimitsTest, DefaultsArePositiveAndOpenFilesReachTheHardLimit) {
  EXPECT_GT(AvailableMemoryBytes(), 1 << 20);
  EXPECT_LT(DefaultMemoryBytes(), AvailableMemoryBytes());
  EXPECT_GE(AvailableCpus(), 1);
  rlimit limit{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
  EXPECT_EQ(RaiseOpenFileLimit().value(), static_cast<int64_t>(limit.rlim_max));
}

}  // namespace
}  // namespace firn::runtime
