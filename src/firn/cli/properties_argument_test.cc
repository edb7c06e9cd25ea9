#include "firn/cli/properties_argument.h"

#include <gtest/gtest.h>

namespace firn::cli {
namespace {

TEST(PropertiesArgument, ValuesMayHoldEqualSignsAndBeEmpty) {
  const auto properties = ParseProperties({"a=1", "b=x=y", "c="});
  ASSERT_TRUE(properties.ok());
  EXPECT_EQ(*properties, (std::map<std::string, std::string>{{"a", "1"}, {"b", "x=y"}, {"c", ""}}));
}

TEST(PropertiesArgument, NoKeyAndTheSameKeyTwiceAreRefused) {
  for (const auto& wrong : std::vector<std::vector<std::string>>{{"a"}, {"=1"}, {"a=1", "a=2"}}) {
    EXPECT_EQ(ParseProperties(wrong).error().kind(), ErrorKind::kInvalidArgument);
  }
}

}  // namespace
}  // namespace firn::cli
