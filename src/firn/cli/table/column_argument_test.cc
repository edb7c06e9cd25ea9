#include "firn/cli/table/column_argument.h"

#include <gtest/gtest.h>

namespace firn::cli {
namespace {

void ExpectColumn(std::string_view text, std::string_view name, std::string_view type, bool required) {
  const Result<pipeline::ColumnConfig> column = ParseColumnArgument(text);
  ASSERT_TRUE(column.ok()) << column.error().ToString();
  EXPECT_EQ(column->name, name);
  EXPECT_EQ(column->type, type);
  EXPECT_EQ(column->required, required);
}

TEST(ColumnArgument, TakesNameAndType) {
  ExpectColumn("delay int", "delay", "int", false);
  ExpectColumn("  id   long   required ", "id", "long", true);
  ExpectColumn("a: struct<x: int, y: string>", "a", "struct<x: int, y: string>", false);
  ExpectColumn("\"odd name\" decimal(9, 2)", "odd name", "decimal(9, 2)", false);
}

TEST(ColumnArgument, NeedsBoth) {
  EXPECT_FALSE(ParseColumnArgument("").ok());
  EXPECT_FALSE(ParseColumnArgument("delay").ok());
  EXPECT_FALSE(ParseColumnArgument("\"unclosed int").ok());
}

}  // namespace
}  // namespace firn::cli
