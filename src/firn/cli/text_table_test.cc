#include "firn/cli/text_table.h"

#include <gtest/gtest.h>

namespace firn::cli {
namespace {

TextTable Sample() {
  TextTable table({{"NAME"}, {"ROWS", Align::kRight}, {"NOTE"}});
  table.AddRow({"flights", "1,234", "a"});
  table.AddRow({"x", "7", "longer"});
  return table;
}

TEST(TextTable, TerminalGetsAlignedColumns) {
  StringOutput out(/*terminal=*/true);
  Sample().PrintTo(out);
  EXPECT_EQ(out.text(),
            "NAME      ROWS  NOTE\n"
            "-------  -----  ------\n"
            "flights  1,234  a\n"
            "x            7  longer\n");
}

TEST(TextTable, PipeGetsOneLineARowWithTabs) {
  StringOutput out(/*terminal=*/false);
  Sample().PrintTo(out);
  EXPECT_EQ(out.text(), "NAME\tROWS\tNOTE\nflights\t1,234\ta\nx\t7\tlonger\n");
}

TEST(TextTable, CellsCannotBreakLinesOrSteerTheTerminal) {
  TextTable table({{"A"}, {"B"}});
  table.AddRow({"one\ttwo\nthree", "\x1b[2Jred"});
  EXPECT_EQ(table.TabSeparated(), "A\tB\none\\ttwo\\nthree\t\\x1b[2Jred\n");
}

TEST(TextTable, WideCharactersCountTwoColumns) {
  EXPECT_EQ(DisplayWidth("日本"), 4u);
  EXPECT_EQ(DisplayWidth("é"), 1u);
  TextTable table({{"A"}, {"B"}});
  table.AddRow({"日本", "1"});
  table.AddRow({"ab", "2"});
  EXPECT_EQ(table.Aligned(), "A     B\n----  -\n日本  1\nab    2\n");
}

TEST(Printable, BytesThatAreNoUtf8AreShownAsHex) { EXPECT_EQ(Printable("a\xff\xc3z"), "a\\xff\\xc3z"); }

TEST(Printable, C1ControlsAreEscapedToo) { EXPECT_EQ(Printable("a\xc2\x9b z"), "a\\x9b z"); }

TEST(Shortened, LongTextEndsInDotsAndFits) {
  EXPECT_EQ(Shortened("abcdefgh", 8), "abcdefgh");
  EXPECT_EQ(Shortened("abcdefghi", 8), "abcde...");
  EXPECT_EQ(Shortened("日本日本", 6), "日...");
  EXPECT_EQ(Shortened("abcdef", 2), "..");
}

}  // namespace
}  // namespace firn::cli
