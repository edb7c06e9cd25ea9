#include "firn/iceberg/scan/row_filter.h"

#include <gtest/gtest.h>

#include "firn/iceberg/scan/parquet_fixture.h"

namespace firn::iceberg {
namespace {

using testing::Field;
using testing::Of;
using testing::SchemaOf;

SchemaPtr TestSchema() {
  return SchemaOf({Field(1, "i", Of(TypeId::kInt)), Field(2, "l", Of(TypeId::kLong)),
                   Field(3, "d", Of(TypeId::kDouble)), Field(4, "t", Of(TypeId::kString)),
                   Field(5, "s", Type::Struct({Field(6, "x", Of(TypeId::kInt))})),
                   Field(7, "list", Type::List(8, false, Of(TypeId::kInt)))});
}

/// i: 0 1 2 null; l: 10 20 30 40; d: 0.5 NaN -1 null; t: "ab" "b" null "abc"; s.x: 1 null(struct) 3 4.
std::shared_ptr<arrow::RecordBatch> TestRows() {
  arrow::Int32Builder i;
  arrow::DoubleBuilder d;
  arrow::StringBuilder t;
  EXPECT_TRUE(i.AppendValues({0, 1, 2}).ok() && i.AppendNull().ok());
  EXPECT_TRUE(d.AppendValues({0.5, std::numeric_limits<double>::quiet_NaN(), -1.0}).ok() &&
              d.AppendNull().ok());
  EXPECT_TRUE(t.Append("ab").ok() && t.Append("b").ok() && t.AppendNull().ok() && t.Append("abc").ok());
  arrow::TypedBufferBuilder<bool> valid;
  for (const bool bit : {true, false, true, true}) EXPECT_TRUE(valid.Append(bit).ok());
  const auto schema = ToArrowSchema(*TestSchema()).value();
  const auto structs = std::make_shared<arrow::StructArray>(schema->field(4)->type(), 4,
                                                            arrow::ArrayVector{testing::Ints({1, 2, 3, 4})},
                                                            valid.Finish().ValueOrDie());
  return arrow::RecordBatch::Make(
      schema, 4,
      {i.Finish().ValueOrDie(), testing::Longs({10, 20, 30, 40}), d.Finish().ValueOrDie(),
       t.Finish().ValueOrDie(), structs, arrow::MakeArrayOfNull(schema->field(5)->type(), 4).ValueOrDie()});
}

std::string Matches(const std::string& where) {
  const auto filter = ParseFilter(where, *TestSchema());
  EXPECT_TRUE(filter.ok()) << filter.error().ToString();
  const auto rows = RowFilter::Make(*filter, *TestSchema());
  EXPECT_TRUE(rows.ok());
  std::string text;
  const RowMask mask = rows->Evaluate(*TestRows(), arrow::default_memory_pool()).value();
  for (const uint8_t kept : mask) text += kept ? '1' : '0';
  return text;
}

TEST(RowFilterTest, ComparesEveryOperator) {
  EXPECT_EQ(Matches("i = 1"), "0100");
  EXPECT_EQ(Matches("i <> 1"), "1010");
  EXPECT_EQ(Matches("i < 1"), "1000");
  EXPECT_EQ(Matches("i <= 1"), "1100");
  EXPECT_EQ(Matches("l > 20"), "0011");
  EXPECT_EQ(Matches("l >= 20"), "0111");
  EXPECT_EQ(Matches("i IN (0, 2, 9)"), "1010");
  EXPECT_EQ(Matches("i NOT IN (0, 2, 9)"), "0100");
  EXPECT_EQ(Matches("t LIKE 'ab%'"), "1001");
  EXPECT_EQ(Matches("t NOT LIKE 'ab%'"), "0100");
}

TEST(RowFilterTest, NullIsUnknownAndNanIsAboveEveryNumber) {
  EXPECT_EQ(Matches("i IS NULL"), "0001");
  EXPECT_EQ(Matches("i IS NOT NULL"), "1110");
  EXPECT_EQ(Matches("NOT (i = 1)"), "1010");
  EXPECT_EQ(Matches("d > -100"), "1110");
  EXPECT_EQ(Matches("d IS NAN"), "0100");
}

TEST(RowFilterTest, CombinesWithAndOrAndReadsStructFields) {
  EXPECT_EQ(Matches("i = 1 OR l = 40"), "0101");
  EXPECT_EQ(Matches("l > 10 AND l < 40"), "0110");
  EXPECT_EQ(Matches("s.x >= 2"), "0011");
  EXPECT_EQ(Matches("s.x IS NULL"), "0100");
  EXPECT_EQ(Matches("TRUE"), "1111");
}

TEST(RowFilterTest, FieldInsideAListIsRefused) {
  BoundPredicate predicate;
  predicate.op = PredicateOp::kIsNull;
  predicate.field_id = 8;
  predicate.type = Of(TypeId::kInt);
  EXPECT_EQ(RowFilter::Make(Filter::Predicate(predicate), *TestSchema()).error().kind(),
            ErrorKind::kUnsupported);
}

TEST(RowFilterTest, KeepRowsTakesWhatTheMaskNames) {
  const auto rows = TestRows();
  EXPECT_EQ(KeepRows(rows, {1, 1, 1, 1}, arrow::default_memory_pool()).value(), rows);
  EXPECT_EQ(KeepRows(rows, {0, 0, 0, 0}, arrow::default_memory_pool()).value()->num_rows(), 0);
  const auto kept = KeepRows(rows, {0, 1, 0, 1}, arrow::default_memory_pool()).value();
  EXPECT_TRUE(kept->column(1)->Equals(testing::Longs({20, 40})));
}

}  // namespace
}  // namespace firn::iceberg
