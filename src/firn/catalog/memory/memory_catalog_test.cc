#include "firn/catalog/memory/memory_catalog.h"

#include <gtest/gtest.h>

#include "firn/runtime/manual_clock.h"
#include "firn/store/memory/memory_store.h"

namespace firn::catalog {
namespace {

using iceberg::Namespace;
using iceberg::Properties;
using iceberg::TableIdentifier;

class MemoryCatalogTest : public ::testing::Test {
 protected:
  void CreateTable(const TableIdentifier& table) {
    iceberg::NewTable definition;
    iceberg::NestedField column;
    column.id = 1;
    column.name = "n";
    column.type = iceberg::Type::Primitive(iceberg::TypeId::kInt);
    definition.schema = std::make_shared<iceberg::Schema>(0, std::vector<iceberg::NestedField>{column});
    definition.uuid = "00000000-0000-4000-8000-000000000001";
    auto created = catalog_.CreateTable(table, definition);
    ASSERT_TRUE(created.ok()) << created.error().ToString();
  }

  runtime::ManualClock clock_;
  MemoryCatalog catalog_{"lake", "memory://w", std::make_shared<store::MemoryStore>(), clock_};
};

TEST_F(MemoryCatalogTest, NamespacePropertiesAreKeptAndChanged) {
  ASSERT_TRUE(catalog_.CreateNamespace({"a"}, {{"owner", "me"}, {"x", "1"}}).ok());
  ASSERT_TRUE(catalog_.UpdateNamespace({"a"}, {"x", "never-set"}, {{"owner", "you"}, {"y", "2"}}).ok());
  EXPECT_EQ(catalog_.LoadNamespace({"a"}).value(), (Properties{{"owner", "you"}, {"y", "2"}}));
  EXPECT_EQ(catalog_.UpdateNamespace({"a"}, {"y"}, {{"y", "3"}}).error().kind(), ErrorKind::kInvalidArgument);
  EXPECT_EQ(catalog_.LoadNamespace({"b"}).error().kind(), ErrorKind::kNotFound);
  EXPECT_EQ(catalog_.UpdateNamespace({"b"}, {}, {}).error().kind(), ErrorKind::kNotFound);
}

TEST_F(MemoryCatalogTest, OnlyAnEmptyNamespaceIsDropped) {
  ASSERT_TRUE(catalog_.CreateNamespace({"a"}, {}).ok());
  ASSERT_TRUE(catalog_.CreateNamespace({"a", "b"}, {}).ok());
  EXPECT_EQ(catalog_.DropNamespace({"a"}).error().kind(), ErrorKind::kInvalidArgument);
  CreateTable({{"a", "b"}, "t"});
  EXPECT_EQ(catalog_.DropNamespace({"a", "b"}).error().kind(), ErrorKind::kInvalidArgument);
  ASSERT_TRUE(catalog_.DropTable({{"a", "b"}, "t"}, false).ok());
  EXPECT_TRUE(catalog_.DropNamespace({"a", "b"}).ok());
  EXPECT_TRUE(catalog_.DropNamespace({"a"}).ok());
  EXPECT_EQ(catalog_.DropNamespace({"a"}).error().kind(), ErrorKind::kNotFound);
}

TEST_F(MemoryCatalogTest, RenameKeepsTheTableAndRefusesATakenName) {
  ASSERT_TRUE(catalog_.CreateNamespace({"a"}, {}).ok());
  ASSERT_TRUE(catalog_.CreateNamespace({"b"}, {}).ok());
  CreateTable({{"a"}, "t"});
  CreateTable({{"b"}, "taken"});
  const auto before = catalog_.LoadTable({{"a"}, "t"}).value();
  EXPECT_EQ(catalog_.RenameTable({{"a"}, "t"}, {{"b"}, "taken"}).error().kind(), ErrorKind::kAlreadyExists);
  EXPECT_EQ(catalog_.RenameTable({{"a"}, "t"}, {{"c"}, "t"}).error().kind(), ErrorKind::kNotFound);
  EXPECT_EQ(catalog_.RenameTable({{"a"}, "x"}, {{"b"}, "x"}).error().kind(), ErrorKind::kNotFound);
  ASSERT_TRUE(catalog_.RenameTable({{"a"}, "t"}, {{"b"}, "t"}).ok());
  EXPECT_EQ(catalog_.LoadTable({{"a"}, "t"}).error().kind(), ErrorKind::kNotFound);
  EXPECT_EQ(catalog_.LoadTable({{"b"}, "t"})->metadata_location, before.metadata_location);
}

}  // namespace
}  // namespace firn::catalog
