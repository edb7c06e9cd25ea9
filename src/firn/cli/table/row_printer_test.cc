#include "firn/cli/table/row_printer.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace firn::cli {
namespace {

using Json = nlohmann::ordered_json;

iceberg::Schema TwoColumns() {
  std::vector<iceberg::NestedField> fields(2);
  fields[0] = {1, "id", false, iceberg::Type::Primitive(iceberg::TypeId::kLong), "", nullptr, nullptr};
  fields[1] = {2, "name", false, iceberg::Type::Primitive(iceberg::TypeId::kString), "", nullptr, nullptr};
  return iceberg::Schema(0, fields);
}

std::string Printed(RowFormat format, const std::vector<Json>& rows) {
  StringOutput out;
  const auto printer = MakeRowPrinter(format, TwoColumns(), out);
  for (const Json& row : rows) printer->Print(row);
  printer->End();
  return out.text();
}

const std::vector<Json>& Rows() {
  static const std::vector<Json> rows = {
      {{"id", 1}, {"name", "a,\"b\""}}, {{"id", nullptr}, {"name", ""}}, {{"id", 300}, {"name", nullptr}}};
  return rows;
}

TEST(RowPrinter, CsvTellsNullFromEmptyText) {
  EXPECT_EQ(Printed(RowFormat::kCsv, Rows()), "id,name\n1,\"a,\"\"b\"\"\"\n,\"\"\n300,\n");
}

TEST(RowPrinter, JsonLinesKeepColumnOrder) {
  EXPECT_EQ(Printed(RowFormat::kJsonLines, Rows()),
            "{\"id\":1,\"name\":\"a,\\\"b\\\"\"}\n{\"id\":null,\"name\":\"\"}\n{\"id\":300,\"name\":null}\n");
}

TEST(RowPrinter, TableAlignsNumbersToTheRight) {
  EXPECT_EQ(Printed(RowFormat::kTable, Rows()), " id  name\n---  -----\n  1  a,\"b\"\n     \n300  \n");
  EXPECT_EQ(Printed(RowFormat::kTable, {}), "id  name\n--  ----\n");
}

TEST(RowPrinter, LongTablesHaveOneTitle) {
  const std::vector<Json> rows(2'500, Json{{"id", 7}, {"name", "x"}});
  const std::string text = Printed(RowFormat::kTable, rows);
  EXPECT_EQ(text.find("name"), text.rfind("name"));
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 2'502);
}

TEST(RowPrinter, UnknownFormatsAreRefused) { EXPECT_FALSE(ParseRowFormat("xml").ok()); }

}  // namespace
}  // namespace firn::cli
