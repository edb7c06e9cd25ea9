#include "firn/iceberg/scan/data_file_reader.h"

#include <gtest/gtest.h>

#include <random>

#include "firn/iceberg/scan/parquet_fixture.h"

namespace firn::iceberg {
namespace {

using store::MemoryStore;
using store::StoreOp;
using testing::Field;
using testing::Ints;
using testing::Longs;
using testing::Of;
using testing::ParquetBytes;
using testing::ParquetStyle;
using testing::PutParquet;
using testing::Rows;
using testing::SchemaOf;
using testing::Texts;
using BatchPtr = std::shared_ptr<arrow::RecordBatch>;

constexpr char kFile[] = "memory://wh/t/data/f.parquet";

Result<BatchPtr> ReadAll(store::Store& store, DataFileReadOptions options) {
  FIRN_ASSIGN(const auto reader, DataFileReader::Open(store, kFile, std::move(options)));
  std::vector<BatchPtr> batches;
  int64_t position = 0;
  while (true) {
    EXPECT_EQ(reader->position(), position);
    FIRN_ASSIGN(BatchPtr rows, reader->Next());
    if (rows == nullptr) break;
    EXPECT_TRUE(rows->ValidateFull().ok()) << rows->ValidateFull().ToString();
    position += rows->num_rows();
    batches.push_back(std::move(rows));
  }
  return testing::Join(batches);
}

/// Reads `rows`, stored by Arrow's own writer, under `schema`.
Result<BatchPtr> ReadAs(const BatchPtr& rows, const SchemaPtr& schema, DataFileReadOptions options = {},
                        ParquetStyle style = {}) {
  MemoryStore store;
  PutParquet(store, kFile, rows, style);
  options.schema = schema;
  return ReadAll(store, std::move(options));
}

TEST(DataFileReaderTest, FindsColumnsByIdWhateverTheirNameAndOrder) {
  const auto file = SchemaOf({Field(1, "old_a", Of(TypeId::kInt)), Field(2, "gone", Of(TypeId::kString)),
                              Field(3, "c", Of(TypeId::kLong))});
  const auto read = ReadAs(Rows(file, {Ints({1, 2}), Texts({"x", "y"}), Longs({3, 4})}),
                           SchemaOf({Field(3, "c", Of(TypeId::kLong)), Field(1, "a", Of(TypeId::kInt)),
                                     Field(4, "gone", Of(TypeId::kString))}));
  ASSERT_TRUE(read.ok()) << read.error().ToString();
  EXPECT_EQ((*read)->schema()->field_names(), (std::vector<std::string>{"c", "a", "gone"}));
  EXPECT_TRUE((*read)->column(0)->Equals(Longs({3, 4})));
  EXPECT_TRUE((*read)->column(1)->Equals(Ints({1, 2})));
  EXPECT_EQ((*read)->column(2)->null_count(), 2);
}

TEST(DataFileReaderTest, PromotedTypesWiden) {
  const auto decimals = testing::ArrayOf(arrow::Decimal128Builder(arrow::decimal128(9, 2)),
                                         std::vector<arrow::Decimal128>{arrow::Decimal128(-12345)});
  const auto file = SchemaOf({Field(1, "i", Of(TypeId::kInt)), Field(2, "f", Of(TypeId::kFloat)),
                              Field(3, "d", Type::Decimal(9, 2)), Field(4, "day", Of(TypeId::kDate))});
  const auto rows =
      Rows(file, {Ints({-7}), testing::ArrayOf(arrow::FloatBuilder(), std::vector<float>{1.5F}), decimals,
                  testing::ArrayOf(arrow::Date32Builder(), std::vector<int32_t>{-1})});
  const auto read =
      ReadAs(rows, SchemaOf({Field(1, "i", Of(TypeId::kLong)), Field(2, "f", Of(TypeId::kDouble)),
                             Field(3, "d", Type::Decimal(20, 2)), Field(4, "day", Of(TypeId::kTimestamp))}));
  ASSERT_TRUE(read.ok()) << read.error().ToString();
  EXPECT_EQ((*read)->column(0)->GetScalar(0).ValueOrDie()->ToString(), "-7");
  EXPECT_EQ((*read)->column(1)->GetScalar(0).ValueOrDie()->ToString(), "1.5");
  EXPECT_EQ((*read)->column(2)->GetScalar(0).ValueOrDie()->ToString(), "-123.45");
  EXPECT_EQ(static_cast<const arrow::TimestampArray&>(*(*read)->column(3)).Value(0), -86'400'000'000);
}

TEST(DataFileReaderTest, NarrowerTypeThanStoredIsAnErrorThatNamesTheColumn) {
  const auto read = ReadAs(Rows(SchemaOf({Field(1, "a", Of(TypeId::kLong))}), {Longs({1})}),
                           SchemaOf({Field(1, "a", Of(TypeId::kInt))}));
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.error().kind(), ErrorKind::kCorrupt);
  EXPECT_NE(read.error().ToString().find("'a'"), std::string::npos);
  EXPECT_NE(read.error().ToString().find(kFile), std::string::npos);
}

TEST(DataFileReaderTest, MissingColumnIsPartitionValueThenDefaultThenNull) {
  NestedField with_default = Field(2, "d", Of(TypeId::kString));
  with_default.initial_default = std::make_shared<const Literal>(Of(TypeId::kString), std::string("new"));
  const auto schema = SchemaOf({Field(1, "p", Of(TypeId::kInt)), with_default,
                                Field(3, "n", Of(TypeId::kLong)), Field(9, "a", Of(TypeId::kInt))});
  DataFileReadOptions options;
  options.constants.emplace(1, Literal(Of(TypeId::kInt), 42));
  const auto read =
      ReadAs(Rows(SchemaOf({Field(9, "a", Of(TypeId::kInt))}), {Ints({5, 6})}), schema, options);
  ASSERT_TRUE(read.ok()) << read.error().ToString();
  EXPECT_TRUE((*read)->column(0)->Equals(Ints({42, 42})));
  EXPECT_TRUE((*read)->column(1)->Equals(Texts({"new", "new"})));
  EXPECT_EQ((*read)->column(2)->null_count(), 2);
}

TEST(DataFileReaderTest, RequiredColumnWithoutValueIsAnError) {
  const auto read = ReadAs(Rows(SchemaOf({Field(9, "a", Of(TypeId::kInt))}), {Ints({5})}),
                           SchemaOf({Field(1, "must", Of(TypeId::kInt), true)}));
  ASSERT_FALSE(read.ok());
  EXPECT_NE(read.error().ToString().find("'must'"), std::string::npos);
}

TEST(DataFileReaderTest, CountsRowsWhereNoColumnIsStored) {
  const auto read = ReadAs(Rows(SchemaOf({Field(9, "a", Of(TypeId::kInt))}), {Ints({5, 6, 7})}),
                           SchemaOf({Field(1, "n", Of(TypeId::kInt))}), {}, {.row_group_rows = 2});
  ASSERT_TRUE(read.ok()) << read.error().ToString();
  EXPECT_EQ((*read)->num_rows(), 3);
}

TEST(DataFileReaderTest, RowGroupsAndBatchesJoinInOrder) {
  std::vector<int64_t> numbers(1000);
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<int64_t>(i);
  const auto schema = SchemaOf({Field(1, "n", Of(TypeId::kLong))});
  DataFileReadOptions options;
  options.batch_rows = 64;
  const auto read = ReadAs(Rows(schema, {Longs(numbers)}), schema, options, {.row_group_rows = 170});
  ASSERT_TRUE(read.ok()) << read.error().ToString();
  EXPECT_TRUE((*read)->column(0)->Equals(Longs(numbers)));
}

// ---- nested fields ----

std::shared_ptr<arrow::Array> StructOf(const TypePtr& type, arrow::ArrayVector children,
                                       const std::vector<bool>& valid) {
  arrow::TypedBufferBuilder<bool> bits;
  for (const bool bit : valid) EXPECT_TRUE(bits.Append(bit).ok());
  return std::make_shared<arrow::StructArray>(ToArrowType(*type).value(), static_cast<int64_t>(valid.size()),
                                              std::move(children), bits.Finish().ValueOrDie());
}

TEST(DataFileReaderTest, StructFieldsAreAddedDroppedAndReordered) {
  const auto stored = Type::Struct({Field(2, "x", Of(TypeId::kInt)), Field(3, "y", Of(TypeId::kString))});
  const auto wanted = Type::Struct({Field(4, "z", Of(TypeId::kLong)), Field(2, "x2", Of(TypeId::kLong))});
  const auto column = StructOf(stored, {Ints({1, 2, 3}), Texts({"a", "b", "c"})}, {true, false, true});
  const auto read =
      ReadAs(Rows(SchemaOf({Field(1, "s", stored)}), {column}), SchemaOf({Field(1, "s", wanted)}));
  ASSERT_TRUE(read.ok()) << read.error().ToString();
  const auto& result = static_cast<const arrow::StructArray&>(*(*read)->column(0));
  EXPECT_TRUE(result.IsNull(1));
  EXPECT_EQ(result.null_count(), 1);
  EXPECT_EQ(result.field(0)->null_count(), 3);
  EXPECT_EQ(static_cast<const arrow::Int64Array&>(*result.field(1)).Value(2), 3);
}

TEST(DataFileReaderTest, StructWithOnlyNewFieldsKeepsItsNulls) {
  const auto stored = Type::Struct({Field(2, "x", Of(TypeId::kInt))});
  const auto column = StructOf(stored, {Ints({1, 2, 3})}, {true, false, true});
  const auto read = ReadAs(Rows(SchemaOf({Field(1, "s", stored)}), {column}),
                           SchemaOf({Field(1, "s", Type::Struct({Field(7, "new", Of(TypeId::kInt))}))}));
  ASSERT_TRUE(read.ok()) << read.error().ToString();
  EXPECT_TRUE((*read)->column(0)->IsValid(0));
  EXPECT_TRUE((*read)->column(0)->IsNull(1));
}

TEST(DataFileReaderTest, ListElementsAndMapValuesEvolve) {
  const auto stored_element = Type::Struct({Field(3, "x", Of(TypeId::kInt))});
  const auto stored =
      SchemaOf({Field(1, "l", Type::List(2, false, stored_element)),
                Field(5, "m", Type::Map(6, Of(TypeId::kString), 7, false, Of(TypeId::kInt)))});
  const auto elements = StructOf(stored_element, {Ints({1, 2, 3})}, {true, true, true});
  const auto list = std::make_shared<arrow::ListArray>(ToArrowType(*stored->fields()[0].type).value(), 2,
                                                       Ints({0, 1, 3})->data()->buffers[1], elements);
  const auto map =
      std::make_shared<arrow::MapArray>(ToArrowType(*stored->fields()[1].type).value(), 2,
                                        Ints({0, 2, 2})->data()->buffers[1], Texts({"a", "b"}), Ints({8, 9}));
  const auto wanted = SchemaOf(
      {Field(
           1, "l",
           Type::List(2, false,
                      Type::Struct({Field(3, "x", Of(TypeId::kLong)), Field(4, "y", Of(TypeId::kString))}))),
       Field(5, "m", Type::Map(6, Of(TypeId::kString), 7, false, Of(TypeId::kLong)))});
  const auto read = ReadAs(Rows(stored, {list, map}), wanted);
  ASSERT_TRUE(read.ok()) << read.error().ToString();
  EXPECT_EQ((*read)->column(0)->GetScalar(1).ValueOrDie()->ToString(),
            "list<element: struct<x: int64, y: string>>[{x:int64 = 2, y:string = null}, {x:int64 = 3, "
            "y:string = null}]");
  EXPECT_EQ((*read)->column(1)->GetScalar(0).ValueOrDie()->ToString(),
            "map<string, int64>[{key:string = a, value:int64 = 8}, {key:string = b, value:int64 = 9}]");
}

// ---- files of other writers ----

std::shared_ptr<arrow::Field> WithId(const std::shared_ptr<arrow::Field>& field, int32_t id) {
  return field->WithMetadata(arrow::key_value_metadata({kFieldIdKey}, {std::to_string(id)}));
}

TEST(DataFileReaderTest, LargeAndDictionaryTypesOfAnArrowSchemaReadAsTheTablesTypes) {
  const auto dictionary = arrow::DictionaryArray::FromArrays(arrow::dictionary(arrow::int32(), arrow::utf8()),
                                                             Ints({1, 0, 1}), Texts({"a", "b"}))
                              .ValueOrDie();
  const auto large = testing::ArrayOf(arrow::LargeStringBuilder(), std::vector<std::string>{"x", "y", "z"});
  const auto rows = arrow::RecordBatch::Make(arrow::schema({WithId(arrow::field("d", dictionary->type()), 1),
                                                            WithId(arrow::field("l", large->type()), 2)}),
                                             3, {dictionary, large});
  const auto read =
      ReadAs(rows, SchemaOf({Field(1, "d", Of(TypeId::kString)), Field(2, "l", Of(TypeId::kString))}), {},
             {.store_arrow_schema = true});
  ASSERT_TRUE(read.ok()) << read.error().ToString();
  EXPECT_TRUE((*read)->column(0)->Equals(Texts({"b", "a", "b"})));
  EXPECT_TRUE((*read)->column(1)->Equals(Texts({"x", "y", "z"})));
}

TEST(DataFileReaderTest, Int96AndOtherTimeUnitsReadAsMicroseconds) {
  for (const bool int96 : {true, false}) {
    for (const auto unit : {arrow::TimeUnit::NANO, arrow::TimeUnit::MILLI}) {
      const auto type = arrow::timestamp(unit, "UTC");
      const int64_t value = unit == arrow::TimeUnit::NANO ? 1'500'000'000'123'456'000 : 1'500'000'000'123;
      const auto column = testing::ArrayOf(arrow::TimestampBuilder(type, arrow::default_memory_pool()),
                                           std::vector<int64_t>{value});
      const auto rows =
          arrow::RecordBatch::Make(arrow::schema({WithId(arrow::field("t", type), 1)}), 1, {column});
      for (const TypeId wanted : {TypeId::kTimestamp, TypeId::kTimestampTz}) {
        const auto read = ReadAs(rows, SchemaOf({Field(1, "t", Of(wanted))}), {}, {.int96 = int96});
        ASSERT_TRUE(read.ok()) << read.error().ToString();
        EXPECT_EQ(static_cast<const arrow::TimestampArray&>(*(*read)->column(0)).Value(0) / 1000,
                  1'500'000'000'123);
      }
    }
  }
}

TEST(DataFileReaderTest, NameMappingGivesIdsToAFileWithoutThem) {
  const auto rows = arrow::RecordBatch::Make(
      arrow::schema({arrow::field("record_id", arrow::int32()),
                     arrow::field("s", arrow::struct_({arrow::field("x", arrow::int32())}))}),
      2,
      {Ints({1, 2}), arrow::StructArray::Make({Ints({3, 4})}, std::vector<std::string>{"x"}).ValueOrDie()});
  const auto schema = SchemaOf(
      {Field(1, "id", Of(TypeId::kInt)), Field(2, "s", Type::Struct({Field(3, "x", Of(TypeId::kInt))}))});
  const auto mapping = ParseNameMapping(
      R"([{"field-id":1,"names":["id","record_id"]},{"field-id":2,"names":["s"],"fields":[{"field-id":3,"names":["x"]}]}])");
  ASSERT_TRUE(mapping.ok());
  DataFileReadOptions options;
  options.name_mapping = &*mapping;
  const auto read = ReadAs(rows, schema, options);
  ASSERT_TRUE(read.ok()) << read.error().ToString();
  EXPECT_TRUE((*read)->column(0)->Equals(Ints({1, 2})));
  EXPECT_TRUE(static_cast<const arrow::StructArray&>(*(*read)->column(1)).field(0)->Equals(Ints({3, 4})));

  const auto refused = ReadAs(rows, schema);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().kind(), ErrorKind::kUnsupported);
  EXPECT_NE(refused.error().ToString().find("schema.name-mapping.default"), std::string::npos);
}

TEST(NameMappingTest, RefusesWhatIsNoMapping) {
  for (const char* text : {"", "{", "{}", "[1]", R"([{"field-id":1}])", R"([{"names":[1]}])",
                           R"([{"names":[],"field-id":"x"}])"}) {
    EXPECT_FALSE(ParseNameMapping(text).ok()) << text;
  }
}

// ---- trouble ----

std::string SmallFile() {
  const auto schema = SchemaOf({Field(1, "n", Of(TypeId::kLong)), Field(2, "t", Of(TypeId::kString))});
  std::vector<int64_t> numbers(500, 7);
  std::vector<std::string> texts(500, "text");
  for (size_t i = 0; i < numbers.size(); ++i)
    texts[i] += std::to_string(numbers[i] = static_cast<int64_t>(i * i));
  return ParquetBytes(Rows(schema, {Longs(numbers), Texts(texts)}), {.row_group_rows = 200});
}

Result<BatchPtr> ReadBytes(const std::string& bytes) {
  MemoryStore store;
  EXPECT_TRUE(store.WriteAll(kFile, bytes, store::IfExists::kFail).ok());
  DataFileReadOptions options;
  options.schema = SchemaOf({Field(1, "n", Of(TypeId::kLong)), Field(2, "t", Of(TypeId::kString))});
  return ReadAll(store, std::move(options));
}

TEST(DataFileReaderTroubleTest, TruncatedFilesAreCorruptWithTheirPath) {
  const std::string bytes = SmallFile();
  ASSERT_TRUE(ReadBytes(bytes).ok());
  for (size_t length = 0; length < bytes.size(); length += 1 + length / 8) {
    const auto read = ReadBytes(bytes.substr(0, length));
    ASSERT_FALSE(read.ok()) << length;
    EXPECT_EQ(read.error().kind(), ErrorKind::kCorrupt) << length;
    EXPECT_NE(read.error().ToString().find(kFile), std::string::npos);
  }
}

TEST(DataFileReaderTroubleTest, GarbageBetweenTheMagicBytesIsCorrupt) {
  std::mt19937 random(3);
  for (int round = 0; round < 50; ++round) {
    std::string bytes = "PAR1";
    for (int i = 0; i < 200; ++i) bytes += static_cast<char>(random());
    bytes += std::string("\x40\0\0\0PAR1", 8);
    const auto read = ReadBytes(bytes);
    ASSERT_FALSE(read.ok());
    EXPECT_EQ(read.error().kind(), ErrorKind::kCorrupt) << read.error().ToString();
  }
}

TEST(DataFileReaderTroubleTest, MissingFileIsNotFound) {
  MemoryStore store;
  DataFileReadOptions options;
  options.schema = SchemaOf({Field(1, "n", Of(TypeId::kLong))});
  const auto read = ReadAll(store, std::move(options));
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.error().kind(), ErrorKind::kNotFound);
}

TEST(DataFileReaderTroubleTest, ErrorsOfTheStoreKeepTheirKind) {
  MemoryStore store;
  ASSERT_TRUE(store.WriteAll(kFile, SmallFile(), store::IfExists::kFail).ok());
  store.FailNext(StoreOp::kRead, "f.parquet", Error(ErrorKind::kUnavailable, "try later"));
  DataFileReadOptions options;
  options.schema = SchemaOf({Field(1, "n", Of(TypeId::kLong))});
  const auto read = ReadAll(store, std::move(options));
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.error().kind(), ErrorKind::kUnavailable);
  EXPECT_EQ(read.error().retry(), RetryHint::kYes);
}

}  // namespace
}  // namespace firn::iceberg
