#include "firn/avro/binary.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

namespace firn::avro {
namespace {

std::string Long(int64_t value) {
  std::string out;
  BinaryWriter(out).WriteLong(value);
  return out;
}

TEST(AvroBinary, LongsRoundTripAtTheirEdges) {
  for (int64_t value : {int64_t{0}, int64_t{-1}, int64_t{1}, int64_t{63}, int64_t{64}, int64_t{-65},
                        std::numeric_limits<int64_t>::max(), std::numeric_limits<int64_t>::min()}) {
    auto bytes = Long(value);
    BinaryReader reader(bytes);
    EXPECT_EQ(reader.ReadLong().value(), value);
    EXPECT_EQ(reader.remaining(), 0U);
  }
}

TEST(AvroBinary, EncodesAsTheSpecificationShows) {
  EXPECT_EQ(Long(0), std::string("\x00", 1));
  EXPECT_EQ(Long(-1), "\x01");
  EXPECT_EQ(Long(-64), "\x7f");
  EXPECT_EQ(Long(64), std::string("\x80\x01", 2));
  std::string out;
  BinaryWriter(out).WriteBytes("foo");
  EXPECT_EQ(out,
            "\x06"
            "foo");
}

TEST(AvroBinary, IntsBeyond32BitsAreCorrupt) {
  auto bytes = Long(int64_t{1} << 31);
  EXPECT_EQ(BinaryReader(bytes).ReadInt().error().kind(), ErrorKind::kCorrupt);
  bytes = Long(std::numeric_limits<int32_t>::min());
  EXPECT_EQ(BinaryReader(bytes).ReadInt().value(), std::numeric_limits<int32_t>::min());
}

TEST(AvroBinary, OverlongAndOverflowingVarintsAreCorrupt) {
  EXPECT_FALSE(BinaryReader(std::string(11, '\x80')).ReadLong().ok());
  std::string overflow = std::string(9, '\xff') + '\x02';
  EXPECT_FALSE(BinaryReader(overflow).ReadLong().ok());
  EXPECT_FALSE(BinaryReader("\x80").ReadLong().ok());
}

TEST(AvroBinary, LengthsAreCheckedAgainstTheData) {
  auto too_long = Long(5) + "abc";
  EXPECT_EQ(BinaryReader(too_long).ReadBytes().error().kind(), ErrorKind::kCorrupt);
  auto negative = Long(-3) + "abc";
  EXPECT_EQ(BinaryReader(negative).ReadBytes().error().kind(), ErrorKind::kCorrupt);
}

TEST(AvroBinary, FloatsKeepTheirBits) {
  std::string out;
  BinaryWriter writer(out);
  writer.WriteFloat(-0.0F);
  writer.WriteDouble(1.5);
  BinaryReader reader(out);
  EXPECT_TRUE(std::signbit(reader.ReadFloat().value()));
  EXPECT_EQ(reader.ReadDouble().value(), 1.5);
}

TEST(AvroBinary, ArraysOfBothBlockFormsAreRead) {
  auto schema = Schema::Parse(R"({"type":"array","items":"long"})").value();
  // One block with a byte size before it (negative count), one without.
  std::string bytes = Long(-2) + Long(2) + Long(1) + Long(2) + Long(1) + Long(3) + Long(0);
  BinaryReader reader(bytes);
  std::vector<int64_t> seen;
  ASSERT_TRUE(reader
                  .ReadItems(schema->root(),
                             [&]() -> Status {
                               FIRN_ASSIGN(auto item, reader.ReadLong());
                               seen.push_back(item);
                               return Ok();
                             })
                  .ok());
  EXPECT_EQ(seen, (std::vector<int64_t>{1, 2, 3}));
  EXPECT_EQ(reader.remaining(), 0U);
}

TEST(AvroBinary, CountsThatTheDataCannotHoldAreCorrupt) {
  auto longs = Schema::Parse(R"({"type":"array","items":"long"})").value();
  auto bytes = Long(1'000'000) + "ab";
  EXPECT_EQ(BinaryReader(bytes).Skip(longs->root()).error().kind(), ErrorKind::kCorrupt);
  auto nulls = Schema::Parse(R"({"type":"array","items":"null"})").value();
  bytes = Long(int64_t{1} << 50) + Long(0);
  EXPECT_EQ(BinaryReader(bytes).Skip(nulls->root()).error().kind(), ErrorKind::kCorrupt);
}

TEST(AvroBinary, DeepValuesAreCorruptNotACrash) {
  auto list =
      Schema::Parse(
          R"({"type":"record","name":"n","fields":[{"name":"v","type":"int"},{"name":"next","type":["null","n"]}]})")
          .value();
  std::string bytes;
  for (int i = 0; i < 1'000'000; ++i) bytes += Long(7) + Long(1);
  EXPECT_EQ(BinaryReader(bytes).Skip(list->root()).error().kind(), ErrorKind::kCorrupt);
}

TEST(AvroBinary, SkipPassesOverEveryKind) {
  auto schema = Schema::Parse(R"({"type":"record","name":"r","fields":[
      {"name":"a","type":"boolean"},{"name":"b","type":"int"},{"name":"c","type":"float"},{"name":"d","type":"double"},
      {"name":"e","type":"string"},{"name":"f","type":{"type":"fixed","name":"x","size":3}},
      {"name":"g","type":{"type":"enum","name":"y","symbols":["A","B"]}},
      {"name":"h","type":{"type":"map","values":"bytes"}},{"name":"i","type":["null","long"]}]})")
                    .value();
  std::string bytes;
  BinaryWriter writer(bytes);
  writer.WriteBoolean(true);
  writer.WriteInt(1);
  writer.WriteFloat(1);
  writer.WriteDouble(1);
  writer.WriteBytes("text");
  writer.WriteFixed("abc");
  writer.WriteInt(1);
  writer.BeginItems(1);
  writer.WriteBytes("key");
  writer.WriteBytes("value");
  writer.EndItems();
  writer.WriteInt(1);
  writer.WriteLong(9);
  BinaryReader reader(bytes);
  ASSERT_TRUE(reader.Skip(schema->root()).ok());
  EXPECT_EQ(reader.remaining(), 0U);
  for (size_t cut = 0; cut < bytes.size(); ++cut) {
    EXPECT_FALSE(BinaryReader(std::string_view(bytes).substr(0, cut)).Skip(schema->root()).ok()) << cut;
  }
}

}  // namespace
}  // namespace firn::avro
