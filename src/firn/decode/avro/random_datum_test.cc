// Damaged and random data through the decoder, held against a walk over the schema's tree.

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "firn/avro/binary.h"
#include "firn/decode/avro/tree_oracle.h"

namespace firn::decode {
namespace {

std::string RandomDatum(std::mt19937_64& random) {
  std::string bytes;
  avro::BinaryWriter writer(bytes);
  const size_t parts = random() % 12;
  for (size_t i = 0; i < parts; ++i) {
    switch (random() % 4) {
      case 0:
        writer.WriteLong(static_cast<int64_t>(random() % 5));
        break;
      case 1:
        writer.WriteLong(static_cast<int64_t>(random()) >> (random() % 64));
        break;
      case 2:
        writer.WriteBytes(std::string(random() % 4, static_cast<char>('a' + random() % 3)));
        break;
      default:
        bytes += static_cast<char>(random());
    }
  }
  return bytes;
}

TEST(RandomAvroData, DecoderAndTreeAgree) {
  std::mt19937_64 random(20'260'131);  // the same data in every run
  for (int i = 0; i < 5'000; ++i) {
    const std::string input = static_cast<char>(random() % 256) + RandomDatum(random);
    ASSERT_EQ(DifferenceFromTree(input), "") << "input " << i;
  }
}

}  // namespace
}  // namespace firn::decode
