#include "firn/avro/container.h"

#include <vector>

#include <gtest/gtest.h>

namespace firn::avro {
namespace {

constexpr char kSchema[] =
    R"({"type":"record","name":"r","fields":[{"name":"n","type":"long"},{"name":"s","type":"string"}]})";

std::string MakeFile(Codec codec, int64_t rows, std::optional<int32_t> level = std::nullopt) {
  ContainerWriter writer(kSchema, {{"owner", "test"}}, {.codec = codec, .level = level, .sync_seed = "seed"});
  for (int64_t i = 0; i < rows; ++i) {
    EXPECT_TRUE(writer
                    .Append([&](BinaryWriter& out) {
                      out.WriteLong(i);
                      out.WriteBytes("row " + std::to_string(i % 7));
                    })
                    .ok());
  }
  return writer.Finish().value();
}

Result<std::vector<int64_t>> ReadNumbers(std::string_view file) {
  FIRN_ASSIGN(auto reader, ContainerReader::Open(file));
  std::vector<int64_t> numbers;
  auto read = reader.ForEach([&](BinaryReader& in) -> Status {
    FIRN_ASSIGN(auto number, in.ReadLong());
    FIRN_TRY(in.ReadBytes());
    numbers.push_back(number);
    return Ok();
  });
  if (!read.ok()) return std::move(read).error();
  return numbers;
}

class ContainerTest : public ::testing::TestWithParam<Codec> {};

TEST_P(ContainerTest, RoundTripsManyBlocks) {
  auto file = MakeFile(GetParam(), 50'000);
  auto numbers = ReadNumbers(file);
  ASSERT_TRUE(numbers.ok()) << numbers.error().ToString();
  ASSERT_EQ(numbers->size(), 50'000U);
  EXPECT_EQ(numbers->back(), 49'999);
  auto reader = ContainerReader::Open(file).value();
  EXPECT_EQ(reader.codec(), GetParam());
  EXPECT_EQ(reader.metadata().at("owner"), "test");
}

TEST_P(ContainerTest, EmptyFileHasNoData) {
  EXPECT_TRUE(ReadNumbers(MakeFile(GetParam(), 0)).value().empty());
}

TEST_P(ContainerTest, EveryCutIsCorruptOrEmptyNeverACrash) {
  auto file = MakeFile(GetParam(), 20);
  size_t header = MakeFile(GetParam(), 0).size();
  for (size_t cut = 0; cut < file.size(); ++cut) {
    auto numbers = ReadNumbers(std::string_view(file).substr(0, cut));
    EXPECT_EQ(numbers.ok(), cut == header) << cut;
    if (!numbers.ok()) {
      EXPECT_EQ(numbers.error().kind(), ErrorKind::kCorrupt);
    }
  }
}

TEST_P(ContainerTest, DamagedBytesNeverCrash) {
  auto file = MakeFile(GetParam(), 40);
  for (size_t at = 0; at < file.size(); ++at) {
    auto damaged = file;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x41);
    Ignore(ReadNumbers(damaged));  // text inside a datum may change unnoticed
  }
}

INSTANTIATE_TEST_SUITE_P(Codecs, ContainerTest,
                         ::testing::Values(Codec::kNull, Codec::kDeflate, Codec::kSnappy, Codec::kZstandard),
                         [](const auto& codec) { return std::string(ToString(codec.param)); });

TEST(Container, SnappyChecksumIsVerified) {
  auto packed = Compress(Codec::kSnappy, "hello hello hello", std::nullopt).value();
  packed.back() = static_cast<char>(packed.back() ^ 1);
  EXPECT_EQ(Decompress(Codec::kSnappy, packed, 1 << 20).error().kind(), ErrorKind::kCorrupt);
}

TEST(Container, BombsStopAtTheLimit) {
  std::string zeros(10 << 20, '\0');
  for (Codec codec : {Codec::kDeflate, Codec::kSnappy, Codec::kZstandard}) {
    auto packed = Compress(codec, zeros, std::nullopt).value();
    EXPECT_EQ(Decompress(codec, packed, 1 << 20).error().kind(), ErrorKind::kCorrupt) << ToString(codec);
    EXPECT_EQ(Decompress(codec, packed, 10 << 20).value().size(), zeros.size());
  }
}

TEST(Container, LevelsAreHonoured) {
  EXPECT_GT(MakeFile(Codec::kDeflate, 10'000, 1).size(), MakeFile(Codec::kDeflate, 10'000, 9).size());
}

TEST(Container, UnknownCodecIsUnsupportedAndNamed) {
  std::string out("Obj\x01", 4);
  BinaryWriter writer(out);
  writer.BeginItems(2);
  writer.WriteBytes("avro.codec");
  writer.WriteBytes("bzip2");
  writer.WriteBytes("avro.schema");
  writer.WriteBytes("\"long\"");
  writer.EndItems();
  out += std::string(16, 's');
  auto opened = ContainerReader::Open(out);
  EXPECT_EQ(opened.error().kind(), ErrorKind::kUnsupported);
  EXPECT_NE(opened.error().message().find("bzip2"), std::string::npos);
}

TEST(Container, OtherFilesAreCorrupt) {
  EXPECT_EQ(ContainerReader::Open("PAR1").error().kind(), ErrorKind::kCorrupt);
  EXPECT_EQ(ContainerReader::Open("").error().kind(), ErrorKind::kCorrupt);
}

}  // namespace
}  // namespace firn::avro
