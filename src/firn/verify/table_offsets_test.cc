#include "firn/verify/table_offsets.h"

#include <gtest/gtest.h>

namespace firn::verify {
namespace {

using iceberg::NestedField;
using iceberg::Type;
using iceberg::TypeId;

NestedField Field(int32_t id, std::string name, iceberg::TypePtr type) {
  NestedField field;
  field.id = id;
  field.name = std::move(name);
  field.type = std::move(type);
  return field;
}

iceberg::Schema Flat(const std::string& prefix) {
  return {0,
          {Field(1, prefix + "topic", Type::Primitive(TypeId::kString)),
           Field(2, prefix + "partition", Type::Primitive(TypeId::kInt)),
           Field(3, prefix + "offset", Type::Primitive(TypeId::kLong))}};
}

TEST(PositionColumnsTest, AreFoundByTheUsualNames) {
  EXPECT_EQ(FindPositionColumns(Flat(""), {})->offset, "offset");
  EXPECT_EQ(FindPositionColumns(Flat("kafka_"), {})->topic, "kafka_topic");
  const iceberg::Schema nested(0, {Field(9, "_kafka", Type::Struct(Flat("").fields()))});
  EXPECT_EQ(FindPositionColumns(nested, {})->partition, "_kafka.partition");
}

TEST(PositionColumnsTest, WhatIsNamedIsTaken) {
  const auto found = FindPositionColumns(Flat("src_"), {"src_topic", "src_partition", "src_offset", ""});
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(found->topic, "src_topic");
  const iceberg::Schema without_topic(0, {Flat("").fields()[1], Flat("").fields()[2]});
  EXPECT_FALSE(FindPositionColumns(without_topic, {}).ok());
  EXPECT_EQ(FindPositionColumns(without_topic, {"", "", "", "orders"})->topic, "");
}

TEST(PositionColumnsTest, MissingOnesAreToldWithTheOptions) {
  const auto missing = FindPositionColumns(Flat("src_"), {});
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().kind(), ErrorKind::kInvalidArgument);
  EXPECT_NE(missing.error().ToString().find("--offset-column"), std::string::npos);
}

}  // namespace
}  // namespace firn::verify
