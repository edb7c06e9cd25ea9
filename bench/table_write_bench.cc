// Arrow rows to Parquet data files, one core, into a store in memory. Compare the lines of one run: `raw` is
// Arrow's own Parquet writer with the same settings, the others are the table writer under different table
// definitions.

#include <arrow/api.h>
#include <arrow/io/memory.h>
#include <benchmark/benchmark.h>
#include <parquet/arrow/writer.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "firn/iceberg/model/update.h"
#include "firn/iceberg/scan/arrow_schema.h"
#include "firn/store/memory/memory_store.h"
#include "firn/write/writer.h"

namespace {

using firn::iceberg::NestedField;
using firn::iceberg::Transform;
using firn::iceberg::TransformKind;
using firn::iceberg::Type;
using BatchPtr = std::shared_ptr<arrow::RecordBatch>;

constexpr int64_t kBatchRows = 20'000;
constexpr int64_t kBatches = 50;

NestedField Field(int32_t id, std::string name, const char* type) {
  NestedField field;
  field.id = id;
  field.name = std::move(name);
  field.type = *Type::ParsePrimitive(type);
  return field;
}

firn::iceberg::SchemaPtr Flights() {
  return std::make_shared<const firn::iceberg::Schema>(
      0, std::vector<NestedField>{Field(1, "flight_date", "timestamp"), Field(2, "delay", "int"),
                                  Field(3, "distance", "int"), Field(4, "origin", "string"),
                                  Field(5, "destination", "string")});
}

/// Flights in the order of their date, as a stream has them: about two weeks a batch.
BatchPtr Rows(int64_t batch) {
  static constexpr const char* kAirports[] = {"SAN", "SJC", "PHX", "SLC", "ATL",
                                              "ORD", "JFK", "LAX", "SFO", "BOS"};
  arrow::TimestampBuilder date(arrow::timestamp(arrow::TimeUnit::MICRO), arrow::default_memory_pool());
  arrow::Int32Builder delay;
  arrow::Int32Builder distance;
  arrow::StringBuilder origin;
  arrow::StringBuilder destination;
  uint64_t random = static_cast<uint64_t>(batch) * 977 + 1;
  for (int64_t i = 0; i < kBatchRows; ++i) {
    random = random * 6364136223846793005ULL + 1442695040888963407ULL;
    const auto pick = static_cast<int64_t>(random >> 33U);
    (void)date.Append(978'307'200'000'000 + (batch * kBatchRows + i) * 60'000'000);
    (void)delay.Append(static_cast<int32_t>(pick % 180) - 30);
    (void)distance.Append(100 + static_cast<int32_t>(pick % 2500));
    (void)origin.Append(kAirports[pick % 10]);
    (void)destination.Append(kAirports[pick / 10 % 10]);
  }
  return arrow::RecordBatch::Make(
      firn::iceberg::ToArrowSchema(*Flights()).value(), kBatchRows,
      {*date.Finish(), *delay.Finish(), *distance.Finish(), *origin.Finish(), *destination.Finish()});
}

const std::vector<BatchPtr>& AllRows() {
  static const std::vector<BatchPtr> rows = [] {
    std::vector<BatchPtr> made;
    for (int64_t i = 0; i < kBatches; ++i) made.push_back(Rows(i));
    return made;
  }();
  return rows;
}

void CountRows(benchmark::State& state) {
  state.counters["rows/s"] = benchmark::Counter(
      static_cast<double>(state.iterations() * kBatches * kBatchRows), benchmark::Counter::kIsRate);
}

void Raw(benchmark::State& state) {
  const auto properties =
      parquet::WriterProperties::Builder().compression(parquet::Compression::ZSTD)->build();
  for (auto _ : state) {
    const auto sink = *arrow::io::BufferOutputStream::Create();
    const auto writer = *parquet::arrow::FileWriter::Open(*AllRows()[0]->schema(),
                                                          arrow::default_memory_pool(), sink, properties);
    for (const BatchPtr& rows : AllRows()) (void)writer->WriteRecordBatch(*rows);
    (void)writer->Close();
  }
  CountRows(state);
}

void Table(benchmark::State& state, const firn::iceberg::NewTable& definition) {
  const auto table = std::make_shared<const firn::iceberg::TableMetadata>(
      firn::iceberg::NewTableMetadata(definition, 1).value());
  for (auto _ : state) {
    const auto store = std::make_shared<firn::store::MemoryStore>();
    const auto writer = firn::write::MakeTableWriter({table, store, nullptr, "bench", 0}).value();
    for (const BatchPtr& rows : AllRows()) {
      if (!writer->Append({.rows = rows, .schema_id = 0, .input_bytes = 0}).ok())
        state.SkipWithError("append");
    }
    const auto files = writer->Finish();
    state.counters["files"] = static_cast<double>(files.value().size());
  }
  CountRows(state);
}

firn::iceberg::NewTable Definition() {
  firn::iceberg::NewTable table;
  table.uuid = "5d2d1f5e-8f4e-4f6e-9a51-0d3a4d8d2b11";
  table.location = "memory://wh/t";
  table.schema = Flights();
  table.keep_field_ids = true;
  return table;
}

void Unpartitioned(benchmark::State& state) { Table(state, Definition()); }

void ByMonth(benchmark::State& state) {
  auto table = Definition();
  table.spec.fields = {{1, 1000, "flight_date_month", Transform::Of(TransformKind::kMonth)}};
  Table(state, table);
}

void ByMonthAndBucket(benchmark::State& state) {
  auto table = Definition();
  table.spec.fields = {{1, 1000, "flight_date_month", Transform::Of(TransformKind::kMonth)},
                       {4, 1001, "origin_bucket", Transform::Bucket(16)}};
  Table(state, table);
}

void SortedByOrigin(benchmark::State& state) {
  auto table = Definition();
  table.order = {
      1, {{4, Transform::Identity(), firn::iceberg::SortDirection::kAsc, firn::iceberg::NullOrder::kFirst}}};
  Table(state, table);
}

BENCHMARK(Raw)->Unit(benchmark::kMillisecond);
BENCHMARK(Unpartitioned)->Unit(benchmark::kMillisecond);
BENCHMARK(ByMonth)->Unit(benchmark::kMillisecond);
BENCHMARK(ByMonthAndBucket)->Unit(benchmark::kMillisecond);
BENCHMARK(SortedByOrigin)->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
