#include "firn/avro/cursor.h"

#include <gtest/gtest.h>

#include <limits>

#include "firn/avro/binary.h"

namespace firn::avro {
namespace {

TEST(Cursor, ReadsWhatTheWriterWrote) {
  std::string bytes;
  BinaryWriter writer(bytes);
  const std::vector<int64_t> longs = {0,
                                      -1,
                                      63,
                                      64,
                                      -65,
                                      1LL << 40,
                                      std::numeric_limits<int64_t>::max(),
                                      std::numeric_limits<int64_t>::min()};
  for (const int64_t value : longs) writer.WriteLong(value);
  writer.WriteBoolean(true);
  writer.WriteDouble(2.5);
  writer.WriteBytes("text");
  Cursor cursor(bytes);
  int64_t value = 0;
  for (const int64_t expected : longs) {
    ASSERT_TRUE(cursor.ReadLong(&value)) << cursor.Explain();
    EXPECT_EQ(value, expected);
  }
  bool flag = false;
  double number = 0;
  std::string_view text;
  ASSERT_TRUE(cursor.ReadBoolean(&flag) && cursor.ReadDouble(&number) && cursor.ReadBytes(&text));
  EXPECT_TRUE(flag);
  EXPECT_EQ(number, 2.5);
  EXPECT_EQ(text, "text");
  EXPECT_EQ(cursor.remaining(), 0U);
}

TEST(Cursor, RefusesWhatIsCutOrTooLarge) {
  int64_t value = 0;
  EXPECT_FALSE(Cursor("").ReadLong(&value));
  EXPECT_FALSE(Cursor("\x80\x80").ReadLong(&value));
  EXPECT_FALSE(Cursor("\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x02").ReadLong(&value));
  int32_t narrow = 0;
  EXPECT_FALSE(Cursor("\x80\x80\x80\x80\x10").ReadInt(&narrow));
  std::string_view bytes;
  Cursor announced(
      std::string_view("\x0A"
                       "abc",
                       4));
  EXPECT_FALSE(announced.ReadBytes(&bytes));
  EXPECT_EQ(announced.Explain(), "Avro data, offset 1: a length beyond what is left");
}

TEST(Cursor, ItemsWithoutContentAreBounded) {
  std::string bytes;
  BinaryWriter(bytes).WriteLong(Cursor::kMaxFreeItems + 1);
  int64_t free_items = Cursor::kMaxFreeItems;
  int64_t count = 0;
  EXPECT_FALSE(Cursor(bytes).ReadBlockCount(0, &free_items, &count));
  EXPECT_FALSE(Cursor(bytes).ReadBlockCount(1, &free_items, &count));
}

}  // namespace
}  // namespace firn::avro
