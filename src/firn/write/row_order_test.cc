#include "firn/write/row_order.h"

#include <gtest/gtest.h>

#include "firn/write/random_rows.h"

namespace firn::write {
namespace {

using iceberg::NullOrder;
using iceberg::Schema;
using iceberg::SortDirection;
using iceberg::SortField;
using iceberg::SortOrder;
using iceberg::Transform;
using testing::Field;
using testing::Literal;
using testing::RandomRows;
using testing::Type;
using testing::TypeId;
using testing::TypePtr;

SortField By(int32_t id, SortDirection direction, NullOrder nulls,
             Transform transform = Transform::Identity()) {
  return {id, transform, direction, nulls};
}

/// The order of two rows as the format defines it, value by value.
int CompareRows(const arrow::RecordBatch& rows, const Schema& schema, const SortOrder& order, int64_t a,
                int64_t b) {
  for (const SortField& field : order.fields) {
    const auto path = static_cast<int>(field.source_id - 1);
    const TypePtr& type = schema.fields()[static_cast<size_t>(path)].type;
    const Literal left = field.transform.Apply(iceberg::LiteralAt(*rows.column(path), a, type)).value();
    const Literal right = field.transform.Apply(iceberg::LiteralAt(*rows.column(path), b, type)).value();
    if (left.is_null() && right.is_null()) continue;
    if (left.is_null()) return field.null_order == NullOrder::kFirst ? -1 : 1;
    if (right.is_null()) return field.null_order == NullOrder::kFirst ? 1 : -1;
    const auto compared = left.Compare(right);
    if (compared == 0) continue;
    const int sign = compared < 0 ? -1 : 1;
    return field.direction == SortDirection::kAsc ? sign : -sign;
  }
  return 0;
}

TEST(RowOrderTest, OrdersEveryTypeInBothDirectionsAndNullOrders) {
  const std::vector<TypePtr> types = {Type::Primitive(TypeId::kBoolean),
                                      Type::Primitive(TypeId::kInt),
                                      Type::Primitive(TypeId::kLong),
                                      Type::Primitive(TypeId::kFloat),
                                      Type::Primitive(TypeId::kDouble),
                                      Type::Primitive(TypeId::kDate),
                                      Type::Primitive(TypeId::kTimestamp),
                                      Type::Primitive(TypeId::kString),
                                      Type::Primitive(TypeId::kUuid),
                                      Type::Primitive(TypeId::kBinary),
                                      Type::Decimal(30, 3),
                                      Type::Fixed(4)};
  RandomRows random(5);
  for (const TypePtr& type : types) {
    const Schema schema(0, {Field(1, "k", type)});
    const auto batch = random.Batch(schema, 300);
    for (const auto direction : {SortDirection::kAsc, SortDirection::kDesc}) {
      for (const auto nulls : {NullOrder::kFirst, NullOrder::kLast}) {
        const SortOrder order{1, {By(1, direction, nulls)}};
        const auto sorted =
            RowOrder::Make(order, schema).value().Sort(batch, arrow::default_memory_pool()).value();
        for (int64_t i = 1; i < sorted->num_rows(); ++i) {
          ASSERT_LE(CompareRows(*sorted, schema, order, i - 1, i), 0) << type->ToString() << " row " << i;
        }
      }
    }
  }
}

TEST(RowOrderTest, LaterFieldsBreakTiesAndEqualRowsKeepTheirOrder) {
  const Schema schema(
      0, {Field(1, "a", Type::Primitive(TypeId::kBoolean)), Field(2, "b", Type::Primitive(TypeId::kString)),
          Field(3, "n", Type::Primitive(TypeId::kInt), true)});
  RandomRows random(6);
  auto batch = random.Batch(schema, 400);
  std::vector<Literal> numbers;
  for (int32_t i = 0; i < 400; ++i) numbers.emplace_back(Type::Primitive(TypeId::kInt), i);
  batch =
      batch->SetColumn(2, batch->schema()->field(2), testing::ArrayOf(Type::Primitive(TypeId::kInt), numbers))
          .ValueOrDie();
  const SortOrder order{1,
                        {By(1, SortDirection::kDesc, NullOrder::kLast),
                         By(2, SortDirection::kAsc, NullOrder::kFirst, Transform::Truncate(1))}};
  const auto sorted = RowOrder::Make(order, schema).value().Sort(batch, arrow::default_memory_pool()).value();
  const auto& n = static_cast<const arrow::Int32Array&>(*sorted->column(2));
  for (int64_t i = 1; i < sorted->num_rows(); ++i) {
    const int compared = CompareRows(*sorted, schema, order, i - 1, i);
    ASSERT_LE(compared, 0);
    if (compared == 0) {
      ASSERT_LT(n.Value(i - 1), n.Value(i));
    }
  }
}

TEST(RowOrderTest, SortedRowsAreNotCopied) {
  const Schema schema(0, {Field(1, "a", Type::Primitive(TypeId::kInt))});
  RandomRows random(7);
  const SortOrder order{1, {By(1, SortDirection::kAsc, NullOrder::kFirst)}};
  const RowOrder rows = RowOrder::Make(order, schema).value();
  const auto once = rows.Sort(random.Batch(schema, 50), arrow::default_memory_pool()).value();
  EXPECT_EQ(rows.Sort(once, arrow::default_memory_pool()).value(), once);
}

}  // namespace
}  // namespace firn::write
