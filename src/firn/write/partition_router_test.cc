#include "firn/write/partition_router.h"

#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <set>

#include "firn/write/dense_ids.h"
#include "firn/write/random_rows.h"

namespace firn::write {
namespace {

using iceberg::PartitionField;
using iceberg::PartitionSpec;
using iceberg::Schema;
using iceberg::Transform;
using testing::ArrayOf;
using testing::Field;
using testing::Literal;
using testing::RandomRows;
using testing::Type;
using testing::TypeId;
using testing::TypePtr;

const TypePtr kInt = Type::Primitive(TypeId::kInt);
const TypePtr kString = Type::Primitive(TypeId::kString);
const TypePtr kDouble = Type::Primitive(TypeId::kDouble);

PartitionSpec Spec(std::vector<std::pair<int32_t, Transform>> fields) {
  PartitionSpec spec;
  for (const auto& [source, transform] : fields) {
    const auto id = static_cast<int32_t>(1000 + spec.fields.size());
    spec.fields.push_back({source, id, "p" + std::to_string(id), transform});
  }
  return spec;
}

std::shared_ptr<arrow::RecordBatch> Rows(const Schema& schema, arrow::ArrayVector columns) {
  const int64_t length = columns[0]->length();
  return arrow::RecordBatch::Make(iceberg::ToArrowSchema(schema).value(), length, std::move(columns));
}

std::vector<Literal> Ints(const std::vector<int32_t>& values) {
  std::vector<Literal> literals;
  for (const int32_t value : values) literals.emplace_back(kInt, value);
  return literals;
}

TEST(PartitionRouterTest, EveryRowLandsInTheSegmentOfItsTupleInItsOrder) {
  const Schema schema(0, {Field(1, "a", kInt), Field(2, "b", kString), Field(3, "n", kInt, true)});
  auto router =
      PartitionRouter::Make(Spec({{1, Transform::Bucket(5)}, {2, Transform::Truncate(1)}}), schema).value();
  RandomRows random(4);
  for (int round = 0; round < 3; ++round) {
    auto batch = random.Batch(schema, 1000);
    std::vector<int32_t> numbers(1000);
    for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<int32_t>(i);
    batch = Rows(schema, {batch->column(0), batch->column(1), ArrayOf(kInt, Ints(numbers))});
    const RoutedBatch routed = router.Route(batch, arrow::default_memory_pool()).value();
    ASSERT_EQ(routed.rows->num_rows(), 1000);
    std::set<int32_t> seen;
    int64_t next = 0;
    for (const Segment& segment : routed.segments) {
      EXPECT_EQ(segment.begin, next);
      next += segment.length;
      int32_t last = -1;
      for (int64_t row = segment.begin; row < next; ++row) {
        const auto& values = router.partition(segment.partition).values;
        const Literal a = iceberg::LiteralAt(*routed.rows->column(0), row, kInt);
        const Literal b = iceberg::LiteralAt(*routed.rows->column(1), row, kString);
        EXPECT_EQ(values[0], Transform::Bucket(5).Apply(a).value());
        EXPECT_EQ(values[1], Transform::Truncate(1).Apply(b).value());
        const int32_t number = iceberg::LiteralAt(*routed.rows->column(2), row, kInt).get<int32_t>();
        EXPECT_GT(number, last);
        last = number;
        seen.insert(number);
      }
    }
    EXPECT_EQ(next, 1000);
    EXPECT_EQ(seen.size(), 1000U);
  }
}

TEST(PartitionRouterTest, TuplesAreDistinctAndIdsStayOverBatches) {
  const Schema schema(0, {Field(1, "a", kInt)});
  auto router = PartitionRouter::Make(Spec({{1, Transform::Identity()}}), schema).value();
  const auto first =
      router.Route(Rows(schema, {ArrayOf(kInt, Ints({7, 8, 7, 9}))}), arrow::default_memory_pool()).value();
  const auto second =
      router.Route(Rows(schema, {ArrayOf(kInt, Ints({9, 7, 6}))}), arrow::default_memory_pool()).value();
  EXPECT_EQ(router.partition_count(), 4U);
  EXPECT_EQ(first.segments[0].partition, second.segments[1].partition);
  router.Clear();
  EXPECT_EQ(router.partition_count(), 0U);
}

TEST(PartitionRouterTest, GroupedBatchIsNotCopied) {
  const Schema schema(0, {Field(1, "a", kInt)});
  auto router = PartitionRouter::Make(Spec({{1, Transform::Identity()}}), schema).value();
  const auto grouped = Rows(schema, {ArrayOf(kInt, Ints({3, 3, 1, 1, 1, 2}))});
  EXPECT_EQ(router.Route(grouped, arrow::default_memory_pool()).value().rows, grouped);
  const auto mixed = Rows(schema, {ArrayOf(kInt, Ints({3, 1, 3}))});
  EXPECT_NE(router.Route(mixed, arrow::default_memory_pool()).value().rows, mixed);
}

TEST(PartitionRouterTest, NullIsAPartitionOfItsOwn) {
  const Schema schema(0, {Field(1, "a", kString)});
  auto router = PartitionRouter::Make(Spec({{1, Transform::Identity()}}), schema).value();
  const auto column =
      ArrayOf(kString, {Literal::Null(kString), Literal(kString, std::string()), Literal::Null(kString)});
  const auto routed = router.Route(Rows(schema, {column}), arrow::default_memory_pool()).value();
  ASSERT_EQ(routed.segments.size(), 2U);
  EXPECT_TRUE(router.partition(routed.segments[0].partition).values[0].is_null());
  EXPECT_EQ(routed.segments[0].length, 2);
  EXPECT_EQ(router.partition(routed.segments[1].partition).values[0].get<std::string>(), "");
}

TEST(PartitionRouterTest, EveryNanIsOnePartitionAndTheZerosAreTwo) {
  const Schema schema(0, {Field(1, "a", kDouble)});
  auto router = PartitionRouter::Make(Spec({{1, Transform::Identity()}}), schema).value();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto column = ArrayOf(kDouble, {Literal(kDouble, nan), Literal(kDouble, -nan), Literal(kDouble, 0.0),
                                        Literal(kDouble, -0.0)});
  EXPECT_EQ(router.Route(Rows(schema, {column}), arrow::default_memory_pool()).value().segments.size(), 3U);
}

TEST(PartitionRouterTest, FixedPartitionValuesAreRefusedAndTheirBucketsAreNot) {
  const Schema schema(0, {Field(1, "f", Type::Fixed(4))});
  const auto refused = PartitionRouter::Make(Spec({{1, Transform::Identity()}}), schema);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().kind(), ErrorKind::kUnsupported);
  EXPECT_NE(refused.error().ToString().find("'p1000'"), std::string::npos);
  EXPECT_TRUE(PartitionRouter::Make(Spec({{1, Transform::Bucket(4)}}), schema).ok());
}

TEST(PartitionRouterTest, UnpartitionedSpecHasOnePartition) {
  const Schema schema(0, {Field(1, "a", kInt)});
  auto router = PartitionRouter::Make(PartitionSpec{}, schema).value();
  const auto routed =
      router.Route(Rows(schema, {ArrayOf(kInt, Ints({1, 2}))}), arrow::default_memory_pool()).value();
  ASSERT_EQ(routed.segments.size(), 1U);
  EXPECT_TRUE(router.partition(0).values.empty());
}

TEST(DenseIdsTest, CountsFromZeroInOrderOfAppearanceOverGrowth) {
  DenseIds ids;
  for (uint64_t i = 0; i < 100'000; ++i) ASSERT_EQ(ids.IdOf(i * 0x10000001ULL), i);
  for (uint64_t i = 0; i < 100'000; ++i) ASSERT_EQ(ids.IdOf(i * 0x10000001ULL), i);
  EXPECT_EQ(ids.key(5), 5 * 0x10000001ULL);
}

}  // namespace
}  // namespace firn::write
