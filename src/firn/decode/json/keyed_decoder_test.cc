#include "firn/decode/keyed_decoder.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>

#include "firn/decode/json/decode_test_support.h"

// Keys beside values, both JSON.
namespace firn::decode {
namespace {

using testing::Bound;
using testing::Field;
using testing::MakeSchema;
using testing::Primitive;
using testing::Rows;
using Texts = std::vector<std::string>;
using Text = std::optional<std::string>;
using Pairs = std::vector<std::pair<Text, Text>>;

record::RawBatch RawOf(const Pairs& pairs) {
  record::RawBatch raw;
  raw.partition = {"t", 3};
  raw.range.from = 100;
  raw.range.to = 100 + static_cast<int64_t>(pairs.size());
  const auto slice = [&](const Text& text) {
    if (!text) return record::Slice{};
    return record::Slice{raw.arena.Append(*text), static_cast<uint32_t>(text->size())};
  };
  for (size_t i = 0; i < pairs.size(); ++i) {
    raw.offsets.push_back(100 + static_cast<int64_t>(i));
    raw.timestamps_ms.push_back(0);
    raw.keys.push_back(slice(pairs[i].first));
    raw.values.push_back(slice(pairs[i].second));
  }
  return raw;
}

BoundSchema IdAndText() {
  return Bound({Field(1, "id", Primitive("long")), Field(2, "text", Primitive("string"))});
}

KeyedFormat Format(std::string prefix = {}) {
  return {MakeJsonDecoder, MakeJsonDecoder, "key", std::move(prefix)};
}

DecodeResult Decode(const BoundSchema& bound, const Pairs& pairs, const KeyedFormat& format = Format()) {
  return testing::DecodeWith(MakeKeyedDecoder(format, bound), RawOf(pairs));
}

TEST(KeyedDecoderTest, FieldsOfTheKeyStandBesideThoseOfTheValue) {
  const auto result =
      Decode(IdAndText(), {{R"({"id":1})", R"({"text":"a"})"}, {R"({"id":2})", R"({"text":"b"})"}});
  EXPECT_EQ(Rows(result), (Texts{R"({"id":1,"text":"a"})", R"({"id":2,"text":"b"})"}));
  EXPECT_EQ(result.consumed, 2U);
}

TEST(KeyedDecoderTest, APlainKeyGoesToItsColumn) {
  const BoundSchema bound =
      Bound({Field(1, "key", Primitive("long")), Field(2, "text", Primitive("string"))});
  EXPECT_EQ(
      Rows(Decode(bound, {{"7", R"({"text":"a"})"}, {std::nullopt, R"({"text":"b"})"}, {"null", "{}"}})),
      (Texts{R"({"key":7,"text":"a"})", R"({"key":null,"text":"b"})", R"({"key":null,"text":null})"}));
}

TEST(KeyedDecoderTest, PlainKeysAreNotReadOnIntoTheNext) {
  const BoundSchema bound = Bound({Field(1, "key", Primitive("long"))});
  EXPECT_EQ(Rows(Decode(bound, {{"1", "{}"}, {"2", "{}"}, {"30", "{}"}, {"4", "{}"}})),
            (Texts{R"({"key":1})", R"({"key":2})", R"({"key":30})", R"({"key":4})"}));
}

TEST(KeyedDecoderTest, TheValueWinsUnlessItIsNull) {
  const auto result = Decode(IdAndText(), {{R"({"id":1})", R"({"id":10,"text":"a"})"},
                                           {R"({"id":2})", R"({"id":null,"text":"b"})"}});
  EXPECT_EQ(Rows(result), (Texts{R"({"id":10,"text":"a"})", R"({"id":2,"text":"b"})"}));
}

TEST(KeyedDecoderTest, APrefixKeepsEqualNamesApart) {
  const BoundSchema bound = Bound({Field(1, "id", Primitive("long")), Field(2, "k_id", Primitive("string"))});
  EXPECT_EQ(Rows(Decode(bound, {{R"({"id":"x"})", R"({"id":10})"}}, Format("k_"))),
            (Texts{R"({"id":10,"k_id":"x"})"}));
}

TEST(KeyedDecoderTest, ABadHalfMakesTheWholeRecordADeadLetter) {
  const auto result = Decode(IdAndText(), {{R"({"id":"x"})", R"({"text":"a"})"},
                                           {R"({"id":2})", R"({"text":5})"},
                                           {"{", "{"},
                                           {R"({"id":3})", R"({"text":"c"})"}});
  EXPECT_EQ(Rows(result), (Texts{R"({"id":3,"text":"c"})"}));
  ASSERT_EQ(result.dead_letters.size(), 3U);
  EXPECT_TRUE(result.dead_letters[0].message.starts_with("key: "));
  EXPECT_EQ(result.dead_letters[0].key, R"({"id":"x"})");
  EXPECT_EQ(result.dead_letters[0].value, R"({"text":"a"})");
  EXPECT_EQ(result.dead_letters[1].reason, "type_mismatch");
  EXPECT_EQ(result.dead_letters[2].offset, 102);
  EXPECT_EQ(result.batch.records, (std::vector<uint32_t>{3}));
}

TEST(KeyedDecoderTest, ATombstoneIsOneWhateverItsKeyIs) {
  const auto result = Decode(IdAndText(), {{R"({"id":1})", std::nullopt}, {"{", std::nullopt}});
  EXPECT_EQ(result.counters.tombstones_skipped, 2);
  EXPECT_TRUE(result.dead_letters.empty());
}

TEST(KeyedDecoderTest, ARequiredColumnMayComeFromEitherHalf) {
  const BoundSchema bound =
      Bound({Field(1, "id", Primitive("long"), true), Field(2, "text", Primitive("string"))});
  const auto result =
      Decode(bound, {{R"({"id":1})", R"({"text":"a"})"}, {"{}", R"({"text":"b"})"}, {"{}", R"({"id":3})"}});
  EXPECT_EQ(Rows(result), (Texts{R"({"id":1,"text":"a"})", R"({"id":3,"text":null})"}));
  ASSERT_EQ(result.dead_letters.size(), 1U);
  EXPECT_EQ(result.dead_letters[0].reason, "missing_required");
}

/// Decodes with evolution until nothing more is asked for; new columns get ids from 100 on.
Texts Evolve(BoundSchema bound, const Pairs& pairs, const KeyedFormat& format, size_t most_deltas) {
  bound.evolution = Evolution::kAdd;
  const record::RawBatch raw = RawOf(pairs);
  Texts rows;
  int32_t next_id = 100;
  for (size_t begin = 0, deltas = 0; begin < raw.size();) {
    auto decoder = MakeKeyedDecoder(format, bound);
    const auto result = (*decoder)->Decode(raw, begin);
    if (!result.ok()) return {result.error().ToString()};
    for (const std::string& row : Rows(*result)) rows.push_back(row);
    EXPECT_TRUE(result->dead_letters.empty());
    begin += result->consumed;
    if (!result->delta) continue;
    EXPECT_LE(++deltas, most_deltas);
    std::vector<iceberg::NestedField> fields = bound.schema->fields();
    for (const auto& added : result->delta->added) fields.push_back(Field(next_id++, added.name, added.type));
    bound.schema = MakeSchema(std::move(fields));
  }
  return rows;
}

TEST(KeyedDecoderTest, EitherHalfMayAskForColumns) {
  const Texts rows = Evolve(Bound({Field(1, "id", Primitive("long"))}),
                            {{R"({"id":1})", "{}"},
                             {R"({"id":2})", R"({"v":"x"})"},
                             {R"({"id":3,"k":true})", "{}"},
                             {R"({"id":4})", R"({"v":"y"})"}},
                            Format(), 1);
  EXPECT_EQ(rows, (Texts{R"({"id":1})", R"({"id":2,"k":null,"v":"x"})", R"({"id":3,"k":true,"v":null})",
                         R"({"id":4,"k":null,"v":"y"})"}));
}

TEST(KeyedDecoderTest, TheKeysCutMayComeFirst) {
  const Texts rows =
      Evolve(Bound({Field(1, "id", Primitive("long"))}),
             {{R"({"id":1,"k":1})", R"({"w":1})"}, {R"({"id":2})", R"({"v":"x"})"}}, Format("k_"), 2);
  EXPECT_EQ(rows.size(), 2U);
  EXPECT_NE(rows[0].find(R"("k_k":1)"), std::string::npos) << rows[0];
  EXPECT_NE(rows[1].find(R"("k_id":2)"), std::string::npos) << rows[1];
}

TEST(KeyedDecoderTest, WhatBothHalvesHaveTooMuchIsRescuedTogether) {
  BoundSchema bound = Bound({Field(1, "id", Primitive("long")), Field(2, "_rescued", Primitive("string"))});
  bound.unknown_fields = UnknownFields::kRescue;
  const auto rows =
      Rows(Decode(bound, {{R"({"id":1,"a":1})", R"({"b":2})"}, {R"({"a":1})", "{}"}, {"{}", R"({"b":2})"}}));
  const auto rescued = [&](size_t i) { return nlohmann::json::parse(rows.at(i))["_rescued"]; };
  EXPECT_EQ(rescued(0), R"({"b":2,"_key":{"a":1}})");
  EXPECT_EQ(rescued(1), R"({"_key":{"a":1}})");
  EXPECT_EQ(rescued(2), R"({"b":2})");
}

}  // namespace
}  // namespace firn::decode
