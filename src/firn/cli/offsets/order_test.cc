#include "firn/cli/offsets/order.h"

#include <gtest/gtest.h>

namespace firn::cli {
namespace {

TEST(OffsetArgument, NamesPartitionAndPosition) {
  const auto parsed = ParseOffsetArgument("orders:3=1200");
  ASSERT_TRUE(parsed.ok());
  EXPECT_EQ(parsed->first, (record::SourcePartition{"orders", 3}));
  EXPECT_EQ(parsed->second, 1200);
}

TEST(OffsetArgument, TheLastColonAndTheLastEqualsSignCount) {
  const auto parsed = ParseOffsetArgument("a:b=c:0=7");
  ASSERT_TRUE(parsed.ok());
  EXPECT_EQ(parsed->first, (record::SourcePartition{"a:b=c", 0}));
}

TEST(OffsetArgument, AnythingElseIsRefusedWithAnExample) {
  for (const char* text : {"", "orders", "orders=1", ":0=1", "orders:x=1", "orders:0=-1", "orders:0=",
                           "orders:0=9x", "orders:99999999999=1", "orders:0=99999999999999999999"}) {
    const auto parsed = ParseOffsetArgument(text);
    ASSERT_FALSE(parsed.ok()) << text;
    EXPECT_NE(parsed.error().ToString().find("orders:3=1200"), std::string::npos);
  }
}

}  // namespace
}  // namespace firn::cli
