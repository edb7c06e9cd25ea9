#include "firn/write/transform_kernel.h"

#include <gtest/gtest.h>

#include "firn/write/random_rows.h"

namespace firn::write {
namespace {

using iceberg::Schema;
using iceberg::Transform;
using iceberg::TransformKind;
using testing::ArrayOf;
using testing::Field;
using testing::Literal;
using testing::RandomRows;
using testing::Type;
using testing::TypeId;
using testing::TypePtr;

std::vector<TypePtr> Types() {
  std::vector<TypePtr> types = {Type::Decimal(9, 2), Type::Decimal(18, 0), Type::Decimal(38, 10),
                                Type::Fixed(7)};
  for (TypeId id :
       {TypeId::kBoolean, TypeId::kInt, TypeId::kLong, TypeId::kFloat, TypeId::kDouble, TypeId::kDate,
        TypeId::kTime, TypeId::kTimestamp, TypeId::kTimestampTz, TypeId::kTimestampNs, TypeId::kTimestampTzNs,
        TypeId::kString, TypeId::kUuid, TypeId::kBinary}) {
    types.push_back(Type::Primitive(id));
  }
  return types;
}

std::vector<Transform> Transforms() {
  return {Transform::Identity(),
          Transform::Bucket(16),
          Transform::Bucket(1),
          Transform::Truncate(3),
          Transform::Truncate(100),
          Transform::Of(TransformKind::kYear),
          Transform::Of(TransformKind::kMonth),
          Transform::Of(TransformKind::kDay),
          Transform::Of(TransformKind::kHour),
          Transform::Void()};
}

void ExpectSameAsApply(const Transform& transform, const TypePtr& type, const std::vector<Literal>& values,
                       const arrow::Array& result, const TypePtr& result_type) {
  ASSERT_EQ(result.length(), static_cast<int64_t>(values.size()));
  ASSERT_TRUE(result.ValidateFull().ok()) << result.ValidateFull().ToString();
  for (size_t i = 0; i < values.size(); ++i) {
    const Literal expected = transform.Apply(values[i]).value();
    const Literal actual = iceberg::LiteralAt(result, static_cast<int64_t>(i), result_type);
    EXPECT_EQ(actual.Compare(expected), std::strong_ordering::equal)
        << transform.ToString() << " of " << type->ToString() << " " << values[i].ToHumanString();
  }
}

TEST(TransformKernelTest, EveryTransformOfEveryTypeEqualsApply) {
  RandomRows random(1);
  int combinations = 0;
  for (const TypePtr& type : Types()) {
    std::vector<Literal> values;
    for (int i = 0; i < 500; ++i) values.push_back(i % 7 == 0 ? Literal::Null(type) : random.Value(type));
    const auto column = ArrayOf(type, values);
    const Schema schema(0, {Field(1, "c", type)});
    for (const Transform& transform : Transforms()) {
      if (!transform.CanApply(*type)) continue;
      ++combinations;
      const auto kernel = TransformKernel::Make(transform, 1, schema).value();
      ASSERT_TRUE(kernel.result_type()->Equals(*transform.ResultType(type)));
      ExpectSameAsApply(transform, type, values,
                        *kernel.ApplyTo(column, arrow::default_memory_pool()).value(), kernel.result_type());
      const std::vector<Literal> part(values.begin() + 13, values.begin() + 213);
      ExpectSameAsApply(transform, type, part,
                        *kernel.ApplyTo(column->Slice(13, 200), arrow::default_memory_pool()).value(),
                        kernel.result_type());
    }
  }
  EXPECT_GT(combinations, 70);
}

TEST(TransformKernelTest, ReadsAFieldInsideAStructAsNullWhereTheStructIs) {
  const Schema schema(0, {Field(1, "s", Type::Struct({Field(2, "a", Type::Primitive(TypeId::kInt))}))});
  RandomRows random(2, 0.5);
  const auto batch = random.Batch(schema, 200);
  const auto kernel = TransformKernel::Make(Transform::Truncate(10), 2, schema).value();
  const auto result = kernel.Apply(*batch, arrow::default_memory_pool()).value();
  int nulls = 0;
  for (int64_t i = 0; i < 200; ++i) {
    if (!batch->column(0)->IsNull(i)) continue;
    ++nulls;
    EXPECT_TRUE(result->IsNull(i));
  }
  EXPECT_GT(nulls, 20);
}

TEST(TransformKernelTest, RefusesWhatItCannotWrite) {
  const Schema schema(0, {Field(1, "c", Type::Primitive(TypeId::kString))});
  EXPECT_EQ(TransformKernel::Make(Transform::Of(TransformKind::kHour), 1, schema).error().kind(),
            ErrorKind::kUnsupported);
  EXPECT_EQ(TransformKernel::Make(Transform::ParseJson("zorder[3]").value(), 1, schema).error().kind(),
            ErrorKind::kUnsupported);
  EXPECT_EQ(TransformKernel::Make(Transform::Identity(), 9, schema).error().kind(), ErrorKind::kUnsupported);
}

TEST(TransformKernelTest, VoidWorksOnAColumnThatIsGone) {
  const Schema schema(0, {Field(1, "c", Type::Primitive(TypeId::kString))});
  const auto kernel = TransformKernel::Make(Transform::Void(), 9, schema).value();
  const auto result = kernel.Apply(*RandomRows(3).Batch(schema, 5), arrow::default_memory_pool()).value();
  EXPECT_EQ(result->null_count(), 5);
}

}  // namespace
}  // namespace firn::write
