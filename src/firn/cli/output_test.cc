#include "firn/cli/output.h"

#include <array>
#include <csignal>
#include <string>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace firn::cli {
namespace {

TEST(FileOutput, ReaderThatWentAwayIsNoError) {
  std::signal(SIGPIPE, SIG_IGN);
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  ::close(ends[0]);
  FileOutput out(ends[1]);
  out.Write("rows\n");
  EXPECT_TRUE(out.Flush().ok());
  EXPECT_TRUE(out.closed());
  out.Write("more\n");
  EXPECT_TRUE(out.Flush().ok());
  ::close(ends[1]);
}

TEST(FileOutput, FullDiskIsAnError) {
  const int full = ::open("/dev/full", O_WRONLY);
  ASSERT_GE(full, 0);
  {
    FileOutput out(full);
    out.Write("rows\n");
    const Status status = out.Flush();
    ASSERT_FALSE(status.ok());
    EXPECT_EQ(status.error().kind(), ErrorKind::kResourceExhausted);
    EXPECT_FALSE(out.closed());
  }
  ::close(full);
}

TEST(FileOutput, EverythingArrivesInOrder) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  {
    FileOutput out(ends[1]);
    out.Write("one ");
    out.Write("two");
  }
  ::close(ends[1]);
  std::string got(16, '\0');
  got.resize(static_cast<size_t>(::read(ends[0], got.data(), got.size())));
  EXPECT_EQ(got, "one two");
  ::close(ends[0]);
}

}  // namespace
}  // namespace firn::cli
