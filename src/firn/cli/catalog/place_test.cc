#include "firn/cli/catalog/place.h"

#include <gtest/gtest.h>

namespace firn::cli {
namespace {

TEST(Place, CatalogAndLevels) {
  const auto place = ParsePlace("lake.a.b");
  ASSERT_TRUE(place.ok());
  EXPECT_EQ(place->catalog, "lake");
  EXPECT_EQ(place->ns, (iceberg::Namespace{"a", "b"}));
  EXPECT_EQ(place->ToString(), "lake.a.b");
  EXPECT_TRUE(ParsePlace("lake")->ns.empty());
}

TEST(Place, EmptyLevelsAreRefused) {
  for (const char* text : {"", ".", "lake.", ".a", "lake..a"})
    EXPECT_EQ(ParsePlace(text).error().kind(), ErrorKind::kInvalidArgument) << text;
}

TEST(Place, NamespaceNeedsALevel) {
  EXPECT_FALSE(ParseNamespacePlace("lake").ok());
  EXPECT_TRUE(ParseNamespacePlace("lake.a").ok());
}

}  // namespace
}  // namespace firn::cli
