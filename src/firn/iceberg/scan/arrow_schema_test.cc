#include "firn/iceberg/scan/arrow_schema.h"

#include <arrow/type.h>
#include <gtest/gtest.h>

#include "firn/iceberg/model/test_field.h"

namespace firn::iceberg {
namespace {

using testing::Field;

Schema EveryType() {
  std::vector<NestedField> fields;
  int32_t id = 0;
  for (TypeId type :
       {TypeId::kBoolean, TypeId::kInt, TypeId::kLong, TypeId::kFloat, TypeId::kDouble, TypeId::kDate,
        TypeId::kTime, TypeId::kTimestamp, TypeId::kTimestampTz, TypeId::kTimestampNs, TypeId::kTimestampTzNs,
        TypeId::kString, TypeId::kBinary, TypeId::kUnknown}) {
    ++id;
    fields.push_back(Field(id, "c" + std::to_string(id), Type::Primitive(type)));
  }
  fields.push_back(Field(20, "dec", Type::Decimal(12, 3), true));
  fields.push_back(Field(21, "fix", Type::Fixed(5)));
  auto leaf = Type::Struct({Field(30, "x", Type::Primitive(TypeId::kInt), true)});
  fields.push_back(Field(22, "list", Type::List(31, true, leaf)));
  fields.push_back(Field(23, "map",
                         Type::Map(32, Type::Primitive(TypeId::kString), 33, false,
                                   Type::List(34, false, Type::Primitive(TypeId::kLong)))));
  return Schema(7, std::move(fields));
}

TEST(ArrowSchemaTest, EveryTypeGoesThereAndBack) {
  const Schema schema = EveryType();
  auto arrow_schema = ToArrowSchema(schema);
  ASSERT_TRUE(arrow_schema.ok()) << arrow_schema.error().ToString();
  auto back = FromArrowSchema(**arrow_schema);
  ASSERT_TRUE(back.ok()) << back.error().ToString();
  EXPECT_TRUE(schema.SameFields(**back));
}

TEST(ArrowSchemaTest, ChildrenCarryFieldIdsAndStandardNames) {
  auto arrow_schema = ToArrowSchema(EveryType()).value();
  const auto& list = *arrow_schema->GetFieldByName("list")->type();
  EXPECT_EQ(list.field(0)->name(), "element");
  EXPECT_FALSE(list.field(0)->nullable());
  EXPECT_EQ(FieldIdOf(*list.field(0)), 31);
  const auto& map = static_cast<const arrow::MapType&>(*arrow_schema->GetFieldByName("map")->type());
  EXPECT_EQ(map.key_field()->name(), "key");
  EXPECT_EQ(FieldIdOf(*map.key_field()), 32);
  EXPECT_FALSE(map.key_field()->nullable());
  EXPECT_EQ(map.item_field()->name(), "value");
  EXPECT_EQ(FieldIdOf(*map.item_field()), 33);
  EXPECT_TRUE(map.item_field()->nullable());
}

TEST(ArrowSchemaTest, UuidIsSixteenFixedBytesInMemory) {
  auto type = ToArrowType(*Type::Primitive(TypeId::kUuid));
  ASSERT_TRUE(type.ok());
  EXPECT_TRUE((*type)->Equals(arrow::fixed_size_binary(16)));
}

TEST(ArrowSchemaTest, UnsupportedTypeNamesTheColumn) {
  Schema schema(0, {Field(1, "place", Type::Geometry("OGC:CRS84"))});
  auto result = ToArrowSchema(schema);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().kind(), ErrorKind::kUnsupported);
  EXPECT_NE(result.error().ToString().find("place"), std::string::npos);
}

TEST(ArrowSchemaTest, ForeignArrowTypesMapToTheTypeThatHoldsThem) {
  EXPECT_EQ(FromArrowType(*arrow::uint32()).value()->id(), TypeId::kLong);
  EXPECT_EQ(FromArrowType(*arrow::large_utf8()).value()->id(), TypeId::kString);
  EXPECT_EQ(FromArrowType(*arrow::dictionary(arrow::int32(), arrow::utf8())).value()->id(), TypeId::kString);
  EXPECT_EQ(FromArrowType(*arrow::uint64()).value()->ToString(), Type::Decimal(20, 0)->ToString());
  EXPECT_FALSE(FromArrowType(*arrow::duration(arrow::TimeUnit::SECOND)).ok());
}

TEST(ArrowSchemaTest, FieldWithoutIdHasNone) {
  EXPECT_EQ(FieldIdOf(*arrow::field("a", arrow::int32())), std::nullopt);
}

}  // namespace
}  // namespace firn::iceberg
