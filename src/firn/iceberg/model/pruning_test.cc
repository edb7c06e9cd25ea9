#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include <gtest/gtest.h>

#include "firn/iceberg/model/expression.h"
#include "firn/iceberg/model/metrics.h"

namespace firn::iceberg {
namespace {

NestedField Column(int32_t id, const char* name, const char* type) {
  NestedField field;
  field.id = id;
  field.name = name;
  field.type = Type::ParsePrimitive(type).value();
  return field;
}

const Schema& TestSchema() {
  static const Schema kSchema(0, {Column(1, "id", "int"), Column(2, "s", "string"), Column(3, "x", "double"),
                                  Column(4, "ts", "timestamp"), Column(5, "d", "decimal(9, 2)"),
                                  Column(6, "day", "date"), Column(7, "u", "uuid")});
  return kSchema;
}

FilterPtr F(std::string_view text) {
  Result<FilterPtr> filter = ParseFilter(text, TestSchema());
  EXPECT_TRUE(filter.ok()) << text << ": " << (filter.ok() ? "" : filter.error().ToString());
  return filter.ok() ? *filter : Filter::True();
}

// --- partitions

bool PartitionMay(std::string_view filter, std::string_view field, std::string_view value) {
  PartitionSpec spec{0, {ParsePartitionField(field, TestSchema()).value()}};
  const TypePtr source = TestSchema().FindById(spec.fields[0].source_id)->type;
  const Literal literal = value == "null" ? Literal::Null(source) : Literal::Parse(source, value).value();
  return MayMatchPartition(*F(filter), spec, {{spec.fields[0].transform.Apply(literal).value()}});
}

TEST(MayMatchPartition, IdentityIsExact) {
  EXPECT_TRUE(PartitionMay("s = 'a'", "s", "a"));
  EXPECT_FALSE(PartitionMay("s = 'a'", "s", "b"));
  EXPECT_FALSE(PartitionMay("s != 'a'", "s", "a"));
  EXPECT_FALSE(PartitionMay("s IS NOT NULL", "s", "null"));
  EXPECT_TRUE(PartitionMay("s IS NULL", "s", "null"));
  EXPECT_FALSE(PartitionMay("s LIKE 'b%'", "s", "abc"));
}

TEST(MayMatchPartition, BucketSeesEqualityOnly) {
  EXPECT_TRUE(PartitionMay("id = 34", "bucket(1000, id)", "34"));
  EXPECT_FALSE(PartitionMay("id = 35", "bucket(1000, id)", "34"));
  EXPECT_FALSE(PartitionMay("id IN (35, 36)", "bucket(1000, id)", "34"));
  EXPECT_TRUE(PartitionMay("id > 1000000", "bucket(1000, id)", "34"));
  EXPECT_TRUE(PartitionMay("id != 34", "bucket(1000, id)", "34"));
  EXPECT_FALSE(PartitionMay("id IS NULL", "bucket(1000, id)", "34"));
  EXPECT_FALSE(PartitionMay("id = 34", "bucket(1000, id)", "null"));
}

TEST(MayMatchPartition, TruncateAndTimesKeepTheOrder) {
  EXPECT_TRUE(PartitionMay("id < 11", "truncate(10, id)", "19"));
  EXPECT_FALSE(PartitionMay("id < 10", "truncate(10, id)", "25"));
  EXPECT_FALSE(PartitionMay("id >= 30", "truncate(10, id)", "25"));
  EXPECT_TRUE(PartitionMay("ts >= '2024-02-29T12:00:00'", "month(ts)", "2024-02-01T00:00:00"));
  EXPECT_FALSE(PartitionMay("ts >= '2024-03-01T00:00:00'", "month(ts)", "2024-02-29T23:59:59"));
  EXPECT_FALSE(PartitionMay("ts < '2024-02-29T00:00:00'", "day(ts)", "2024-03-01T00:00:00"));
  EXPECT_FALSE(PartitionMay("day = '2024-02-29'", "year(day)", "2023-01-01"));
}

TEST(MayMatchPartition, OldJavaPartitionsBefore1970AreStillFound) {
  const PartitionSpec spec{0, {ParsePartitionField("day(ts)", TestSchema()).value()}};
  const PartitionValues rounded_up{{Literal(Type::Primitive(TypeId::kDate), 0)}};
  EXPECT_TRUE(MayMatchPartition(*F("ts = '1969-12-31T10:00:00'"), spec, rounded_up));
  EXPECT_TRUE(MayMatchPartition(*F("ts <= '1969-12-31T10:00:00'"), spec, rounded_up));
  EXPECT_FALSE(MayMatchPartition(*F("ts <= '1969-12-30T10:00:00'"), spec, rounded_up));
}

TEST(MayMatchPartition, PrefixesThroughTruncate) {
  EXPECT_TRUE(PartitionMay("s LIKE 'ab%'", "truncate(3, s)", "abcd"));
  EXPECT_FALSE(PartitionMay("s LIKE 'ac%'", "truncate(3, s)", "abcd"));
  EXPECT_TRUE(PartitionMay("s LIKE 'abcde%'", "truncate(3, s)", "abcx"));
  EXPECT_FALSE(PartitionMay("s LIKE 'abxde%'", "truncate(3, s)", "abcx"));
  EXPECT_FALSE(PartitionMay("s NOT LIKE 'ab%'", "truncate(3, s)", "abcd"));
  EXPECT_TRUE(PartitionMay("s NOT LIKE 'abcd%'", "truncate(3, s)", "abcd"));
}

TEST(MayMatchPartition, VoidAndOtherColumnsSayNothing) {
  EXPECT_TRUE(PartitionMay("id = 1", "void(id)", "5"));
  EXPECT_TRUE(PartitionMay("s = 'a'", "id", "5"));
  EXPECT_TRUE(PartitionMay("s = 'a' OR id = 6", "id", "5"));
  EXPECT_FALSE(PartitionMay("s = 'a' AND id = 6", "id", "5"));
}

// --- files

struct OneColumn {
  int32_t id = 0;
  std::map<int32_t, int64_t> values, nulls, nans;
  std::map<int32_t, std::string> lower, upper;

  OneColumn(const char* column, const char* min, const char* max, int64_t null_count = 0,
            int64_t nan_count = 0) {
    const NestedField* field = TestSchema().FindByName(column);
    id = field->id;
    values[id] = 10;
    nulls[id] = null_count;
    nans[id] = nan_count;
    if (min != nullptr) lower[id] = Literal::Parse(field->type, min).value().ToBytes().value();
    if (max != nullptr) upper[id] = Literal::Parse(field->type, max).value().ToBytes().value();
  }

  bool May(std::string_view filter) const {
    return MayMatchMetrics(*F(filter), {10, &values, &nulls, &nans, &lower, &upper});
  }
};

TEST(MayMatchMetrics, BoundsDecide) {
  const OneColumn file("id", "10", "20");
  EXPECT_TRUE(file.May("id = 10"));
  EXPECT_FALSE(file.May("id = 9"));
  EXPECT_FALSE(file.May("id = 21"));
  EXPECT_FALSE(file.May("id < 10"));
  EXPECT_TRUE(file.May("id <= 10"));
  EXPECT_FALSE(file.May("id > 20"));
  EXPECT_TRUE(file.May("id >= 20"));
  EXPECT_FALSE(file.May("id IN (1, 2, 30)"));
  EXPECT_TRUE(file.May("id IN (1, 15)"));
  EXPECT_TRUE(file.May("id != 10"));
  EXPECT_FALSE(file.May("id IS NULL"));
  EXPECT_FALSE(file.May("id > 20 OR id < 5"));
  EXPECT_TRUE(file.May("s = 'unknown column of the file'"));
}

TEST(MayMatchMetrics, OneSingleValueExcludesItsNegation) {
  EXPECT_FALSE(OneColumn("id", "5", "5").May("id != 5"));
  EXPECT_FALSE(OneColumn("id", "5", "5").May("id NOT IN (4, 5)"));
  EXPECT_TRUE(OneColumn("id", "5", "5").May("id NOT IN (4, 6)"));
  EXPECT_FALSE(OneColumn("s", "abc", "abd").May("s NOT LIKE 'ab%'"));
  EXPECT_TRUE(OneColumn("s", "abc", "b").May("s NOT LIKE 'ab%'"));
}

TEST(MayMatchMetrics, NullsOnly) {
  const OneColumn file("id", nullptr, nullptr, 10);
  EXPECT_FALSE(file.May("id = 1"));
  EXPECT_FALSE(file.May("id != 1"));
  EXPECT_FALSE(file.May("id IS NOT NULL"));
  EXPECT_TRUE(file.May("id IS NULL"));
}

TEST(MayMatchMetrics, NanLiesAboveTheUpperBound) {
  EXPECT_FALSE(OneColumn("x", "1", "2").May("x > 5"));
  EXPECT_TRUE(OneColumn("x", "1", "2", 0, 3).May("x > 5"));
  EXPECT_TRUE(OneColumn("x", "1", "1", 0, 3).May("x != 1"));
  EXPECT_FALSE(OneColumn("x", "1", "2").May("x IS NAN"));
  EXPECT_FALSE(OneColumn("x", "1", "2", 0, 3).May("x < 1"));
  OneColumn unknown("x", "1", "2");
  unknown.nans.clear();
  EXPECT_TRUE(unknown.May("x > 5"));
  OneColumn nan_bounds("x", "NaN", "NaN");
  EXPECT_TRUE(nan_bounds.May("x = 5"));
}

TEST(MayMatchMetrics, DamagedBoundsAreIgnored) {
  OneColumn file("id", "10", "20");
  file.lower[1] = "abc";
  EXPECT_TRUE(file.May("id = 5"));
}

TEST(MayMatchMetrics, EmptyFilesNeverMatch) { EXPECT_FALSE(MayMatchMetrics(*Filter::True(), {})); }

TEST(MayMatchMetrics, PrefixesAgainstTruncatedBounds) {
  const OneColumn file("s", "bcd", "bcf");
  EXPECT_TRUE(file.May("s LIKE 'bce%'"));
  EXPECT_TRUE(file.May("s LIKE 'bcdzzz%'"));
  EXPECT_TRUE(file.May("s LIKE 'b%'"));
  EXPECT_FALSE(file.May("s LIKE 'a%'"));
  EXPECT_FALSE(file.May("s LIKE 'bcg%'"));
}

// --- manifests

TEST(MayMatchManifest, SummariesDecide) {
  const PartitionSpec spec{0, {ParsePartitionField("day(ts)", TestSchema()).value()}};
  const TypePtr type = spec.PartitionType(TestSchema()).value();
  const auto bytes = [](int32_t day) {
    return Literal(Type::Primitive(TypeId::kDate), day).ToBytes().value();
  };
  const std::vector<PartitionFieldRange> ranges = {{false, std::nullopt, bytes(100), bytes(200)}};
  const auto may = [&](std::string_view filter) { return MayMatchManifest(*F(filter), spec, *type, ranges); };
  EXPECT_TRUE(may("ts = '1970-04-11T05:00:00'"));
  EXPECT_FALSE(may("ts = '1970-04-10T05:00:00'"));
  EXPECT_FALSE(may("ts > '1970-07-21T00:00:00'"));
  EXPECT_FALSE(may("ts IS NULL"));
  EXPECT_TRUE(may("id = 4"));
  EXPECT_TRUE(MayMatchManifest(*F("ts IS NULL"), spec, *type, {})) << "no summaries known";
}

// --- against an oracle: whatever rows say, pruning never loses one

class PruningOracle : public testing::Test {
 protected:
  Literal Random(const TypePtr& type) {
    if (type->id() == TypeId::kInt) return {type, static_cast<int32_t>(Pick(41)) - 20};
    if (type->id() == TypeId::kTimestamp) return {type, (Pick(20) - 10) * 43'200'000'000 + Pick(3) - 1};
    if (type->id() == TypeId::kDouble)
      return {type, Pick(8) == 0   ? std::numeric_limits<double>::quiet_NaN()
                    : Pick(8) == 0 ? -0.0
                                   : static_cast<double>(Pick(9) - 4)};
    std::string text;
    for (int64_t i = Pick(4); i > 0; --i)
      text +=
          std::vector<std::string>{"a", "b", "\xC3\xA9", "\xF4\x8F\xBF\xBF"}[static_cast<size_t>(Pick(4))];
    return {type, text};
  }
  int64_t Pick(int64_t bound) { return static_cast<int64_t>(random_() % static_cast<uint64_t>(bound)); }

  FilterPtr RandomFilter(const NestedField& column, int depth = 0) {
    if (depth < 2 && Pick(3) == 0) {
      FilterPtr left = RandomFilter(column, depth + 1);
      FilterPtr right = RandomFilter(column, depth + 1);
      return Pick(2) == 0 ? Filter::And(left, right) : Filter::Or(left, right);
    }
    BoundPredicate predicate{PredicateOp::kEq, column.id, column.name, column.type, {Random(column.type)}};
    constexpr PredicateOp kOps[] = {
        PredicateOp::kEq,     PredicateOp::kNotEq,   PredicateOp::kLt,         PredicateOp::kLtEq,
        PredicateOp::kGt,     PredicateOp::kGtEq,    PredicateOp::kIn,         PredicateOp::kNotIn,
        PredicateOp::kIsNull, PredicateOp::kNotNull, PredicateOp::kStartsWith, PredicateOp::kNotStartsWith};
    predicate.op = kOps[Pick(column.type->id() == TypeId::kString ? 12 : 10)];
    return Filter::Predicate(predicate);
  }

  std::mt19937_64 random_{20260101};
};

TEST_F(PruningOracle, PartitionsNeverLoseAMatchingRow) {
  for (const char* field_text : {"id", "bucket(4, id)", "truncate(7, id)", "s", "truncate(2, s)",
                                 "bucket(3, s)", "year(ts)", "month(ts)", "day(ts)", "hour(ts)", "x"}) {
    const PartitionSpec spec{0, {ParsePartitionField(field_text, TestSchema()).value()}};
    const NestedField& column = *TestSchema().FindById(spec.fields[0].source_id);
    for (int i = 0; i < 3000; ++i) {
      const Literal row = Pick(10) == 0 ? Literal::Null(column.type) : Random(column.type);
      const FilterPtr filter = RandomFilter(column);
      if (!filter->Evaluate([&row](const BoundPredicate& predicate) { return predicate.Test(row); }))
        continue;
      EXPECT_TRUE(MayMatchPartition(*filter, spec, {{spec.fields[0].transform.Apply(row).value()}}))
          << field_text << ": " << filter->ToString() << " for " << row.ToHumanString();
    }
  }
}

TEST_F(PruningOracle, BoundsNeverLoseAMatchingRow) {
  for (const char* name : {"id", "s", "x", "ts"}) {
    const NestedField& column = *TestSchema().FindByName(name);
    for (int i = 0; i < 3000; ++i) {
      std::vector<Literal> rows;
      std::optional<Literal> min, max;
      std::map<int32_t, int64_t> values{{column.id, 0}}, nulls{{column.id, 0}}, nans{{column.id, 0}};
      for (int64_t count = 1 + Pick(3); count > 0; --count) {
        rows.push_back(Pick(5) == 0 ? Literal::Null(column.type) : Random(column.type));
        const Literal& row = rows.back();
        ++values[column.id];
        const bool is_nan = std::holds_alternative<double>(row.value()) && std::isnan(row.get<double>());
        if (row.is_null()) ++nulls[column.id];
        if (is_nan) ++nans[column.id];
        if (row.is_null() || is_nan) continue;
        if (!min || row.Compare(*min) < 0) min = row;
        if (!max || row.Compare(*max) > 0) max = row;
      }
      std::map<int32_t, std::string> lower, upper;
      constexpr MetricsMode kMode{MetricsMode::Kind::kTruncate, 2};
      if (min) {
        if (const auto bound = LowerBound(*min, kMode)) lower[column.id] = *bound;
        if (const auto bound = UpperBound(*max, kMode)) upper[column.id] = *bound;
      }
      const FilterPtr filter = RandomFilter(column);
      const bool any = std::ranges::any_of(rows, [&filter](const Literal& row) {
        return filter->Evaluate([&row](const BoundPredicate& predicate) { return predicate.Test(row); });
      });
      if (!any) continue;
      EXPECT_TRUE(MayMatchMetrics(
          *filter, {static_cast<int64_t>(rows.size()), &values, &nulls, &nans, &lower, &upper}))
          << name << ": " << filter->ToString();
    }
  }
}

}  // namespace
}  // namespace firn::iceberg
