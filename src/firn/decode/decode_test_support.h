#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "firn/decode/decoder.h"
#include "firn/iceberg/model/test_field.h"

namespace arrow {
class Array;
}

namespace firn::decode::testing {

using iceberg::testing::Field;

inline iceberg::TypePtr Primitive(std::string_view text) {
  auto type = iceberg::Type::ParsePrimitive(text);
  EXPECT_TRUE(type.ok()) << text;
  return *type;
}

inline iceberg::SchemaPtr MakeSchema(std::vector<iceberg::NestedField> fields) {
  return std::make_shared<const iceberg::Schema>(0, std::move(fields));
}

inline BoundSchema Bound(std::vector<iceberg::NestedField> fields) {
  BoundSchema bound;
  bound.schema = MakeSchema(std::move(fields));
  bound.target_table = "t";
  return bound;
}

/// Records of topic `t`, partition 3, offsets from 100, each followed in the arena by what could confuse a
/// parser that reads on.
inline record::RawBatch MakeRaw(const std::vector<std::optional<std::string>>& values) {
  record::RawBatch raw;
  raw.partition = {"t", 3};
  raw.range.from = 100;
  raw.range.to = 100 + static_cast<int64_t>(values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    raw.offsets.push_back(100 + static_cast<int64_t>(i));
    raw.timestamps_ms.push_back(1'700'000'000'000 + static_cast<int64_t>(i));
    const std::string key = "1\"}]";
    raw.keys.push_back({raw.arena.Append(key), static_cast<uint32_t>(key.size())});
    if (values[i]) {
      raw.values.push_back({raw.arena.Append(*values[i]), static_cast<uint32_t>(values[i]->size())});
    } else {
      raw.values.push_back({});
    }
  }
  return raw;
}

/// All of these records by a fresh decoder.
inline DecodeResult DecodeWith(Result<std::unique_ptr<Decoder>> decoder, const record::RawBatch& raw) {
  if (!decoder.ok()) {
    ADD_FAILURE() << decoder.error().ToString();
    return {};
  }
  auto result = (*decoder)->Decode(raw, 0);
  if (!result.ok()) {
    ADD_FAILURE() << result.error().ToString();
    return {};
  }
  return std::move(*result);
}

/// A cell as JSON: nested values as they are, dates, times and decimals as Arrow prints them.
nlohmann::json ToJson(const arrow::Array& array, int64_t row);
/// Rows as JSON objects; the batch must be valid Arrow.
std::vector<std::string> Rows(const DecodeResult& result);

}  // namespace firn::decode::testing
