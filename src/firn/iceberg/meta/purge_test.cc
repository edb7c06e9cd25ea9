#include "firn/iceberg/meta/purge.h"

#include <gtest/gtest.h>

#include "firn/iceberg/meta/append.h"
#include "firn/store/memory/memory_store.h"

namespace firn::iceberg {
namespace {

class PurgeTest : public ::testing::Test {
 protected:
  void MakeTable(Properties properties) {
    NewTable definition;
    definition.uuid = "00000000-0000-4000-8000-000000000001";
    definition.location = "memory://t";
    definition.properties = std::move(properties);
    NestedField column;
    column.id = 1;
    column.name = "n";
    column.type = Type::Primitive(TypeId::kInt);
    definition.schema = std::make_shared<Schema>(0, std::vector<NestedField>{column});
    table_ = NewTableMetadata(definition, 1).value();
    DataFile file;
    file.file_path = "memory://t/data/f";
    ASSERT_TRUE(store_->WriteAll(file.file_path, "x", store::IfExists::kFail).ok());
    AppendContent content;
    content.files = {file};
    content.snapshot_id = 5;
    content.commit_uuid = "c";
    auto built = AppendBuilder(store_, content).Build(table_, 1, 2).value();
    table_ = ApplyUpdates(table_, built.updates, {2, "memory://t/metadata/0.json"}).value();
    for (const char* name : {"0.json", "1.json"}) {
      ASSERT_TRUE(
          store_->WriteAll(std::string("memory://t/metadata/") + name, "{}", store::IfExists::kFail).ok());
    }
    ASSERT_TRUE(store_->WriteAll("memory://other", "x", store::IfExists::kFail).ok());
  }

  std::shared_ptr<store::MemoryStore> store_ = std::make_shared<store::MemoryStore>();
  TableMetadata table_;
};

TEST_F(PurgeTest, DeletesEverythingOfTheTableAndNothingElse) {
  MakeTable({});
  EXPECT_TRUE(PurgeTableFiles(*store_, table_, "memory://t/metadata/1.json").empty());
  EXPECT_EQ(store_->Locations(), std::vector<std::string>{"memory://other"});
}

TEST_F(PurgeTest, KeepsDataWithoutGarbageCollection) {
  MakeTable({{"gc.enabled", "false"}});
  EXPECT_TRUE(PurgeTableFiles(*store_, table_, "memory://t/metadata/1.json").empty());
  EXPECT_EQ(store_->Locations(), (std::vector<std::string>{"memory://other", "memory://t/data/f"}));
}

TEST_F(PurgeTest, NamesWhatItCouldNotDo) {
  MakeTable({});
  store_->FailNext(store::StoreOp::kDelete, "data/f", Error(ErrorKind::kUnavailable, "away"));
  EXPECT_EQ(PurgeTableFiles(*store_, table_, "memory://t/metadata/1.json"),
            std::vector<std::string>{"memory://t/data/f"});
}

}  // namespace
}  // namespace firn::iceberg
