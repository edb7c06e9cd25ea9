#include "firn/pipeline/metadata_watch.h"

#include <gtest/gtest.h>

namespace firn::pipeline {
namespace {

TEST(MetadataWatchTest, TheStoreMayBeAskedAtFirstAndThenOnceInAWhile) {
  constexpr int64_t kEveryNs = MetadataWatch::kAskEveryMs * 1'000'000;
  MetadataWatch watch;
  EXPECT_TRUE(watch.TakeTurn(5));
  EXPECT_FALSE(watch.TakeTurn(6));
  EXPECT_FALSE(watch.TakeTurn(5 + kEveryNs - 1));
  EXPECT_TRUE(watch.TakeTurn(5 + kEveryNs));
  EXPECT_FALSE(watch.TakeTurn(6 + kEveryNs));
}

TEST(MetadataWatchTest, ALargeFileIsToldOnce) {
  MetadataWatch watch;
  EXPECT_FALSE(watch.Saw(MetadataWatch::kLargeBytes - 1));
  EXPECT_TRUE(watch.Saw(MetadataWatch::kLargeBytes));
  EXPECT_FALSE(watch.Saw(MetadataWatch::kLargeBytes + 1));
}

}  // namespace
}  // namespace firn::pipeline
