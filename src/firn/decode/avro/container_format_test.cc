#include "firn/decode/avro/container_format.h"

#include <gtest/gtest.h>

#include "firn/avro/container.h"
#include "firn/decode/avro/avro_test_support.h"
#include "firn/iceberg/scan/row_json.h"
#include "firn/store/bytes_object.h"

namespace firn::decode::testing {
namespace {

Result<std::unique_ptr<record::FileReader>> Open(const std::string& bytes,
                                                 const record::FilePosition& start = {}) {
  return MakeAvroContainerFormat()->Open("file:///f.avro", std::make_shared<store::BytesObject>(bytes),
                                         nullptr, start);
}

struct Contents {
  std::vector<std::string> records;
  std::vector<int64_t> lines;
  std::string error;
};

Contents ReadAll(const std::string& bytes, const record::FilePosition& start = {},
                 size_t max_records = 1000) {
  Contents all;
  auto reader = Open(bytes, start);
  if (!reader.ok()) return {{}, {}, reader.error().ToString()};
  for (bool more = true; more;) {
    record::RawBatch batch;
    const auto read = (*reader)->Read(max_records, size_t{1} << 20, &batch);
    if (!read.ok()) {
      all.error = read.error().ToString();
      return all;
    }
    more = *read;
    EXPECT_LE(batch.values.size(), max_records);
    for (size_t i = 0; i < batch.values.size(); ++i) all.records.emplace_back(batch.value(i));
    all.lines.insert(all.lines.end(), batch.lines.begin(), batch.lines.end());
  }
  return all;
}

std::string FileOf(int records, avro::Codec codec, size_t block_bytes = 50) {
  avro::ContainerWriter writer(RecordOf(R"({"name":"a","type":"long"})"), {},
                               {.codec = codec, .block_bytes = block_bytes, .sync_seed = "s"});
  for (int i = 0; i < records; ++i) {
    EXPECT_TRUE(writer.Append([i](avro::BinaryWriter& out) { out.WriteLong(i * 1000); }).ok());
  }
  return *writer.Finish();
}

TEST(AvroContainer, SplitsTheFilesOfAnotherWriter) {
  const Contents flights = ReadAll(Golden("flights.avro"));
  EXPECT_EQ(flights.error, "");
  ASSERT_EQ(flights.records.size(), 1000U);
  EXPECT_EQ(flights.lines.front(), 1);
  EXPECT_EQ(flights.lines.back(), 1000);
}

TEST(AvroContainer, GoldenRowsOfAllTypesAreTheWritersOwn) {
  auto reader = Open(Golden("all_types.avro"));
  ASSERT_TRUE(reader.ok()) << reader.error().ToString();
  record::RawBatch raw;
  ASSERT_FALSE(*(*reader)->Read(100, 1 << 20, &raw));
  raw.file = std::make_shared<record::FileOrigin>((*reader)->origin());
  raw.offsets = {0, 1, 2};
  raw.keys.resize(3);
  raw.timestamps_ms = {0, 0, 0};
  const auto inferred = InferAvroSchema({}, nullptr);
  EXPECT_FALSE(inferred.ok());
  std::vector<record::RawBatch> sample;
  sample.push_back(std::move(raw));
  const auto columns = InferAvroSchema(sample, nullptr);
  ASSERT_TRUE(columns.ok()) << columns.error().ToString();
  BoundSchema bound;
  bound.schema = columns->schema;
  const auto result = DecodeWith(MakeAvroDecoder(bound, nullptr), sample[0]);
  ASSERT_TRUE(result.dead_letters.empty()) << result.dead_letters[0].message;
  const auto rows = iceberg::RowsToJson(*result.batch.rows, *columns->schema);
  ASSERT_TRUE(rows.ok() && rows->size() == 3);
  EXPECT_EQ(
      (*rows)[0].dump(),
      R"({"a_boolean":true,"an_int":-2,"a_long":1099511627776,"a_float":1.5,"a_double":-2.25,"text":"grüß",)"
      R"("bytes":"AP8=","kind":"LATE","hash":"YWJjZA==","price":"-12.34","total":"99999999999999.9999",)"
      R"("id":"f79c3e09-677c-4bbd-a479-3f349cb785e7","day":"1969-12-31","at_ms":"23:59:59.999",)"
      R"("at_us":"00:00:00.000001","ts_ms":"2001-01-14T12:30:15.123Z","ts_us":"2001-01-14T12:30:15.123456Z",)"
      R"("local_ms":"2001-01-14T12:30:15.123","local_us":"2001-01-14T12:30:15.123456","maybe":7,)"
      R"("either":{"long":null,"string":"word","Kind":null},"list":[1,null,3],"map":{"x":0.5},)"
      R"("leg":{"from":"SFO","miles":337}})");
  EXPECT_EQ((*rows)[1]["either"], nullptr);
  EXPECT_EQ((*rows)[1]["price"], "0.00");
  EXPECT_EQ((*rows)[1]["list"].dump(), "[]");
  EXPECT_EQ((*rows)[2]["either"].dump(), R"({"long":null,"string":null,"Kind":"EARLY"})");
  EXPECT_EQ((*rows)[2]["leg"].dump(), R"({"from":"LAX","miles":null})");
  EXPECT_EQ(columns->schema->fields()[1].doc, "thirty-two bits");
}

TEST(AvroContainer, EveryCodecGivesTheSameRecords) {
  const Contents plain = ReadAll(FileOf(500, avro::Codec::kNull));
  ASSERT_EQ(plain.records.size(), 500U);
  for (const auto codec : {avro::Codec::kDeflate, avro::Codec::kSnappy, avro::Codec::kZstandard})
    EXPECT_EQ(ReadAll(FileOf(500, codec)).records, plain.records);
}

TEST(AvroContainer, GoesOnWhereItStood) {
  const std::string bytes = FileOf(500, avro::Codec::kDeflate, 300);
  const Contents whole = ReadAll(bytes);
  for (const size_t step : {1U, 7U, 100U, 200U}) {
    std::vector<std::string> records;
    record::FilePosition at;
    for (bool more = true; more;) {
      auto reader = Open(bytes, at);
      ASSERT_TRUE(reader.ok()) << reader.error().ToString();
      record::RawBatch batch;
      const auto read = (*reader)->Read(step, 1 << 20, &batch);
      ASSERT_TRUE(read.ok()) << read.error().ToString();
      more = *read;
      at = (*reader)->position();
      for (size_t i = 0; i < batch.values.size(); ++i) records.emplace_back(batch.value(i));
      EXPECT_EQ(at.record, static_cast<int64_t>(records.size()));
    }
    EXPECT_EQ(records, whole.records) << step;
  }
}

TEST(AvroContainer, NoticesThatTheFileIsNotTheOneItWas) {
  const std::string bytes = FileOf(500, avro::Codec::kNull);
  auto reader = Open(bytes);
  record::RawBatch batch;
  ASSERT_TRUE((*reader)->Read(100, 100, &batch).ok());
  auto position = (*reader)->position();
  ASSERT_GT(position.byte, 0);
  ++position.byte;
  EXPECT_NE(ReadAll(bytes, position).error.find("the file has changed"), std::string::npos);
  EXPECT_NE(ReadAll(FileOf(10, avro::Codec::kNull), {.record = 11}).error.find("ends after 10 records"),
            std::string::npos);
}

TEST(AvroContainer, EveryTruncationIsAnErrorWithFileAndOffsetOrFewerRecords) {
  const std::string bytes = FileOf(100, avro::Codec::kNull);
  const size_t whole = ReadAll(bytes).records.size();
  size_t clean = 0;
  for (size_t length = 0; length < bytes.size(); ++length) {
    const Contents cut = ReadAll(bytes.substr(0, length));
    EXPECT_LT(cut.records.size(), whole) << length;
    if (cut.error.empty()) {
      ++clean;  // between two blocks nothing tells that there were more
    } else {
      EXPECT_NE(cut.error.find("file:///f.avro"), std::string::npos) << cut.error;
    }
  }
  EXPECT_LT(clean, 10U);
}

TEST(AvroContainer, DamageIsFoundAndPlaced) {
  std::string bytes = FileOf(100, avro::Codec::kSnappy);
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 0x55);
  const Contents damaged = ReadAll(bytes);
  EXPECT_NE(damaged.error.find("Avro file file:///f.avro: offset "), std::string::npos) << damaged.error;
  EXPECT_NE(ReadAll("PAR1 is another format").error.find("not an Avro container"), std::string::npos);
  EXPECT_NE(ReadAll("").error.find("not an Avro container"), std::string::npos);
}

TEST(AvroContainer, RefusesCodecsItDoesNotHave) {
  std::string bytes = FileOf(1, avro::Codec::kDeflate);
  bytes.replace(bytes.find("deflate"), 7, "bzip2xx");
  const Contents refused = ReadAll(bytes);
  EXPECT_NE(refused.error.find("'bzip2xx' is not supported"), std::string::npos) << refused.error;
}

}  // namespace
}  // namespace firn::decode::testing
