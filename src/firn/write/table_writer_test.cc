#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "firn/iceberg/model/update.h"
#include "firn/iceberg/scan/column_path.h"
#include "firn/iceberg/scan/data_file_reader.h"
#include "firn/store/memory/memory_store.h"
#include "firn/write/random_rows.h"
#include "firn/write/writer.h"

namespace firn::write {
namespace {

using iceberg::DataFile;
using iceberg::PartitionSpec;
using iceberg::Schema;
using iceberg::SchemaPtr;
using iceberg::SortOrder;
using iceberg::TableMetadata;
using iceberg::Transform;
using iceberg::TransformKind;
using store::MemoryStore;
using store::StoreOp;
using testing::Field;
using testing::Literal;
using testing::RandomRows;
using testing::Type;
using testing::TypeId;
using testing::TypePtr;
using BatchPtr = std::shared_ptr<arrow::RecordBatch>;

constexpr char kOperation[] = "0191f1f4-0000-7000-8000-000000000001";

const TypePtr kInt = Type::Primitive(TypeId::kInt);
const TypePtr kLong = Type::Primitive(TypeId::kLong);
const TypePtr kDouble = Type::Primitive(TypeId::kDouble);
const TypePtr kString = Type::Primitive(TypeId::kString);

struct TableParts {
  SchemaPtr schema;
  PartitionSpec spec = {};
  SortOrder order = {};
  iceberg::Properties properties = {};
  int format_version = 2;
};

std::shared_ptr<const TableMetadata> MakeTable(const TableParts& parts) {
  iceberg::NewTable table;
  table.uuid = "5d2d1f5e-8f4e-4f6e-9a51-0d3a4d8d2b11";
  table.location = "memory://wh/t";
  table.schema = parts.schema;
  table.spec = parts.spec;
  table.order = parts.order;
  table.properties = parts.properties;
  table.format_version = parts.format_version;
  table.keep_field_ids = true;
  auto metadata = iceberg::NewTableMetadata(table, 1);
  EXPECT_TRUE(metadata.ok()) << metadata.error().ToString();
  return std::make_shared<const TableMetadata>(std::move(metadata).value());
}

/// A writer of one table on a store in memory, and what is in its files.
class WriterFixture {
 public:
  explicit WriterFixture(const TableParts& parts, int64_t max_buffered_bytes = 64 << 20,
                         int64_t open_file_from_bytes = 0)
      : table(MakeTable(parts)), store(std::make_shared<MemoryStore>()) {
    WriterContext context;
    context.table = table;
    context.store = store;
    context.operation_id = kOperation;
    context.lane = 3;
    context.max_buffered_bytes = max_buffered_bytes;
    context.open_file_from_bytes = open_file_from_bytes;
    auto made = MakeTableWriter(std::move(context));
    EXPECT_TRUE(made.ok()) << made.error().ToString();
    writer = std::move(made).value();
  }

  Status Append(const BatchPtr& rows) {
    last = writer->Append({.rows = rows, .schema_id = table->schema()->schema_id(), .input_bytes = 0});
    return last;
  }
  std::vector<DataFile> Finish() {
    auto files = writer->Finish();
    EXPECT_TRUE(files.ok()) << files.error().ToString();
    return files.ok() ? std::move(files).value() : std::vector<DataFile>();
  }
  BatchPtr ReadFile(const DataFile& file) const {
    iceberg::DataFileReadOptions options;
    options.schema = table->schema();
    auto reader = iceberg::DataFileReader::Open(*store, file.file_path, options).value();
    std::vector<BatchPtr> batches;
    while (true) {
      auto rows = reader->Next();
      EXPECT_TRUE(rows.ok()) << rows.error().ToString();
      if (!rows.ok() || *rows == nullptr) break;
      EXPECT_TRUE((*rows)->ValidateFull().ok()) << (*rows)->ValidateFull().ToString();
      batches.push_back(*rows);
    }
    const auto arrow_schema = iceberg::ToArrowSchema(*table->schema()).value();
    const auto joined = arrow::Table::FromRecordBatches(arrow_schema, batches).ValueOrDie();
    return joined->CombineChunksToBatch().ValueOrDie();
  }

  std::shared_ptr<const TableMetadata> table;
  std::shared_ptr<MemoryStore> store;
  std::unique_ptr<TableWriter> writer;
  Status last;
};

/// Rows as sorted texts: equal multisets of rows give equal vectors.
std::vector<std::string> Texts(const std::vector<BatchPtr>& batches) {
  std::vector<std::string> texts;
  for (const BatchPtr& batch : batches) {
    for (int64_t row = 0; row < batch->num_rows(); ++row) {
      std::string text;
      for (const auto& column : batch->columns())
        text += column->GetScalar(row).ValueOrDie()->ToString() + "|";
      texts.push_back(std::move(text));
    }
  }
  std::sort(texts.begin(), texts.end());
  return texts;
}

SchemaPtr Flights() {
  return std::make_shared<const Schema>(
      0, std::vector<testing::NestedField>{Field(1, "id", kLong, true), Field(2, "origin", kString),
                                           Field(3, "delay", kDouble),
                                           Field(4, "at", Type::Primitive(TypeId::kTimestamp))});
}

PartitionSpec By(std::vector<std::pair<int32_t, Transform>> fields) {
  PartitionSpec spec;
  for (const auto& [source, transform] : fields) {
    const auto id = static_cast<int32_t>(1000 + spec.fields.size());
    spec.fields.push_back({source, id, "p" + std::to_string(id), transform});
  }
  return spec;
}

/// Rows with ids [from, from + count), their origin one of `origins` texts.
BatchPtr FlightRows(int64_t from, int64_t count, int64_t origins) {
  arrow::Int64Builder id;
  arrow::StringBuilder origin;
  arrow::DoubleBuilder delay;
  arrow::TimestampBuilder at(arrow::timestamp(arrow::TimeUnit::MICRO), arrow::default_memory_pool());
  for (int64_t i = from; i < from + count; ++i) {
    testing::Check(id.Append(i));
    testing::Check(origin.Append("airport-" + std::to_string(i * 7919 % origins)));
    testing::Check(delay.Append(static_cast<double>(i % 100)));
    testing::Check(at.Append(i * 1'000'000));
  }
  return arrow::RecordBatch::Make(iceberg::ToArrowSchema(*Flights()).value(), count,
                                  {id.Finish().ValueOrDie(), origin.Finish().ValueOrDie(),
                                   delay.Finish().ValueOrDie(), at.Finish().ValueOrDie()});
}

int64_t SumRows(const std::vector<DataFile>& files) {
  int64_t rows = 0;
  for (const DataFile& file : files) rows += file.record_count;
  return rows;
}

TEST(TableWriterTest, EveryTypeReadsBackEqual) {
  for (const int version : {2, 3}) {
    WriterFixture fixture({.schema = testing::SchemaOfEveryType(version == 3), .format_version = version});
    RandomRows random(11);
    const BatchPtr rows = random.Batch(*fixture.table->schema(), 3000);
    ASSERT_TRUE(rows->ValidateFull().ok());
    ASSERT_TRUE(fixture.Append(rows).ok()) << fixture.last.error().ToString();
    const auto files = fixture.Finish();
    ASSERT_EQ(files.size(), 1U);
    const BatchPtr back = fixture.ReadFile(files[0]);
    ASSERT_EQ(back->num_rows(), rows->num_rows());
    for (int i = 0; i < rows->num_columns(); ++i) {
      EXPECT_TRUE(back->column(i)->Equals(*rows->column(i), arrow::EqualOptions::Defaults().nans_equal(true)))
          << rows->schema()->field(i)->ToString();
    }
  }
}

TEST(TableWriterTest, SlicedBatchesReadBackEqual) {
  WriterFixture fixture({.schema = testing::SchemaOfEveryType(false)});
  const BatchPtr rows = RandomRows(12).Batch(*fixture.table->schema(), 1000);
  ASSERT_TRUE(fixture.Append(rows->Slice(137, 301)).ok());
  ASSERT_TRUE(fixture.Append(rows->Slice(3, 50)).ok());
  const auto files = fixture.Finish();
  ASSERT_EQ(files.size(), 1U);
  EXPECT_EQ(Texts({fixture.ReadFile(files[0])}), Texts({rows->Slice(137, 301), rows->Slice(3, 50)}));
}

TEST(TableWriterTest, UnknownColumnIsNotStoredAndReadsAsNull) {
  const auto schema = std::make_shared<const Schema>(
      0, std::vector<testing::NestedField>{Field(1, "u", Type::Primitive(TypeId::kUnknown)),
                                           Field(2, "a", kInt)});
  WriterFixture fixture({.schema = schema, .format_version = 3});
  const auto nulls = arrow::MakeArrayOfNull(arrow::null(), 10).ValueOrDie();
  const auto ints = RandomRows(13).Column(Field(2, "a", kInt), 10);
  const auto rows = arrow::RecordBatch::Make(iceberg::ToArrowSchema(*schema).value(), 10, {nulls, ints});
  ASSERT_TRUE(fixture.Append(rows).ok());
  const BatchPtr back = fixture.ReadFile(fixture.Finish().at(0));
  EXPECT_EQ(back->column(0)->null_count(), 10);
  EXPECT_TRUE(back->column(1)->Equals(*ints));
}

TEST(TableWriterTest, PartitionedRowsLandInFilesOfTheirPartitionOnly) {
  const auto spec = By({{4, Transform::Of(TransformKind::kHour)}, {2, Transform::Bucket(3)}});
  WriterFixture fixture({.schema = Flights(), .spec = spec});
  std::vector<BatchPtr> written;
  for (int64_t i = 0; i < 5; ++i) {
    written.push_back(FlightRows(i * 3000, 3000, 40));
    ASSERT_TRUE(fixture.Append(written.back()).ok());
  }
  EXPECT_EQ(fixture.writer->rows(), 15000);
  const auto files = fixture.Finish();
  EXPECT_EQ(fixture.writer->rows(), 0);
  EXPECT_EQ(fixture.writer->buffered_bytes(), 0);
  std::vector<BatchPtr> read;
  std::set<std::string> partitions;
  for (const DataFile& file : files) {
    read.push_back(fixture.ReadFile(file));
    partitions.insert(iceberg::PartitionPath(fixture.table->spec(), file.partition));
    for (int64_t row = 0; row < read.back()->num_rows(); ++row) {
      for (size_t f = 0; f < 2; ++f) {
        const auto& field = fixture.table->spec().fields[f];
        const int column = field.source_id - 1;
        const auto value =
            iceberg::LiteralAt(*read.back()->column(column), row,
                               fixture.table->schema()->fields()[static_cast<size_t>(column)].type);
        ASSERT_EQ(field.transform.Apply(value).value(), file.partition.values[f]);
      }
    }
  }
  EXPECT_EQ(partitions.size(), files.size());  // one file a partition
  EXPECT_EQ(Texts(read), Texts(written));
}

TEST(TableWriterTest, FileNamesFollowThePatternAndTheLocationProvider) {
  WriterFixture fixture({.schema = Flights(), .spec = By({{2, Transform::Identity()}})});
  ASSERT_TRUE(fixture.Append(FlightRows(0, 10, 1)).ok());
  EXPECT_EQ(fixture.Finish().at(0).file_path,
            "memory://wh/t/data/p1000=airport-0/00000-3-" + std::string(kOperation) + "-00001.parquet");
  ASSERT_TRUE(fixture.Append(FlightRows(0, 10, 1)).ok());
  EXPECT_EQ(fixture.Finish().at(0).file_path,
            "memory://wh/t/data/p1000=airport-0/00000-3-" + std::string(kOperation) + "-00002.parquet");
}

TEST(TableWriterTest, FinishWithoutRowsMakesNoFile) {
  WriterFixture fixture({.schema = Flights()});
  EXPECT_TRUE(fixture.Finish().empty());
  EXPECT_TRUE(fixture.store->Locations().empty());
}

TEST(TableWriterTest, CutsFilesNearTheTargetSize) {
  WriterFixture fixture({.schema = Flights(),
                         .properties = {{"write.target-file-size-bytes", "400000"},
                                        {"write.parquet.row-group-size-bytes", "150000"},
                                        {"write.parquet.page-row-limit", "2000"}}});
  for (int64_t i = 0; i < 20; ++i) ASSERT_TRUE(fixture.Append(FlightRows(i * 20000, 20000, 100'000)).ok());
  const auto files = fixture.Finish();
  ASSERT_GT(files.size(), 3U);
  EXPECT_EQ(SumRows(files), 400'000);
  for (size_t i = 0; i + 1 < files.size(); ++i) {
    EXPECT_GT(files[i].file_size_bytes, 280'000) << i;
    EXPECT_LT(files[i].file_size_bytes, 560'000) << i;
    EXPECT_GE(files[i].split_offsets.size(), 2U) << i;
    EXPECT_TRUE(std::is_sorted(files[i].split_offsets.begin(), files[i].split_offsets.end()));
    EXPECT_EQ(files[i].split_offsets[0], 4);
    EXPECT_EQ(fixture.store->Head(files[i].file_path).value().size_bytes, files[i].file_size_bytes);
  }
}

TEST(TableWriterTest, SortedTableHasSortedFilesThatSaySo) {
  const SortOrder order{
      1,
      {{2, Transform::Identity(), iceberg::SortDirection::kAsc, iceberg::NullOrder::kFirst},
       {1, Transform::Identity(), iceberg::SortDirection::kDesc, iceberg::NullOrder::kLast}}};
  WriterFixture fixture({.schema = Flights(), .spec = By({{1, Transform::Bucket(2)}}), .order = order});
  for (int64_t i = 0; i < 4; ++i) ASSERT_TRUE(fixture.Append(FlightRows(i * 1000, 1000, 37)).ok());
  const auto files = fixture.Finish();
  ASSERT_EQ(files.size(), 2U);
  EXPECT_EQ(SumRows(files), 4000);
  for (const DataFile& file : files) {
    EXPECT_EQ(file.sort_order_id, 1);
    const BatchPtr rows = fixture.ReadFile(file);
    const auto& origin = static_cast<const arrow::StringArray&>(*rows->column(1));
    const auto& id = static_cast<const arrow::Int64Array&>(*rows->column(0));
    for (int64_t i = 1; i < rows->num_rows(); ++i) {
      ASSERT_LE(origin.GetView(i - 1), origin.GetView(i));
      if (origin.GetView(i - 1) == origin.GetView(i)) {
        ASSERT_GT(id.Value(i - 1), id.Value(i));
      }
    }
  }
}

TEST(TableWriterTest, UnsortedTableLeavesSortOrderOut) {
  WriterFixture fixture({.schema = Flights()});
  ASSERT_TRUE(fixture.Append(FlightRows(0, 10, 1)).ok());
  EXPECT_EQ(fixture.Finish().at(0).sort_order_id, std::nullopt);
}

TEST(TableWriterTest, ThousandsOfPartitionsStayWithinTheBuffer) {
  constexpr int64_t kLimit = 1 << 20;
  arrow::ProxyMemoryPool pool(arrow::system_memory_pool());
  const auto table = MakeTable({.schema = Flights(), .spec = By({{2, Transform::Identity()}})});
  auto store = std::make_shared<MemoryStore>();
  auto writer = MakeTableWriter({table, store, &pool, kOperation, 0, kLimit}).value();
  std::vector<BatchPtr> written;
  for (int64_t i = 0; i < 12; ++i) {
    const BatchPtr rows = FlightRows(i * 5000, 5000, 2000);
    ASSERT_TRUE(writer->Append({.rows = rows, .schema_id = 0, .input_bytes = 0}).ok());
    EXPECT_LE(writer->buffered_bytes(), kLimit + (1 << 20));
  }
  const auto files = writer->Finish().value();
  EXPECT_EQ(SumRows(files), 60'000);
  EXPECT_GE(files.size(), 2000U);
  EXPECT_LT(pool.max_memory(), 8 * kLimit);
  EXPECT_EQ(pool.bytes_allocated(), 0);
}

TEST(TableWriterTest, EarlyFilesKeepEveryRowOnce) {
  WriterFixture fixture(
      {.schema = testing::SchemaOfEveryType(false), .spec = By({{2, Transform::Bucket(7)}})}, 200'000);
  RandomRows random(14);
  std::vector<BatchPtr> written;
  for (int i = 0; i < 8; ++i) {
    written.push_back(random.Batch(*fixture.table->schema(), 500));
    ASSERT_TRUE(fixture.Append(written.back()).ok());
  }
  const auto files = fixture.Finish();
  EXPECT_GT(files.size(), 7U);
  std::vector<BatchPtr> read;
  for (const DataFile& file : files) read.push_back(fixture.ReadFile(file));
  EXPECT_EQ(Texts(read), Texts(written));
}

TEST(TableWriterTest, FewRowsWaitBeforeAFileIsOpened) {
  WriterFixture fixture({.schema = Flights()}, 64 << 20, 50'000);
  const auto opened = [&] { return fixture.store->Count(store::StoreOp::kCreate); };
  ASSERT_TRUE(fixture.Append(FlightRows(0, 10, 3)).ok());
  ASSERT_TRUE(fixture.Append(FlightRows(10, 10, 3)).ok());
  EXPECT_EQ(opened(), 0);
  EXPECT_GT(fixture.writer->buffered_bytes(), 0);
  auto files = fixture.Finish();
  ASSERT_EQ(files.size(), 1U);
  EXPECT_EQ(files[0].record_count, 20);
  for (int64_t i = 0; i < 20; ++i) ASSERT_TRUE(fixture.Append(FlightRows(i * 200, 200, 3)).ok());
  EXPECT_EQ(opened(), 2) << "above the threshold rows go straight to the open file, the early ones first";
  files = fixture.Finish();
  ASSERT_EQ(files.size(), 1U);
  EXPECT_EQ(SumRows(files), 4000);
  EXPECT_EQ(Texts({fixture.ReadFile(files[0])}), Texts({FlightRows(0, 4000, 3)}));
}

// ---- column metrics ----

/// Reference metrics, computed value by value.
struct Expected {
  int64_t values = 0;
  int64_t nulls = 0;
  int64_t nans = 0;
  std::optional<Literal> min;
  std::optional<Literal> max;
};

Expected Describe(const arrow::Array& column, const TypePtr& type) {
  Expected expected;
  for (int64_t i = 0; i < column.length(); ++i) {
    const Literal value = iceberg::LiteralAt(column, i, type);
    ++expected.values;
    if (value.is_null()) {
      ++expected.nulls;
      continue;
    }
    const bool nan = (type->id() == TypeId::kFloat && std::isnan(value.get<float>())) ||
                     (type->id() == TypeId::kDouble && std::isnan(value.get<double>()));
    expected.nans += static_cast<int64_t>(nan);
    if (nan) continue;
    if (!expected.min || value.Compare(*expected.min) < 0) expected.min = value;
    if (!expected.max || value.Compare(*expected.max) > 0) expected.max = value;
  }
  return expected;
}

TEST(TableWriterMetricsTest, CountsAndBoundsAreThoseOfTheValues) {
  WriterFixture fixture({.schema = testing::SchemaOfEveryType(true),
                         .properties = {{"write.metadata.metrics.default", "full"}},
                         .format_version = 3});
  const BatchPtr rows = RandomRows(15).Batch(*fixture.table->schema(), 2000);
  ASSERT_TRUE(fixture.Append(rows).ok());
  const DataFile file = fixture.Finish().at(0);
  EXPECT_EQ(file.record_count, 2000);
  const Schema& schema = *fixture.table->schema();
  int checked = 0;
  iceberg::VisitFields(*schema.as_struct(), [&](const testing::NestedField& field) {
    const auto path = iceberg::FindColumnPath(schema, field.id);
    if (!path.has_value() || !field.type->is_primitive()) return;
    ++checked;
    const auto column = iceberg::ColumnAt(*rows, *path, arrow::default_memory_pool()).value();
    const Expected expected = Describe(*column, field.type);
    EXPECT_EQ(file.value_counts.at(field.id), expected.values) << field.name;
    if (field.type->id() == TypeId::kUuid) {  // other engines would misread what follows
      EXPECT_FALSE(file.lower_bounds.contains(field.id) || file.upper_bounds.contains(field.id))
          << field.name;
      return;
    }
    EXPECT_EQ(file.null_value_counts.at(field.id), expected.nulls) << field.name;
    const bool real = field.type->id() == TypeId::kFloat || field.type->id() == TypeId::kDouble;
    EXPECT_EQ(file.nan_value_counts.contains(field.id), real);
    if (real) {
      EXPECT_EQ(file.nan_value_counts.at(field.id), expected.nans) << field.name;
    }
    EXPECT_EQ(file.lower_bounds.at(field.id), expected.min->ToBytes().value())
        << field.name << field.type->ToString();
    EXPECT_EQ(file.upper_bounds.at(field.id), expected.max->ToBytes().value())
        << field.name << field.type->ToString();
    EXPECT_GT(file.column_sizes.at(field.id), 0);
  });
  EXPECT_GT(checked, 20);
}

TEST(TableWriterMetricsTest, ListAndMapValuesHaveCountsButNoBounds) {
  WriterFixture fixture({.schema = testing::SchemaOfEveryType(false)});
  ASSERT_TRUE(fixture.Append(RandomRows(16).Batch(*fixture.table->schema(), 500)).ok());
  const DataFile file = fixture.Finish().at(0);
  for (const int32_t id : {105, 107, 109, 110, 111, 112, 114}) {
    EXPECT_TRUE(file.value_counts.contains(id)) << id;
    const bool is_uuid = fixture.table->schema()->FindById(id)->type->id() == TypeId::kUuid;
    EXPECT_EQ(file.null_value_counts.contains(id), !is_uuid) << id;
    EXPECT_FALSE(file.lower_bounds.contains(id)) << id;
    EXPECT_FALSE(file.upper_bounds.contains(id)) << id;
  }
  EXPECT_TRUE(file.nan_value_counts.contains(107));
}

BatchPtr OneColumn(const SchemaPtr& schema, const std::vector<Literal>& values) {
  return arrow::RecordBatch::Make(iceberg::ToArrowSchema(*schema).value(),
                                  static_cast<int64_t>(values.size()),
                                  {testing::ArrayOf(schema->fields()[0].type, values)});
}

SchemaPtr One(const TypePtr& type) {
  return std::make_shared<const Schema>(0, std::vector<testing::NestedField>{Field(1, "c", type)});
}

TEST(TableWriterMetricsTest, NanOnlyColumnHasCountsAndNoBounds) {
  WriterFixture fixture({.schema = One(kDouble)});
  const Literal nan(kDouble, std::nan(""));
  ASSERT_TRUE(fixture.Append(OneColumn(fixture.table->schema(), {nan, nan, Literal::Null(kDouble)})).ok());
  const DataFile file = fixture.Finish().at(0);
  EXPECT_EQ(file.nan_value_counts.at(1), 2);
  EXPECT_EQ(file.null_value_counts.at(1), 1);
  EXPECT_TRUE(file.lower_bounds.empty());
  EXPECT_TRUE(file.upper_bounds.empty());
}

TEST(TableWriterMetricsTest, ZeroBoundsHideNeitherZero) {
  WriterFixture fixture({.schema = One(kDouble)});
  ASSERT_TRUE(fixture.Append(OneColumn(fixture.table->schema(), {Literal(kDouble, 0.0)})).ok());
  const DataFile file = fixture.Finish().at(0);
  EXPECT_EQ(file.lower_bounds.at(1), Literal(kDouble, -0.0).ToBytes().value());
  EXPECT_EQ(file.upper_bounds.at(1), Literal(kDouble, 0.0).ToBytes().value());
}

TEST(TableWriterMetricsTest, TextBoundsAreTruncatedOnCodePoints) {
  WriterFixture fixture(
      {.schema = One(kString), .properties = {{"write.metadata.metrics.default", "truncate(2)"}}});
  ASSERT_TRUE(fixture
                  .Append(OneColumn(fixture.table->schema(), {Literal(kString, std::string("üüx")),
                                                              Literal(kString, std::string("世界々"))}))
                  .ok());
  const DataFile file = fixture.Finish().at(0);
  EXPECT_EQ(file.lower_bounds.at(1), "üü");
  EXPECT_EQ(file.upper_bounds.at(1), "世畍");
}

TEST(TableWriterMetricsTest, ModesDecideWhatIsKept) {
  WriterFixture fixture({.schema = Flights(),
                         .properties = {{"write.metadata.metrics.default", "none"},
                                        {"write.metadata.metrics.column.delay", "counts"},
                                        {"write.metadata.metrics.column.id", "full"}}});
  ASSERT_TRUE(fixture.Append(FlightRows(0, 100, 5)).ok());
  const DataFile file = fixture.Finish().at(0);
  EXPECT_EQ(file.column_sizes.size(), 4U);
  EXPECT_EQ(file.value_counts, (std::map<int32_t, int64_t>{{1, 100}, {3, 100}}));
  EXPECT_EQ(file.nan_value_counts, (std::map<int32_t, int64_t>{{3, 0}}));
  ASSERT_EQ(file.lower_bounds.size(), 1U);
  EXPECT_TRUE(file.lower_bounds.contains(1));
}

TEST(TableWriterMetricsTest, ValueTooLongForTheFooterLeavesBoundsOut) {
  WriterFixture fixture({.schema = One(kString)});
  ASSERT_TRUE(fixture
                  .Append(OneColumn(fixture.table->schema(), {Literal(kString, std::string(10'000, 'x')),
                                                              Literal(kString, std::string("a"))}))
                  .ok());
  const DataFile file = fixture.Finish().at(0);
  EXPECT_EQ(file.value_counts.at(1), 2);
  EXPECT_TRUE(file.lower_bounds.empty());
}

TEST(TableWriterMetricsTest, StatisticsSwitchedOffLeaveNullCountsOut) {
  WriterFixture fixture(
      {.schema = Flights(), .properties = {{"write.parquet.stats-enabled.column.id", "false"}}});
  ASSERT_TRUE(fixture.Append(FlightRows(0, 100, 5)).ok());
  const DataFile file = fixture.Finish().at(0);
  EXPECT_EQ(file.value_counts.at(1), 100);
  EXPECT_FALSE(file.null_value_counts.contains(1));
  EXPECT_FALSE(file.lower_bounds.contains(1));
  EXPECT_TRUE(file.lower_bounds.contains(2));
}

// ---- trouble ----

TEST(TableWriterTroubleTest, FullDiskFailsWithThePathAndDiscardLeavesNothing) {
  WriterFixture fixture({.schema = Flights(), .spec = By({{2, Transform::Identity()}})});
  ASSERT_TRUE(fixture.Append(FlightRows(0, 1000, 5)).ok());
  fixture.store->FailNext(StoreOp::kWrite, "airport-3",
                          Error(ErrorKind::kResourceExhausted, "no space left on device"));
  const auto files = fixture.writer->Finish();
  ASSERT_FALSE(files.ok());
  EXPECT_EQ(files.error().kind(), ErrorKind::kResourceExhausted);
  EXPECT_NE(files.error().ToString().find("airport-3"), std::string::npos);
  EXPECT_TRUE(fixture.writer->Discard().empty());
  EXPECT_TRUE(fixture.store->Locations().empty());
  EXPECT_EQ(fixture.writer->rows(), 0);
  ASSERT_TRUE(fixture.Append(FlightRows(0, 10, 5)).ok());
  EXPECT_EQ(SumRows(fixture.Finish()), 10);
}

TEST(TableWriterTroubleTest, FailedCreateIsReportedAndLeavesNothing) {
  WriterFixture fixture({.schema = Flights()});
  fixture.store->FailNext(StoreOp::kCreate, "", Error(ErrorKind::kPermissionDenied, "read-only file system"));
  const Status status = fixture.Append(FlightRows(0, 1000, 5));
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().kind(), ErrorKind::kPermissionDenied);
  EXPECT_TRUE(fixture.writer->Discard().empty());
  EXPECT_TRUE(fixture.store->Locations().empty());
}

TEST(TableWriterTroubleTest, FailedFinishOfAFileIsReported) {
  WriterFixture fixture({.schema = Flights()});
  ASSERT_TRUE(fixture.Append(FlightRows(0, 1000, 5)).ok());
  fixture.store->FailNext(StoreOp::kFinish, "", Error(ErrorKind::kIo, "fsync failed"));
  EXPECT_EQ(fixture.writer->Finish().error().kind(), ErrorKind::kIo);
  EXPECT_TRUE(fixture.writer->Discard().empty());
  EXPECT_TRUE(fixture.store->Locations().empty());
}

TEST(TableWriterTroubleTest, DiscardNamesWhatItCouldNotRemove) {
  WriterFixture fixture({.schema = Flights(), .spec = By({{2, Transform::Identity()}})}, 1);
  ASSERT_TRUE(fixture.Append(FlightRows(0, 10, 5)).ok());
  ASSERT_FALSE(fixture.store->Locations().empty());
  fixture.store->FailNext(StoreOp::kDelete, "-00001.parquet", Error(ErrorKind::kUnavailable, "no answer"));
  const auto left = fixture.writer->Discard();
  ASSERT_EQ(left.size(), 1U);
  EXPECT_EQ(fixture.store->Locations(), left);
}

TEST(TableWriterTroubleTest, DiscardDropsAnOpenFile) {
  WriterFixture fixture({.schema = Flights()});
  ASSERT_TRUE(fixture.Append(FlightRows(0, 10'000, 5)).ok());
  EXPECT_TRUE(fixture.writer->Discard().empty());
  EXPECT_TRUE(fixture.store->Locations().empty());
  EXPECT_TRUE(fixture.Finish().empty());
}

TEST(TableWriterTroubleTest, BatchOfAnotherSchemaIsRefused) {
  WriterFixture fixture({.schema = Flights()});
  const BatchPtr rows = FlightRows(0, 10, 5);
  EXPECT_EQ(fixture.writer->Append({.rows = rows, .schema_id = 9, .input_bytes = 0}).error().kind(),
            ErrorKind::kInvalidArgument);
  EXPECT_FALSE(fixture.Append(rows->RemoveColumn(1).ValueOrDie()).ok());
  EXPECT_FALSE(
      fixture.Append(rows->SetColumn(1, arrow::field("origin", arrow::int64()), rows->column(0)).ValueOrDie())
          .ok());
  EXPECT_EQ(fixture.writer->rows(), 0);
}

TEST(TableWriterTroubleTest, NullInARequiredColumnIsNamed) {
  WriterFixture fixture({.schema = Flights()});
  const BatchPtr rows = FlightRows(0, 10, 5);
  const auto nulls = arrow::MakeArrayOfNull(arrow::int64(), 10).ValueOrDie();
  const Status status = fixture.Append(rows->SetColumn(0, rows->schema()->field(0), nulls).ValueOrDie());
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.error().ToString().find("'id'"), std::string::npos);
}

std::optional<ErrorKind> Refusal(const std::string& key, const std::string& value) {
  WriterContext context;
  context.table = MakeTable({.schema = Flights(), .properties = {{key, value}}});
  context.store = std::make_shared<MemoryStore>();
  auto writer = MakeTableWriter(std::move(context));
  if (writer.ok()) return std::nullopt;
  EXPECT_NE(writer.error().ToString().find(key), std::string::npos) << writer.error().ToString();
  return writer.error().kind();
}

TEST(TableWriterTroubleTest, PropertiesThatCannotBeHonouredAreRefusedByName) {
  EXPECT_EQ(Refusal("write.format.default", "orc"), ErrorKind::kUnsupported);
  EXPECT_EQ(Refusal("write.location-provider.impl", "com.example.Provider"), ErrorKind::kUnsupported);
  EXPECT_EQ(Refusal("encryption.key-id", "k"), ErrorKind::kUnsupported);
  EXPECT_EQ(Refusal("write.parquet.compression-codec", "lzo"), ErrorKind::kInvalidArgument);
  EXPECT_EQ(Refusal("write.parquet.compression-level", "99"), ErrorKind::kInvalidArgument);
  EXPECT_EQ(Refusal("write.parquet.page-version", "v9"), ErrorKind::kInvalidArgument);
  EXPECT_EQ(Refusal("write.target-file-size-bytes", "0"), ErrorKind::kInvalidArgument);
  EXPECT_EQ(Refusal("write.parquet.stats-enabled.column.id", "perhaps"), ErrorKind::kInvalidArgument);
}

TEST(TableWriterTroubleTest, BloomFiltersAreNamedAsNotWritten) {
  const auto table = MakeTable(
      {.schema = Flights(), .properties = {{"write.parquet.bloom-filter-enabled.column.id", "true"}}});
  EXPECT_EQ(UnhonouredProperties(*table).size(), 1U);
  EXPECT_TRUE(UnhonouredProperties(*MakeTable({.schema = Flights()})).empty());
}

}  // namespace
}  // namespace firn::write
