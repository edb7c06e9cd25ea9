#include "firn/decode/kafka_columns.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "firn/decode/json/decode_test_support.h"

namespace firn::decode {
namespace {

using testing::Field;
using testing::MakeRaw;
using testing::MakeSchema;
using testing::Primitive;

/// KafkaColumnType with ids.
iceberg::TypePtr TypeWithIds() {
  iceberg::NestedField column = Field(0, "_kafka", KafkaColumnType());
  int32_t next_id = 10;
  return iceberg::AssignFreshIds(iceberg::Schema(0, {column}), next_id)->fields()[0].type;
}

BoundSchema Bound(iceberg::TypePtr kafka) {
  BoundSchema bound;
  std::vector<iceberg::NestedField> fields = {Field(1, "id", Primitive("long"))};
  if (kafka != nullptr) fields.push_back(Field(9, "_kafka", std::move(kafka)));
  bound.schema = MakeSchema(std::move(fields));
  return bound;
}

Result<std::unique_ptr<Decoder>> MakeDecoder(const BoundSchema& bound) {
  FIRN_ASSIGN(auto decoder, MakeJsonDecoder(bound));
  return AddKafkaColumns(std::move(decoder), bound);
}

void AddHeader(record::RawBatch& raw, uint32_t record, const std::string& name, const char* value) {
  record::RawBatch::Header header{record, {}, {}};
  header.name = {raw.arena.Append(name), static_cast<uint32_t>(name.size())};
  if (value != nullptr) {
    const std::string text = value;
    header.value = {raw.arena.Append(text), static_cast<uint32_t>(text.size())};
  }
  raw.headers.push_back(header);
}

nlohmann::json KafkaOf(const std::string& row) { return nlohmann::json::parse(row)["_kafka"]; }

TEST(KafkaColumnsTest, EachRowTellsWhereItsRecordStood) {
  auto raw = MakeRaw({R"({"id":1})", "bad", std::nullopt, R"({"id":4})"});
  AddHeader(raw, 1, "of the bad one", "x");
  AddHeader(raw, 3, "h", "1");
  AddHeader(raw, 3, "h", nullptr);
  AddHeader(raw, 3, "\xFFn", "");
  const auto rows = testing::Rows(testing::DecodeWith(MakeDecoder(Bound(TypeWithIds())), raw));
  ASSERT_EQ(rows.size(), 2U);
  const auto first = KafkaOf(rows[0]);
  EXPECT_EQ(first["topic"], "t");
  EXPECT_EQ(first["partition"], 3);
  EXPECT_EQ(first["offset"], 100);
  EXPECT_EQ(first["timestamp"], "2023-11-14 22:13:20.000000Z");
  EXPECT_EQ(first["headers"], nlohmann::json::array());
  const auto second = KafkaOf(rows[1]);
  EXPECT_EQ(second["offset"], 103);
  EXPECT_EQ(second["headers"].size(), 3U);
  EXPECT_EQ(second["headers"][0]["key"], "h");
  EXPECT_TRUE(second["headers"][1]["value"].is_null());
  EXPECT_EQ(second["headers"][2]["key"], "\xEF\xBF\xBDn");
}

TEST(KafkaColumnsTest, WhatKafkaDoesNotKnowIsNull) {
  auto raw = MakeRaw({R"({"id":1})"});
  raw.keys[0] = {};
  raw.timestamps_ms[0] = -1;
  const auto kafka =
      KafkaOf(testing::Rows(testing::DecodeWith(MakeDecoder(Bound(TypeWithIds())), raw)).at(0));
  EXPECT_TRUE(kafka["key"].is_null());
  EXPECT_TRUE(kafka["timestamp"].is_null());
}

TEST(KafkaColumnsTest, NoFieldOfARecordGoesThere) {
  const auto result =
      testing::DecodeWith(MakeDecoder(Bound(TypeWithIds())), MakeRaw({R"({"id":1,"_kafka":{"offset":5}})"}));
  EXPECT_EQ(KafkaOf(testing::Rows(result).at(0))["offset"], 100);
  EXPECT_EQ(result.counters.unknown_fields_ignored, 1);
}

TEST(KafkaColumnsTest, AnExistingColumnMayHaveFewerFields) {
  const auto type =
      iceberg::Type::Struct({Field(20, "offset", Primitive("long")), Field(21, "note", Primitive("string"))});
  const auto kafka =
      KafkaOf(testing::Rows(testing::DecodeWith(MakeDecoder(Bound(type)), MakeRaw({R"({"id":1})"}))).at(0));
  EXPECT_EQ(kafka, (nlohmann::json{{"offset", 100}, {"note", nullptr}}));
}

TEST(KafkaColumnsTest, ATableWithoutTheColumnIsAskedForItFirst) {
  BoundSchema bound = Bound(nullptr);
  bound.evolution = Evolution::kAdd;
  const auto result = testing::DecodeWith(MakeDecoder(bound), MakeRaw({R"({"id":1})"}));
  EXPECT_EQ(result.consumed, 0U);
  ASSERT_TRUE(result.delta.has_value());
  EXPECT_EQ(result.delta->added.at(0).name, "_kafka");
}

TEST(KafkaColumnsTest, ATableThatCannotHaveTheColumnIsRefused) {
  EXPECT_FALSE(MakeDecoder(Bound(nullptr)).ok());
  EXPECT_FALSE(MakeDecoder(Bound(Primitive("string"))).ok());
  EXPECT_FALSE(MakeDecoder(Bound(iceberg::Type::Struct({Field(20, "offset", Primitive("string"))}))).ok());
  BoundSchema refused = Bound(nullptr);
  refused.evolution = Evolution::kAdd;
  refused.refused = {{0, "_kafka", "too many columns"}};
  EXPECT_FALSE(MakeDecoder(refused).ok());
}

}  // namespace
}  // namespace firn::decode
