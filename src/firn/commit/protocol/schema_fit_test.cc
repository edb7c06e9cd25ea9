#include "firn/commit/protocol/schema_fit.h"

#include <gtest/gtest.h>

#include <memory>
#include <utility>
#include <vector>

#include "firn/iceberg/model/literal.h"
#include "firn/iceberg/model/test_field.h"

namespace firn::commit {
namespace {

using iceberg::NestedField;
using iceberg::Schema;
using iceberg::Type;
using iceberg::TypeId;
using iceberg::TypePtr;
using iceberg::testing::Field;

const TypePtr kInt = Type::Primitive(TypeId::kInt);
const TypePtr kLong = Type::Primitive(TypeId::kLong);
const TypePtr kString = Type::Primitive(TypeId::kString);
const TypePtr kDate = Type::Primitive(TypeId::kDate);

/// id int required, text string, items list<struct<sku: string>>.
std::vector<NestedField> Before() {
  return {Field(1, "id", kInt, true), Field(2, "text", kString),
          Field(3, "items", Type::List(4, false, Type::Struct({Field(5, "sku", kString)})))};
}

std::string Why(std::vector<NestedField> current, int format_version = 2) {
  return WhyRowsDoNotFit(Schema(0, Before()), Schema(1, std::move(current)), format_version);
}

TEST(SchemaFit, WhatReadersResolveByFieldIdFits) {
  EXPECT_EQ(Why(Before()), "");
  auto current = Before();
  current.push_back(Field(6, "added", kString));
  EXPECT_EQ(Why(current), "") << "added";
  std::swap(current[0], current[2]);
  EXPECT_EQ(Why(current), "") << "reordered";
  current = Before();
  current[1].name = "note";
  EXPECT_EQ(Why(current), "") << "renamed";
  current.erase(current.begin() + 1);
  EXPECT_EQ(Why(current), "") << "dropped";
  current = Before();
  current[0].type = kLong;
  current[0].required = false;
  EXPECT_EQ(Why(current), "") << "widened and made optional";
  current = Before();
  current[2].type = Type::List(4, false, Type::Struct({Field(5, "sku", kString), Field(6, "count", kLong)}));
  EXPECT_EQ(Why(current), "") << "added inside a list";
}

TEST(SchemaFit, ANameThatMeansAnotherFieldNowDoesNot) {
  auto current = Before();
  current[1] = Field(6, "text", kString);
  EXPECT_EQ(Why(current), "column 'text' is another one of the same name now");
  current = Before();
  std::swap(current[0].name, current[1].name);
  EXPECT_NE(Why(current), "") << "names that changed places";
  current = Before();
  current[1].name = "former";
  current.push_back(Field(6, "text", kString));
  EXPECT_EQ(Why(current), "column 'text' is another one of the same name now");
  current = Before();
  current[2].type = Type::List(4, false, Type::Struct({Field(6, "sku", kString)}));
  EXPECT_EQ(Why(current), "column 'items.element.sku' is another one of the same name now");
}

TEST(SchemaFit, AColumnThatRowsMayLackAndNobodyFillsDoesNot) {
  auto current = Before();
  current[1].required = true;
  EXPECT_EQ(Why(current), "column 'text' was made required");
  current = Before();
  current.push_back(Field(6, "added", kInt, true));
  EXPECT_EQ(Why(current), "column 'added' was added as a required one");
  current.back().initial_default = std::make_shared<iceberg::Literal>(kInt, 5);
  EXPECT_EQ(Why(current, 3), "") << "readers fill it";
}

TEST(SchemaFit, ATypeThatNoPromotionLeadsToDoesNot) {
  auto current = Before();
  current[0].type = kString;
  EXPECT_EQ(Why(current), "column 'id' was int and is string now");
  const Schema date(0, {Field(1, "day", kDate)});
  const Schema timestamp(1, {Field(1, "day", Type::Primitive(TypeId::kTimestamp))});
  EXPECT_NE(WhyRowsDoNotFit(date, timestamp, 2), "");
  EXPECT_EQ(WhyRowsDoNotFit(date, timestamp, 3), "") << "a promotion of format version 3";
}

}  // namespace
}  // namespace firn::commit
