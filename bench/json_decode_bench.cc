// JSON records to Arrow columns, one core. `rows/s` is what to look at; the flight record is the one of the
// product's demo.

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "firn/decode/json/json_decoder.h"

namespace {

using firn::iceberg::NestedField;
using firn::iceberg::Type;

NestedField Field(int32_t id, std::string name, const char* type) {
  NestedField field;
  field.id = id;
  field.name = std::move(name);
  field.type = *Type::ParsePrimitive(type);
  return field;
}

firn::record::RawBatch Batch(size_t rows, const auto& record_of) {
  firn::record::RawBatch raw;
  for (size_t i = 0; i < rows; ++i) {
    const std::string value = record_of(i);
    raw.offsets.push_back(static_cast<int64_t>(i));
    raw.timestamps_ms.push_back(0);
    raw.keys.push_back({});
    raw.values.push_back({raw.arena.Append(value), static_cast<uint32_t>(value.size())});
  }
  return raw;
}

std::string Flight(size_t i) {
  static constexpr const char* kAirports[] = {"SAN", "SJC", "PHX", "SLC", "ATL", "ORD", "JFK"};
  return fmt::format(
      R"({{"date":"2001-{:02}-{:02}T{:02}:{:02}:00","delay":{},"distance":{},"origin":"{}","destination":"{}"}})",
      i % 12 + 1, i * 7 % 28 + 1, i * 5 % 24, i * 11 % 60, static_cast<int>(i * 13 % 200) - 30,
      100 + i * 17 % 2500, kAirports[i % 7], kAirports[i * 3 % 7]);
}

firn::decode::BoundSchema Flights() {
  firn::decode::BoundSchema bound;
  bound.schema = std::make_shared<const firn::iceberg::Schema>(
      0, std::vector<NestedField>{Field(1, "flight_date", "timestamp"), Field(2, "delay", "int"),
                                  Field(3, "distance", "int"), Field(4, "origin", "string"),
                                  Field(5, "destination", "string")});
  bound.mappings[1].from = "date";
  return bound;
}

void Run(benchmark::State& state, const firn::decode::BoundSchema& bound, const firn::record::RawBatch& raw) {
  auto decoder = std::move(firn::decode::MakeJsonDecoder(bound)).value();
  for (auto _ : state) {
    auto result = decoder->Decode(raw, 0);
    if (!result.ok() || !result->dead_letters.empty() || result->consumed != raw.size())
      state.SkipWithError("bad records");
    benchmark::DoNotOptimize(result->batch.rows);
  }
  const auto rows = static_cast<int64_t>(raw.size()) * static_cast<int64_t>(state.iterations());
  state.SetItemsProcessed(rows);
  state.SetBytesProcessed(rows / static_cast<int64_t>(raw.size()) * static_cast<int64_t>(raw.arena.size()));
}

void DecodeFlights(benchmark::State& state) { Run(state, Flights(), Batch(20'000, Flight)); }
BENCHMARK(DecodeFlights)->Unit(benchmark::kMillisecond);

/// 60 columns of which a record has 8: absent columns must cost nothing.
void DecodeSparseRecords(benchmark::State& state) {
  std::vector<NestedField> fields;
  for (int32_t i = 0; i < 60; ++i)
    fields.push_back(Field(i + 1, fmt::format("field_{}", i), i % 2 == 0 ? "double" : "string"));
  firn::decode::BoundSchema bound;
  bound.schema = std::make_shared<const firn::iceberg::Schema>(0, std::move(fields));
  Run(state, bound, Batch(20'000, [](size_t row) {
        std::string record = "{";
        for (size_t i = 0; i < 8; ++i) {
          const size_t field = (row % 5 + i * 7) % 60;
          record += fmt::format("{}\"field_{}\":{}", i == 0 ? "" : ",", field,
                                field % 2 == 0 ? "12.75" : "\"some text\"");
        }
        return record + "}";
      }));
}
BENCHMARK(DecodeSparseRecords)->Unit(benchmark::kMillisecond);

/// Half of each record is unknown and skipped.
void DecodeAroundUnknownFields(benchmark::State& state) {
  Run(state, Flights(), Batch(20'000, [](size_t i) {
        std::string record = Flight(i);
        record.pop_back();
        return record +
               R"(,"extra":{"carrier":"WN","legs":[1,2,3],"note":"an \"escaped\" text"},"more":[true,null,1.5e3]})";
      }));
}
BENCHMARK(DecodeAroundUnknownFields)->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
