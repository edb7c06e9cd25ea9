#include "firn/decode/raw/raw_decoder.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "firn/decode/decode_test_support.h"

namespace firn::decode {
namespace {

using testing::Bound;
using testing::Field;
using testing::MakeRaw;
using testing::Primitive;
using Texts = std::vector<std::string>;

TEST(RawDecoderTest, KeysAndValuesAreTakenAsTheyAre) {
  const BoundSchema bound =
      Bound({Field(1, "key", Primitive("string")), Field(2, "value", Primitive("string"))});
  const auto result = testing::DecodeWith(MakeRawDecoder(bound), MakeRaw({"not {json", std::nullopt, ""}));
  EXPECT_EQ(testing::Rows(result),
            (Texts{R"({"key":"1\"}]","value":"not {json"})", R"({"key":"1\"}]","value":""})"}));
  EXPECT_EQ(result.counters.tombstones_skipped, 1);
}

TEST(RawDecoderTest, AnyBytesFitBinaryButNotString) {
  const std::string bytes = "\xFF\xFE";
  EXPECT_TRUE(
      testing::DecodeWith(MakeRawDecoder(Bound({Field(1, "value", Primitive("binary"))})), MakeRaw({bytes}))
          .dead_letters.empty());
  const auto result =
      testing::DecodeWith(MakeRawDecoder(Bound({Field(1, "value", Primitive("string"))})), MakeRaw({bytes}));
  ASSERT_EQ(result.dead_letters.size(), 1U);
  EXPECT_EQ(result.dead_letters[0].reason, "invalid_utf8");
  EXPECT_EQ(result.dead_letters[0].value, bytes);
}

TEST(RawDecoderTest, AKeyWithoutColumnIsCounted) {
  const auto result = testing::DecodeWith(MakeRawDecoder(Bound({Field(1, "value", Primitive("binary"))})),
                                          MakeRaw({"a", "b"}));
  EXPECT_EQ(result.counters.unknown_fields_ignored, 2);
}

TEST(RawDecoderTest, OtherColumnNamesAreMapped) {
  BoundSchema bound = Bound({Field(1, "payload", Primitive("string"))});
  bound.mappings[1].from = "value";
  EXPECT_EQ(testing::Rows(testing::DecodeWith(MakeRawDecoder(bound), MakeRaw({"x"}))),
            (Texts{R"({"payload":"x"})"}));
}

TEST(RawDecoderTest, ATableThatCannotTakeTheValueIsRefused) {
  EXPECT_FALSE(MakeRawDecoder(Bound({Field(1, "key", Primitive("binary"))})).ok());
  EXPECT_FALSE(MakeRawDecoder(Bound({Field(1, "value", Primitive("long"))})).ok());
  BoundSchema encoded = Bound({Field(1, "value", Primitive("binary"))});
  encoded.mappings[1].bytes_encoding = BytesEncoding::kHex;
  EXPECT_FALSE(MakeRawDecoder(encoded).ok());
}

TEST(RawDecoderTest, ANewTableGetsBinaryColumnsUnlessTextIsAskedFor) {
  EXPECT_EQ(RawSchema({}).schema->fields()[1].type->ToString(), "binary");
  EXPECT_EQ(RawSchema({.key_is_text = true}).schema->fields()[0].type->ToString(), "string");
}

}  // namespace
}  // namespace firn::decode
