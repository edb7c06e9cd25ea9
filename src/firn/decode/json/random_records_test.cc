#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "firn/base/time.h"
#include "firn/decode/json/decode_test_support.h"

namespace firn::decode {
namespace {

using iceberg::NestedField;
using iceberg::Type;
using iceberg::TypeId;
using iceberg::TypePtr;
using testing::Field;
using testing::Primitive;

/// A JSON text and the cell it must become.
struct Value {
  std::string json;
  nlohmann::json cell;
};

/// Makes schemas, records that fit them, and the rows that must come out, without any of the decoder's code.
/// Formats freely: spaces, order of keys, escapes, repeated keys, unknown fields. On request one value of a
/// record is of the wrong kind.
class Generator {
 public:
  explicit Generator(uint32_t seed) : random_(seed) {}

  iceberg::SchemaPtr MakeSchema() {
    next_id_ = 1;
    return testing::MakeSchema(MakeFields(0, 6));
  }

  Value MakeRecord(const iceberg::Schema& schema, bool spoil) {
    spoil_ = spoil;
    spoiled_ = false;
    Value record = MakeObject(schema.fields(), 0);
    if (spoil && !spoiled_) record.json = "[" + record.json + "]";
    return record;
  }

  size_t Below(size_t limit) { return std::uniform_int_distribution<size_t>(0, limit - 1)(random_); }
  bool OneIn(size_t n) { return Below(n) == 0; }

 private:
  std::vector<NestedField> MakeFields(int depth, size_t most) {
    std::vector<NestedField> fields;
    const size_t count = 1 + Below(most);
    for (size_t i = 0; i < count; ++i) {
      const int32_t id = next_id_++;
      fields.push_back(
          Field(id, fmt::format("{}{}", OneIn(4) ? "spaced \"name\" " : "f", i), MakeType(depth), OneIn(6)));
    }
    return fields;
  }

  TypePtr MakeType(int depth) {
    const int32_t id = next_id_;
    switch (depth < 3 ? Below(12) : Below(8)) {
      case 0:
        return Primitive("int");
      case 1:
        return Primitive("long");
      case 2:
        return Primitive("double");
      case 3:
        return Primitive("string");
      case 4:
        return Primitive("boolean");
      case 5:
        return Primitive("decimal(12,3)");
      case 6:
        return Primitive("date");
      case 7:
        return Primitive("timestamp");
      case 8:
      case 9:
        return Type::Struct(MakeFields(depth + 1, 4));
      case 10:
        next_id_ += 1;
        return Type::List(id, OneIn(4), MakeType(depth + 1));
      default:
        next_id_ += 2;
        return Type::Map(id, Primitive("string"), id + 1, OneIn(4), MakeType(depth + 1));
    }
  }

  std::string Space() { return OneIn(8) ? std::string(1 + Below(3), " \n\t\r"[Below(4)]) : ""; }

  Value MakeObject(const std::vector<NestedField>& fields, int depth) {
    Value object{"", nlohmann::json::object()};
    std::vector<std::string> members;
    for (const NestedField& field : fields) {
      object.cell[field.name] = nullptr;
      if (!field.required && OneIn(5)) continue;
      if (OneIn(12)) members.push_back(Key(field.name) + ":" + MakeGood(field, depth).json);
      Value value = MakeValue(field, depth);
      members.push_back(Space() + Key(field.name) + Space() + ":" + Space() + value.json + Space());
      object.cell[field.name] = value.cell;
      if (OneIn(6)) members.push_back(fmt::format("\"unknown {}\":{{\"a\":[1,\"]}}\",null]}}", Below(3)));
    }
    if (OneIn(2)) Rotate(members, fields);
    object.json = "{" + Space() + fmt::format("{}", fmt::join(members, ",")) + "}";
    return object;
  }

  /// Another order of keys; repeated ones keep theirs, as the later one wins.
  void Rotate(std::vector<std::string>& members, const std::vector<NestedField>& fields) {
    if (members.size() <= fields.size() / 2 || members.size() < 2) return;
    for (size_t i = 1; i < members.size(); ++i) {
      if (members[i].find(':') != std::string::npos && SameKey(members[i - 1], members[i])) return;
    }
    std::rotate(members.begin(), members.begin() + static_cast<ptrdiff_t>(Below(members.size())),
                members.end());
  }
  static bool SameKey(const std::string& a, const std::string& b) {
    const auto key = [](const std::string& member) {
      return nlohmann::json::parse("{" + member + "}").begin().key();
    };
    return key(a) == key(b);
  }

  std::string Key(const std::string& name) {
    std::string text = nlohmann::json(name).dump();
    if (OneIn(15) && text[1] == 'f') text.replace(1, 1, "\\u0066");
    return text;
  }

  Value MakeGood(const NestedField& field, int depth) {
    const bool spoil = std::exchange(spoil_, false);
    Value value = MakeValue(field, depth);
    spoil_ = spoil;
    return value;
  }

  Value MakeValue(const NestedField& field, int depth) {
    if (spoil_ && !spoiled_ && OneIn(3)) {
      spoiled_ = true;
      return {Wrong(field), nullptr};
    }
    if (!field.required && OneIn(7)) return {"null", nullptr};
    switch (field.type->id()) {
      case TypeId::kStruct:
        return MakeObject(field.type->fields(), depth + 1);
      case TypeId::kList:
        return MakeList(*field.type, depth);
      case TypeId::kMap:
        return MakeMap(*field.type, depth);
      default:
        return MakeScalar(*field.type);
    }
  }

  std::string Wrong(const NestedField& field) {
    if (field.required && OneIn(2)) return "null";
    switch (field.type->id()) {
      case TypeId::kString:
        return OneIn(2) ? "1" : "{\"a\":\"b\"}";
      case TypeId::kInt:
        return OneIn(2) ? "2147483648" : "1.5";
      case TypeId::kBoolean:
        return OneIn(2) ? "\"true\"" : "0";
      case TypeId::kDecimal:
        return OneIn(2) ? "1.2345" : "1000000000";
      default:
        return OneIn(2) ? "\"?\"" : "true";
    }
  }

  Value MakeList(const Type& type, int depth) {
    Value list{"", nlohmann::json::array()};
    std::vector<std::string> elements;
    for (size_t count = Below(4); count > 0; --count) {
      Value value = MakeValue(type.element(), depth + 1);
      elements.push_back(Space() + value.json + Space());
      list.cell.push_back(value.cell);
    }
    list.json = fmt::format("[{}{}]", Space(), fmt::join(elements, ","));
    return list;
  }

  Value MakeMap(const Type& type, int depth) {
    Value map{"", nlohmann::json::object()};
    std::vector<std::string> entries;
    for (size_t count = Below(5); count > 0; --count) {
      const std::string key = fmt::format("k{}", Below(4));
      Value value = MakeValue(type.value(), depth + 1);
      entries.push_back(Space() + nlohmann::json(key).dump() + ":" + value.json);
      map.cell[key] = value.cell;
    }
    map.json = fmt::format("{{{}{}}}", fmt::join(entries, ","), Space());
    return map;
  }

  Value MakeScalar(const Type& type) {
    switch (type.id()) {
      case TypeId::kInt:
        return MakeInteger(std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max());
      case TypeId::kLong:
        return MakeInteger(std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max());
      case TypeId::kDouble: {
        const double value = std::uniform_real_distribution<double>(-1, 1)(random_) *
                             std::pow(10.0, static_cast<double>(Below(600)) - 300);
        return {fmt::format("{}", value), value};
      }
      case TypeId::kString:
        return MakeString();
      case TypeId::kBoolean: {
        const bool value = OneIn(2);
        return {value ? "true" : "false", value};
      }
      case TypeId::kDecimal: {
        const std::string text =
            fmt::format("{}{}.{:03}", OneIn(2) ? "-" : "", 1 + Below(999'999'999), Below(1000));
        return {OneIn(3) ? "\"" + text + "\"" : text, text};
      }
      case TypeId::kDate: {
        const std::string text = FormatDate(static_cast<int32_t>(Below(60'000)) - 30'000);
        return {"\"" + text + "\"", text};
      }
      default: {
        const int64_t seconds = static_cast<int64_t>(Below(4'000'000'000)) - 2'000'000'000;
        const std::string text = FormatTimestampMicros(seconds * kMicrosPerSecond, ZoneSuffix::kNone);
        const std::string fraction = fmt::format("{:06}", Below(1'000'000));
        std::string cell = text + "." + fraction;
        cell[cell.find('T')] = ' ';
        return {"\"" + text + "." + fraction + "\"", cell};
      }
    }
  }

  Value MakeInteger(int64_t lowest, int64_t highest) {
    int64_t value = std::uniform_int_distribution<int64_t>(lowest, highest)(random_);
    if (OneIn(3)) value = static_cast<int64_t>(Below(2000)) - 1000;
    if (OneIn(10)) value = OneIn(2) ? lowest : highest;
    return {std::to_string(value), value};
  }

  Value MakeString() {
    static const std::vector<std::pair<std::string, std::string>> kPieces = {
        {"a", "a"},
        {"some text ", "some text "},
        {"\\n", "\n"},
        {"\\\"", "\""},
        {"\\\\", "\\"},
        {"\\u00e9", "\xc3\xa9"},
        {"\xe4\xb8\xad", "\xe4\xb8\xad"},
        {"\\ud83d\\ude00", "\xf0\x9f\x98\x80"},
        {"0123456789abcdef", "0123456789abcdef"},
        {"\\/", "/"},
        {"{}[],:", "{}[],:"}};
    std::string json;
    std::string cell;
    for (size_t count = Below(6); count > 0; --count) {
      const auto& piece = kPieces[Below(OneIn(2) ? 2 : kPieces.size())];
      json += piece.first;
      cell += piece.second;
    }
    return {"\"" + json + "\"", cell};
  }

  std::mt19937 random_;
  int32_t next_id_ = 1;
  bool spoil_ = false;
  bool spoiled_ = false;
};

class RandomRecordsTest : public ::testing::TestWithParam<uint32_t> {};

TEST_P(RandomRecordsTest, GoodRecordsBecomeTheRowsTheyDescribeAndBadOnesLeaveNoTrace) {
  Generator generator(GetParam());
  for (int round = 0; round < 60; ++round) {
    BoundSchema bound;
    bound.schema = generator.MakeSchema();
    std::vector<std::optional<std::string>> records;
    std::vector<std::string> expected;
    std::vector<int64_t> bad;
    for (size_t i = 0; i < 25; ++i) {
      const bool spoil = generator.OneIn(4);
      const Value record = generator.MakeRecord(*bound.schema, spoil);
      if (spoil) {
        bad.push_back(100 + static_cast<int64_t>(i));
      } else {
        expected.push_back(record.cell.dump());
      }
      records.emplace_back(record.json);
    }
    const auto result = testing::DecodeAll(bound, records);
    std::vector<int64_t> letters;
    for (const auto& letter : result.dead_letters) {
      letters.push_back(letter.offset);
      EXPECT_NE(letter.reason, "malformed_json") << *letter.value;
    }
    ASSERT_EQ(letters, bad) << bound.schema->as_struct()->ToString();
    ASSERT_EQ(testing::Rows(result), expected) << bound.schema->as_struct()->ToString();
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomRecordsTest, ::testing::Range(1u, 21u));

}  // namespace
}  // namespace firn::decode
