#include "firn/iceberg/model/metrics.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

namespace firn::iceberg {
namespace {

constexpr MetricsMode kFull{MetricsMode::Kind::kFull, 0};
constexpr MetricsMode kTruncate{MetricsMode::Kind::kTruncate, 16};

Literal Double(double value) { return {Type::Primitive(TypeId::kDouble), value}; }

double Decoded(const std::optional<std::string>& bytes) {
  return Literal::FromBytes(Type::Primitive(TypeId::kDouble), *bytes).value().get<double>();
}

TEST(Bounds, NanAndNullGiveNone) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(LowerBound(Double(nan), kFull), std::nullopt);
  EXPECT_EQ(UpperBound(Double(nan), kFull), std::nullopt);
  EXPECT_EQ(LowerBound(Literal::Null(Type::Primitive(TypeId::kInt)), kFull), std::nullopt);
}

TEST(Bounds, ZerosAreWidenedSoThatNeitherHidesTheOther) {
  EXPECT_TRUE(std::signbit(Decoded(LowerBound(Double(0.0), kFull))));
  EXPECT_FALSE(std::signbit(Decoded(UpperBound(Double(-0.0), kFull))));
}

TEST(Bounds, ModesWithoutBoundsGiveNone) {
  EXPECT_EQ(LowerBound(Double(1), {MetricsMode::Kind::kCounts, 0}), std::nullopt);
  EXPECT_EQ(UpperBound(Double(1), {MetricsMode::Kind::kNone, 0}), std::nullopt);
}

TEST(Bounds, OnlyTextAndBinaryAreTruncated) {
  const Literal fixed(Type::Fixed(20), std::string(20, 'x'));
  const Literal text(Type::Primitive(TypeId::kString), std::string(20, 'x'));
  EXPECT_EQ(LowerBound(fixed, kTruncate)->size(), 20U);
  EXPECT_EQ(*LowerBound(text, kTruncate), std::string(16, 'x'));
  EXPECT_EQ(*UpperBound(text, kTruncate), std::string(15, 'x') + 'y');
  EXPECT_EQ(*UpperBound(text, kFull), std::string(20, 'x'));
}

TEST(TruncateTextUp, BytesThatAreNotUtf8GiveNoBoundRatherThanAWrongOne) {
  EXPECT_EQ(TruncateTextUp("\xFF\xFE\xFD", 2), std::nullopt);
}

TEST(ParseMetricsMode, TakesTheFourForms) {
  EXPECT_EQ(ParseMetricsMode("Truncate(8)").value(), (MetricsMode{MetricsMode::Kind::kTruncate, 8}));
  EXPECT_EQ(ParseMetricsMode("FULL").value().kind, MetricsMode::Kind::kFull);
  for (const char* text : {"", "truncate", "truncate()", "truncate(0)", "truncate(-1)", "truncate(1", "some"})
    EXPECT_FALSE(ParseMetricsMode(text).ok()) << text;
}

SchemaPtr Wide(int columns) {
  std::vector<NestedField> fields;
  for (int i = 1; i <= columns; ++i) {
    NestedField field;
    field.id = i;
    field.name = "c" + std::to_string(i);
    field.type = Type::Primitive(TypeId::kInt);
    fields.push_back(field);
  }
  NestedField inner = fields[0];
  inner.id = columns + 2;
  NestedField nested;
  nested.id = columns + 1;
  nested.name = "s";
  nested.type = Type::Struct({inner});
  fields.insert(fields.begin(), nested);
  return std::make_shared<Schema>(0, fields);
}

TEST(MetricsConfig, DefaultsToTruncateForAll) {
  const MetricsConfig config = MetricsConfig::Resolve({}, *Wide(10), {});
  EXPECT_EQ(config.ModeOf(10), kTruncate);
  EXPECT_EQ(config.ModeOf(12), kTruncate);
}

TEST(MetricsConfig, WideTablesKeepTheFirstColumnsLevelByLevel) {
  const MetricsConfig config = MetricsConfig::Resolve({}, *Wide(150), {});
  EXPECT_EQ(config.ModeOf(100), kTruncate);
  EXPECT_EQ(config.ModeOf(101).kind, MetricsMode::Kind::kNone);
  EXPECT_EQ(config.ModeOf(152).kind, MetricsMode::Kind::kNone)
      << "nested below the first column, but of the next level";
  const MetricsConfig more = MetricsConfig::Resolve(
      {{"write.metadata.metrics.max-inferred-column-defaults", "151"}}, *Wide(150), {});
  EXPECT_EQ(more.ModeOf(152), kTruncate);
}

TEST(MetricsConfig, ColumnBeatsSortOrderBeatsDefault) {
  const std::map<std::string, std::string> properties = {{"write.metadata.metrics.default", "counts"},
                                                         {"write.metadata.metrics.column.c2", "full"},
                                                         {"write.metadata.metrics.column.s.c1", "none"}};
  const MetricsConfig config = MetricsConfig::Resolve(
      properties, *Wide(10), {1, {SortField{1}, SortField{2}, SortField{3, Transform::Bucket(4)}}});
  EXPECT_EQ(config.ModeOf(1), kTruncate) << "raised by the sort order";
  EXPECT_EQ(config.ModeOf(2).kind, MetricsMode::Kind::kFull);
  EXPECT_EQ(config.ModeOf(3).kind, MetricsMode::Kind::kCounts) << "a bucket keeps no order";
  EXPECT_EQ(config.ModeOf(12).kind, MetricsMode::Kind::kNone);
}

}  // namespace
}  // namespace firn::iceberg
