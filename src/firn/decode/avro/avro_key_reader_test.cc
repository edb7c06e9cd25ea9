#include "firn/decode/avro/avro_key_reader.h"

#include <gtest/gtest.h>

#include "firn/decode/avro/avro_test_support.h"

namespace firn::decode::testing {
namespace {

using avro::BinaryWriter;
using Values = std::vector<std::string>;

Values ValuesOf(KeyReader& reader, const record::RawBatch& raw, size_t record = 0) {
  EXPECT_TRUE(reader.Enter(raw).ok());
  Values out;
  for (const auto& found : reader.Read(raw, record)) out.emplace_back(found.value_or("-"));
  return out;
}

Values Read(const std::vector<std::string>& paths, const std::string& schema, const std::string& datum) {
  auto reader = MakeAvroKeyReader(paths, Fixed(schema));
  EXPECT_TRUE(reader.ok());
  return ValuesOf(**reader, MakeRaw({datum}));
}

const std::string& EventSchema() {
  static const std::string schema =
      RecordOf(R"({"name":"id","type":"long"},{"name":"x","type":{"type":"array","items":"string"}},)"
               R"({"name":"payload","type":["null",{"type":"record","name":"P","fields":[)"
               R"({"name":"kind","type":["null","string"]},{"name":"n","type":"int"}]}]},)"
               R"({"name":"state","type":{"type":"enum","name":"S","symbols":["NEW","OLD"]}},)"
               R"({"name":"ok","type":"boolean"},{"name":"ratio","type":"double"},)"
               R"({"name":"kind_of","aliases":["type"],"type":"string"})");
  return schema;
}

std::string Event(const std::string& kind, const std::string& type) {
  return Datum([&](BinaryWriter& out) {
    out.WriteLong(7);
    out.WriteLong(1);
    out.WriteBytes("skipped");
    out.WriteLong(0);
    out.WriteLong(1);
    out.WriteLong(1);
    out.WriteBytes(kind);
    out.WriteLong(-3);
    out.WriteLong(1);
    out.WriteBoolean(true);
    out.WriteDouble(0.5);
    out.WriteBytes(type);
  });
}

TEST(AvroKeyReaderTest, ReadsScalarsAtAnyDepthByNameAndAlias) {
  EXPECT_EQ(
      Read({"type", "payload.kind", "payload.n", "state", "ok", "id"}, EventSchema(), Event("gold", "order")),
      (Values{"order", "gold", "-3", "OLD", "true", "7"}));
}

TEST(AvroKeyReaderTest, WhatIsNoScalarOrNotThereIsMissing) {
  EXPECT_EQ(Read({"ratio", "x", "payload", "none", "id.deeper"}, EventSchema(), Event("a", "b")),
            (Values{"-", "-", "-", "-", "-"}));
  const std::string no_payload = Datum([](BinaryWriter& out) {
    out.WriteLong(7);
    out.WriteLong(0);
    out.WriteLong(0);
    out.WriteLong(0);
    out.WriteBoolean(false);
    out.WriteDouble(0.5);
    out.WriteBytes("order");
  });
  EXPECT_EQ(Read({"payload.kind", "type", "state"}, EventSchema(), no_payload),
            (Values{"-", "order", "NEW"}));
}

TEST(AvroKeyReaderTest, ARecordThatCannotBeReadHasNoFields) {
  const std::string whole = Event("gold", "order");
  for (size_t length = 0; length < whole.size(); ++length)
    EXPECT_EQ(Read({"id", "type"}, EventSchema(), whole.substr(0, length)), (Values{"-", "-"})) << length;
}

TEST(AvroKeyReaderTest, SchemasAreThoseThatTheRecordsNameAndWaitForTheRegistry) {
  const auto text = [](const std::string& value) {
    return Datum([&](BinaryWriter& out) { out.WriteBytes(value); });
  };
  auto schemas = Numbered({RecordOf(R"({"name":"a","type":"string"})")});
  auto reader = MakeAvroKeyReader({"a", "b"}, schemas).value();
  const auto raw = MakeRaw({"0" + text("x"), "1" + text("y"), "unframed", std::nullopt});
  const Status away = reader->Enter(raw);
  ASSERT_FALSE(away.ok());
  EXPECT_EQ(away.error().kind(), ErrorKind::kUnavailable);
  schemas->texts_.push_back(RecordOf(R"({"name":"b","type":"string"})"));
  EXPECT_EQ(ValuesOf(*reader, raw, 0), (Values{"x", "-"}));
  EXPECT_EQ(ValuesOf(*reader, raw, 1), (Values{"-", "y"}));
  EXPECT_EQ(ValuesOf(*reader, raw, 2), (Values{"-", "-"}));
  EXPECT_EQ(ValuesOf(*reader, raw, 3), (Values{"-", "-"}));
}

TEST(AvroKeyReaderTest, RecordsOfAFileHaveTheFilesSchema) {
  auto reader = MakeAvroKeyReader({"type"}, nullptr).value();
  record::RawBatch raw = MakeRaw({Event("a", "order")});
  EXPECT_EQ(ValuesOf(*reader, raw), (Values{"-"})) << "nobody tells its schema";
  raw.file = std::make_shared<const record::FileOrigin>(record::FileOrigin{"f.avro", EventSchema()});
  EXPECT_EQ(ValuesOf(*reader, raw), (Values{"order"}));
}

}  // namespace
}  // namespace firn::decode::testing
