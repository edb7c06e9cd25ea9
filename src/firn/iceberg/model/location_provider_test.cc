#include "firn/iceberg/model/location_provider.h"

#include <gtest/gtest.h>

#include "firn/iceberg/model/type.h"

namespace firn::iceberg {
namespace {

std::string FolderOf(const std::string& value) {
  PartitionSpec spec;
  PartitionField field;
  field.name = "origin";
  field.transform = Transform::Identity();
  spec.fields = {field};
  const PartitionValues values{{Literal(Type::Primitive(TypeId::kString), value)}};
  const auto provider = LocationProvider::Make("/w/t", {}).value();
  const std::string location = provider.DataLocation(spec, values, "f.parquet");
  EXPECT_TRUE(location.starts_with("/w/t/data/origin=") && location.ends_with("/f.parquet")) << location;
  return location.substr(10, location.size() - 10 - 10);
}

TEST(LocationProvider, KeepsAFolderThatFileSystemsTake) {
  EXPECT_EQ(FolderOf(std::string(190, 'x')), "origin=" + std::string(190, 'x'));
}

TEST(LocationProvider, CutsAFolderThatFileSystemsRefuse) {
  EXPECT_EQ(FolderOf(std::string(300, 'x')), "origin=" + std::string(193, 'x') + "...");
}

TEST(LocationProvider, NeverCutsThroughAnEscape) {
  for (const int lead : {0, 1, 2}) {
    const std::string folder = FolderOf(std::string(static_cast<size_t>(lead), 'x') + std::string(300, '/'));
    EXPECT_LE(folder.size(), 203);
    EXPECT_TRUE(folder.ends_with("%2F...")) << folder;
  }
}

}  // namespace
}  // namespace firn::iceberg
