#include "firn/route/declared_columns.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "firn/iceberg/model/test_field.h"

namespace firn::route {
namespace {

using iceberg::NestedField;
using iceberg::Schema;
using iceberg::Type;
using iceberg::TypeId;
using iceberg::TypePtr;
using iceberg::testing::Field;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

const TypePtr kInt = Type::Primitive(TypeId::kInt);
const TypePtr kLong = Type::Primitive(TypeId::kLong);
const TypePtr kString = Type::Primitive(TypeId::kString);

std::vector<std::string> Compare(std::vector<NestedField> declared, std::vector<NestedField> table) {
  return FindContradictions(Schema(0, std::move(declared)), Schema(0, std::move(table)), 2);
}

TEST(DeclaredColumnsTest, IdsExtraColumnsAndStricterTablesAreFine) {
  EXPECT_THAT(Compare({Field(1, "a", kInt), Field(2, "s", Type::Struct({Field(3, "x", kString)}))},
                      {Field(9, "more", kInt),
                       Field(7, "s", Type::Struct({Field(6, "y", kInt), Field(5, "x", kString)})),
                       Field(8, "a", kInt, true)}),
              IsEmpty());
}

TEST(DeclaredColumnsTest, ATableThatWasWidenedSinceIsFineAtAnyDepth) {
  const auto nested = [](const TypePtr& leaf, const TypePtr& decimal) {
    return std::vector<NestedField>{Field(1, "a", leaf),
                                    Field(2, "l", Type::List(3, false, Type::Struct({Field(4, "x", leaf)}))),
                                    Field(5, "m", Type::Map(6, kString, 7, false, decimal))};
  };
  EXPECT_THAT(Compare(nested(kInt, Type::Decimal(5, 2)), nested(kLong, Type::Decimal(9, 2))), IsEmpty());
  EXPECT_EQ(Compare(nested(kLong, Type::Decimal(9, 2)), nested(kInt, Type::Decimal(5, 2))).size(), 3u);
}

TEST(DeclaredColumnsTest, EachContradictionIsNamedWithBothSides) {
  EXPECT_THAT(
      Compare({Field(1, "a", kInt), Field(2, "Name", kString), Field(3, "gone", kLong),
               Field(4, "must", kInt, true),
               Field(5, "l", Type::List(6, false, Type::Struct({Field(7, "x", kInt)})))},
              {Field(1, "a", kString), Field(2, "name", kString), Field(4, "must", kInt),
               Field(5, "l", Type::List(6, false, Type::Struct({Field(7, "x", kString)})))}),
      ElementsAre(
          "column 'a' is declared int, but string in the table: declare what the table has",
          "column 'Name' is 'name' in the table: names are exact, case included",
          "column 'gone' (long) is not in the table: add it there, or leave it out",
          "column 'must' is declared required, but optional in the table: leave `required` out",
          "column 'l.element.x' is declared int, but string in the table: declare what the table has"));
}

}  // namespace
}  // namespace firn::route
