#pragma once

#include <arrow/api.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "firn/iceberg/model/literal.h"
#include "firn/iceberg/model/schema.h"
#include "firn/iceberg/model/test_field.h"
#include "firn/iceberg/scan/arrow_literal.h"
#include "firn/iceberg/scan/arrow_schema.h"

namespace firn::write::testing {

using iceberg::Literal;
using iceberg::NestedField;
using iceberg::Type;
using iceberg::TypeId;
using iceberg::TypePtr;
using iceberg::testing::Field;

inline void Check(const arrow::Status& status) {
  if (!status.ok()) status.Abort();
}

/// Arrow array of literals of one primitive type.
inline std::shared_ptr<arrow::Array> ArrayOf(const TypePtr& type, const std::vector<Literal>& values) {
  auto arrow_type = iceberg::ToArrowType(*type).value();
  auto builder = arrow::MakeBuilder(arrow_type).ValueOrDie();
  for (const Literal& value : values) {
    if (value.is_null()) {
      Check(builder->AppendNull());
    } else {
      auto one = iceberg::ConstantArray(value, 1, arrow::default_memory_pool()).value();
      Check(builder->AppendScalar(*one->GetScalar(0).ValueOrDie()));
    }
  }
  return builder->Finish().ValueOrDie();
}

/// Random values of any type, with the ends of its range, values before 1970, and nulls where allowed.
/// Seeded: a run repeats.
class RandomRows {
 public:
  explicit RandomRows(uint64_t seed, double nulls = 0.1) : random_(seed), nulls_(nulls) {}

  Literal Value(const TypePtr& type) {
    switch (type->id()) {
      case TypeId::kBoolean:
        return {type, Below(2) == 1};
      case TypeId::kInt:
        return {type, static_cast<int32_t>(Integer(INT32_MIN, INT32_MAX))};
      case TypeId::kDate:
        return {type, static_cast<int32_t>(Integer(-200'000, 200'000))};
      case TypeId::kLong:
        return {type, Integer(INT64_MIN, INT64_MAX)};
      case TypeId::kTime:
        return {type, static_cast<int64_t>(Below(86'400'000'000ULL))};
      case TypeId::kTimestamp:
      case TypeId::kTimestampTz:
        return {type, Integer(-4'000'000'000'000'000, 4'000'000'000'000'000)};
      case TypeId::kTimestampNs:
      case TypeId::kTimestampTzNs:
        return {type, Integer(-2'000'000'000'000'000'000, 2'000'000'000'000'000'000)};
      case TypeId::kFloat:
        return {type, static_cast<float>(Real())};
      case TypeId::kDouble:
        return {type, Real()};
      case TypeId::kDecimal:
        return {type, Decimal(type->precision())};
      case TypeId::kString:
        return {type, Text()};
      case TypeId::kBinary:
        return {type, Bytes(Below(24))};
      case TypeId::kUuid:
        return {type, Bytes(16)};
      default:
        return {type, Bytes(static_cast<uint64_t>(type->length()))};
    }
  }

  std::shared_ptr<arrow::Array> Column(const NestedField& field, int64_t rows) {
    switch (field.type->id()) {
      case TypeId::kStruct:
        return Struct(field, rows);
      case TypeId::kList:
        return List(field, rows);
      case TypeId::kMap:
        return Map(field, rows);
      default: {
        std::vector<Literal> values;
        for (int64_t i = 0; i < rows; ++i) {
          values.push_back(!field.required && IsNull() ? Literal::Null(field.type) : Value(field.type));
        }
        return ArrayOf(field.type, values);
      }
    }
  }

  std::shared_ptr<arrow::RecordBatch> Batch(const iceberg::Schema& schema, int64_t rows) {
    arrow::ArrayVector columns;
    for (const NestedField& field : schema.fields()) columns.push_back(Column(field, rows));
    return arrow::RecordBatch::Make(iceberg::ToArrowSchema(schema).value(), rows, std::move(columns));
  }

  uint64_t Below(uint64_t end) { return random_() % end; }

 private:
  bool IsNull() { return static_cast<double>(Below(1'000'000)) < nulls_ * 1'000'000; }
  int64_t Integer(int64_t min, int64_t max) {
    switch (Below(8)) {
      case 0:
        return min;
      case 1:
        return max;
      case 2:
        return static_cast<int64_t>(Below(20)) - 10;
      default:
        return std::uniform_int_distribution<int64_t>(min, max)(random_);
    }
  }
  double Real() {
    constexpr double kOdd[] = {0.0,
                               -0.0,
                               1.5,
                               -1.5,
                               std::numeric_limits<double>::infinity(),
                               -std::numeric_limits<double>::infinity(),
                               std::numeric_limits<double>::quiet_NaN()};
    const uint64_t pick = Below(20);
    return pick < std::size(kOdd) ? kOdd[pick]
                                  : static_cast<double>(static_cast<float>(Integer(-100'000, 100'000))) / 8;
  }
  Int128 Decimal(int32_t precision) {
    Int128 limit = 1;
    for (int32_t i = 0; i < precision; ++i) limit *= 10;
    const UInt128 raw = (static_cast<UInt128>(random_()) << 64U) | random_();
    const auto value = static_cast<Int128>(raw % static_cast<UInt128>(limit));
    return Below(2) == 0 ? value : -value;
  }
  std::string Bytes(uint64_t length) {
    std::string bytes(length, '\0');
    for (char& byte : bytes) byte = static_cast<char>(Below(256));
    return bytes;
  }
  std::string Text() {
    constexpr const char* kParts[] = {"a", "Z", "ü", "世", "😀", " ", "/", "=", ""};
    std::string text;
    for (uint64_t i = Below(12); i > 0; --i) text += kParts[Below(std::size(kParts))];
    return text;
  }
  std::shared_ptr<arrow::Buffer> Nulls(bool required, int64_t rows) {
    arrow::TypedBufferBuilder<bool> bits;
    for (int64_t i = 0; i < rows; ++i) Check(bits.Append(required || !IsNull()));
    return bits.Finish().ValueOrDie();
  }
  std::shared_ptr<arrow::Array> Struct(const NestedField& field, int64_t rows) {
    auto validity = Nulls(field.required, rows);
    const std::vector<bool> outer = hidden_;
    hidden_.resize(static_cast<size_t>(rows), false);
    for (int64_t i = 0; i < rows; ++i) {
      if (!arrow::bit_util::GetBit(validity->data(), i)) hidden_[static_cast<size_t>(i)] = true;
    }
    arrow::ArrayVector children;
    for (const NestedField& child : field.type->fields()) children.push_back(Column(child, rows));
    hidden_ = outer;
    return std::make_shared<arrow::StructArray>(iceberg::ToArrowType(*field.type).value(), rows,
                                                std::move(children), std::move(validity));
  }
  /// Offsets of lists of 0 to 3 elements; those of null lists and below null structs are empty, as builders
  /// leave them.
  std::shared_ptr<arrow::Buffer> Offsets(const std::shared_ptr<arrow::Buffer>& validity, int64_t rows) {
    arrow::TypedBufferBuilder<int32_t> offsets;
    int32_t end = 0;
    Check(offsets.Append(0));
    for (int64_t i = 0; i < rows; ++i) {
      const bool hidden = !hidden_.empty() && hidden_[static_cast<size_t>(i)];
      if (!hidden && arrow::bit_util::GetBit(validity->data(), i)) end += static_cast<int32_t>(Below(4));
      Check(offsets.Append(end));
    }
    last_offset_ = end;
    return offsets.Finish().ValueOrDie();
  }
  std::shared_ptr<arrow::Array> List(const NestedField& field, int64_t rows) {
    auto validity = Nulls(field.required, rows);
    auto offsets = Offsets(validity, rows);
    const std::vector<bool> outer = std::exchange(hidden_, {});
    auto elements = Column(field.type->element(), last_offset_);
    hidden_ = outer;
    return std::make_shared<arrow::ListArray>(iceberg::ToArrowType(*field.type).value(), rows,
                                              std::move(offsets), std::move(elements), std::move(validity));
  }
  std::shared_ptr<arrow::Array> Map(const NestedField& field, int64_t rows) {
    auto validity = Nulls(field.required, rows);
    auto offsets = Offsets(validity, rows);
    const int64_t entries = last_offset_;
    NestedField key = field.type->key();
    key.required = true;
    const std::vector<bool> outer = std::exchange(hidden_, {});
    auto keys = Column(key, entries);
    auto values = Column(field.type->value(), entries);
    hidden_ = outer;
    return std::make_shared<arrow::MapArray>(iceberg::ToArrowType(*field.type).value(), rows,
                                             std::move(offsets), std::move(keys), std::move(values),
                                             std::move(validity));
  }

  std::mt19937_64 random_;
  double nulls_;
  int64_t last_offset_ = 0;
  std::vector<bool> hidden_;  ///< rows below a null struct; empty: none
};

/// A column of every type, required and optional, and nested ones.
inline iceberg::SchemaPtr SchemaOfEveryType(bool with_nanos) {
  std::vector<NestedField> fields;
  int32_t id = 0;
  std::vector<TypePtr> types = {Type::Primitive(TypeId::kBoolean),
                                Type::Primitive(TypeId::kInt),
                                Type::Primitive(TypeId::kLong),
                                Type::Primitive(TypeId::kFloat),
                                Type::Primitive(TypeId::kDouble),
                                Type::Decimal(9, 2),
                                Type::Decimal(18, 4),
                                Type::Decimal(38, 10),
                                Type::Decimal(20, 0),
                                Type::Primitive(TypeId::kDate),
                                Type::Primitive(TypeId::kTime),
                                Type::Primitive(TypeId::kTimestamp),
                                Type::Primitive(TypeId::kString),
                                Type::Primitive(TypeId::kTimestampTz),
                                Type::Primitive(TypeId::kUuid),
                                Type::Fixed(5),
                                Type::Primitive(TypeId::kBinary)};
  if (with_nanos) {
    types.push_back(Type::Primitive(TypeId::kTimestampNs));
    types.push_back(Type::Primitive(TypeId::kTimestampTzNs));
  }
  for (const TypePtr& type : types) {
    ++id;
    fields.push_back(Field(id, "c" + std::to_string(id), type, id % 5 == 0));
  }
  const TypePtr text = Type::Primitive(TypeId::kString);
  const TypePtr real = Type::Primitive(TypeId::kDouble);
  auto leaf = Type::Struct({Field(101, "x", Type::Primitive(TypeId::kInt), true), Field(102, "y", real)});
  auto deep = Type::Struct({Field(103, "inner", leaf), Field(104, "tags", Type::List(105, false, text))});
  fields.push_back(Field(50, "deep", deep));
  fields.push_back(Field(51, "structs", Type::List(106, true, Type::Struct({Field(107, "z", real)}))));
  fields.push_back(
      Field(52, "lists", Type::List(108, false, Type::List(109, false, Type::Primitive(TypeId::kLong)))));
  fields.push_back(Field(53, "map", Type::Map(110, text, 111, false, Type::Decimal(9, 2))));
  fields.push_back(Field(54, "maps",
                         Type::Map(112, Type::Primitive(TypeId::kInt), 113, true,
                                   Type::Struct({Field(114, "u", Type::Primitive(TypeId::kUuid))})),
                         true));
  return std::make_shared<const iceberg::Schema>(0, std::move(fields));
}

}  // namespace firn::write::testing
