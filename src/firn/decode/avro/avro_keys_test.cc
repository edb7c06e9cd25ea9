#include <gtest/gtest.h>

#include "firn/decode/avro/avro_test_support.h"
#include "firn/decode/keyed_decoder.h"

// Keys whose schema is no record.
namespace firn::decode::testing {
namespace {

using avro::BinaryWriter;
using Values = std::vector<std::string>;

DecodeResult DecodePlainKey(const std::string& key_schema, const std::string& column_type, const Encode& key,
                            const std::string& column = "key") {
  BoundSchema bound;
  bound.schema = MakeSchema({Field(1, column, Primitive(column_type)), Field(2, "a", Primitive("string"))});
  bound.target_table = "lake.t";
  std::shared_ptr<WriterSchemas> keys = MakeFixedSchema(key_schema, column).value();
  const auto values = Fixed(RecordOf(R"({"name":"a","type":"string"})"));
  const KeyedFormat format{[&](const BoundSchema& half) { return MakeAvroDecoder(half, keys); },
                           [&](const BoundSchema& half) { return MakeAvroDecoder(half, values); }, column,
                           ""};
  record::RawBatch raw = MakeRaw({Datum([](BinaryWriter& out) { out.WriteBytes("x"); })});
  const std::string bytes = Datum(key);
  raw.keys[0] = {raw.arena.Append(bytes), static_cast<uint32_t>(bytes.size())};
  return DecodeWith(MakeKeyedDecoder(format, bound), raw);
}

TEST(AvroKeysTest, PlainKeysGoToTheirColumn) {
  const auto text = [](BinaryWriter& out) { out.WriteBytes("k1"); };
  EXPECT_EQ(Rows(DecodePlainKey(R"("string")", "string", text)), (Values{R"({"a":"x","key":"k1"})"}));
  EXPECT_EQ(Rows(DecodePlainKey(R"("long")", "long", [](BinaryWriter& out) { out.WriteLong(-5); })),
            (Values{R"({"a":"x","key":-5})"}));
  EXPECT_EQ(Rows(DecodePlainKey(R"({"type":"int","logicalType":"date"})", "date",
                                [](BinaryWriter& out) { out.WriteLong(1); })),
            (Values{R"({"a":"x","key":"1970-01-02"})"}));
  EXPECT_EQ(Rows(DecodePlainKey(R"(["null","string"])", "string",
                                [](BinaryWriter& out) {
                                  out.WriteLong(1);
                                  out.WriteBytes("k2");
                                })),
            (Values{R"({"a":"x","key":"k2"})"}));
  EXPECT_EQ(Rows(DecodePlainKey(R"("string")", "string", text, "the key")),
            (Values{R"({"a":"x","the key":"k1"})"}));
  EXPECT_EQ(Rows(DecodePlainKey(R"("bytes")", "binary", text)).size(), 1U);
}

TEST(AvroKeysTest, PlainKeyThatDoesNotFitIsABadRecord) {
  const auto result = DecodePlainKey(R"("string")", "long", [](BinaryWriter& out) { out.WriteBytes("no"); });
  ASSERT_EQ(result.dead_letters.size(), 1U);
  EXPECT_EQ(result.dead_letters[0].message.substr(0, 5), "key: ");
}

TEST(AvroKeysTest, SingleObjectKeyIsFoundByItsOwnFingerprint) {
  auto schemas = MakeSingleObjectSchemas({R"("string")"}, "key").value();
  uint64_t key = 0;
  std::string_view datum;
  Failure failure;
  // CRC-64-AVRO of "string", little-endian: the specification's own example of a fingerprint.
  ASSERT_TRUE(schemas->Unframe(std::string_view("\xC3\x01\xc7\x03\x45\x63\x72\x48\x01\x8f\x04hi", 13), &key,
                               &datum, &failure));
  const WriterSchemaPtr found = schemas->Find(key).value();
  ASSERT_NE(found->schema, nullptr) << found->failure.message;
  EXPECT_EQ(found->schema->root().fields[0].name, "key");
}

TEST(AvroKeysTest, InferenceGivesTheColumnItsType) {
  std::shared_ptr<WriterSchemas> schemas = MakeFixedSchema(R"("long")", "id").value();
  const auto inferred = InferAvroSchema({}, schemas);
  ASSERT_TRUE(inferred.ok());
  ASSERT_EQ(inferred->schema->fields().size(), 1U);
  EXPECT_EQ(inferred->schema->fields()[0].name, "id");
  EXPECT_EQ(inferred->schema->fields()[0].type->ToString(), "long");
}

}  // namespace
}  // namespace firn::decode::testing
