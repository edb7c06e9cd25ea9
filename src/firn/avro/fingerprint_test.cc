#include "firn/avro/fingerprint.h"

#include <gtest/gtest.h>

namespace firn::avro {
namespace {

SchemaPtr Parsed(std::string_view json) {
  auto schema = Schema::Parse(json);
  EXPECT_TRUE(schema.ok()) << schema.error().ToString();
  return *schema;
}

// The values of the specification's own test file.
TEST(Fingerprint, OfPrimitivesIsThatOfTheSpecification) {
  EXPECT_EQ(Fingerprint(*Parsed(R"("int")")), 0x7275D51A3F395C8FULL);
  EXPECT_EQ(Fingerprint(*Parsed(R"({"type":"null"})")), 0x63DD24E7CC258F8AULL);
}

TEST(Fingerprint, CanonicalFormDropsWhatDoesNotChangeTheBytes) {
  EXPECT_EQ(CanonicalForm(*Parsed(R"({
    "type": "record", "name": "Flight", "namespace": "a.b", "doc": "left out", "aliases": ["Trip"],
    "fields": [
      {"name": "at", "type": {"type": "long", "logicalType": "timestamp-millis"}, "default": 0, "order": "ignore"},
      {"name": "kind", "type": {"type": "enum", "name": "Kind", "symbols": ["X", "Y"]}},
      {"name": "again", "type": ["null", "Kind"]},
      {"name": "hash", "type": {"type": "fixed", "size": 16, "name": "c.Hash"}},
      {"name": "legs", "type": {"type": "array", "items": {"type": "map", "values": "string"}}}
    ]})")),
            R"({"name":"a.b.Flight","type":"record","fields":[{"name":"at","type":"long"},)"
            R"({"name":"kind","type":{"name":"a.b.Kind","type":"enum","symbols":["X","Y"]}},)"
            R"({"name":"again","type":["null","a.b.Kind"]},)"
            R"({"name":"hash","type":{"name":"c.Hash","type":"fixed","size":16}},)"
            R"({"name":"legs","type":{"type":"array","items":{"type":"map","values":"string"}}}]})");
}

}  // namespace
}  // namespace firn::avro
