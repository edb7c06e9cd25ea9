#pragma once

// Whole pipelines over in-memory broker, catalog and store: real lanes, decoder, writer, committers and
// control thread.
#include <arrow/api.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <future>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "firn/catalog/memory/memory_catalog.h"
#include "firn/commit/protocol/progress.h"
#include "firn/decode/json/infer_schema.h"
#include "firn/decode/json/json_decoder.h"
#include "firn/decode/json/json_key_reader.h"
#include "firn/iceberg/scan/table_scan.h"
#include "firn/obs/metrics.h"
#include "firn/pipeline/pipeline.h"
#include "firn/runtime/seeded_ids.h"
#include "firn/source/memory/memory_source.h"
#include "firn/store/memory/memory_store.h"

namespace firn::pipeline {

using catalog::CommitFault;
using record::SourcePartition;

inline constexpr int kPartitions = 4;
inline constexpr auto kPatience = std::chrono::seconds(60);

inline SourcePartition Partition(int32_t index) { return {"events", index}; }

/// Cannot decode while the schemas of the records are not to be had.
class WaitingDecoder final : public decode::Decoder {
 public:
  WaitingDecoder(std::unique_ptr<decode::Decoder> inner, const std::atomic<bool>* away)
      : inner_(std::move(inner)), away_(away) {}
  Result<decode::DecodeResult> Decode(const record::RawBatch& raw, size_t begin) override {
    if (*away_) return Error(ErrorKind::kUnavailable, "waiting for schema 7");
    return inner_->Decode(raw, begin);
  }
  const iceberg::SchemaPtr& schema() const override { return inner_->schema(); }

 private:
  std::unique_ptr<decode::Decoder> inner_;
  const std::atomic<bool>* away_;
};

class PipelineTest : public ::testing::Test {
 protected:
  PipelineTest() {
    for (int32_t i = 0; i < kPartitions; ++i) log_->AddPartition(Partition(i));
    config_.key = config_.id = "p";
    config_.tables.front().name = {"lake", {"shop"}, "events"};
    config_.tables.front().columns = {{.name = "id", .type = "long"},
                                      {.name = "part", .type = "int", .from = "partition"}};
    config_.tables.front().partition_by = {"part"};
    config_.commit.interval_ms = 20;
    config_.dead_letters.table = {"lake", {"shop"}, "events_dead_letters"};
  }

  /// Appends `count` records with new ids, spread over the partitions.
  void Produce(int count) {
    for (int i = 0; i < count; ++i) {
      ProduceTo(static_cast<int32_t>(next_id_ % kPartitions), 1);
    }
  }
  void ProduceTo(int32_t partition, int count) {
    for (int i = 0; i < count; ++i) {
      log_->Append(Partition(partition), fmt::format(R"({{"id":{},"partition":{}}})", next_id_, partition));
      ++next_id_;
    }
  }

  struct Process {
    std::unique_ptr<Pipeline> pipeline;
    std::atomic<source::MemorySource*> source = nullptr;  // set by the thread of the run
    std::stop_source stop;
    std::stop_source abort;
    std::future<PipelineResult> result;
  };

  /// Starts a process of the pipeline (a thread); ends it with Stop or Wait.
  std::unique_ptr<Process> Start(RunOptions options = {}) {
    auto process = std::make_unique<Process>();
    PipelineDeps deps;
    deps.catalogs["lake"] = deps.dead_letter_catalog = catalog_;
    deps.make_source = [this, raw = process.get()](int lanes) -> Result<std::unique_ptr<source::Source>> {
      if (brokers_are_away_) return Error(ErrorKind::kUnavailable, "no broker answers");
      auto source = std::make_unique<source::MemorySource>(log_, lanes);
      raw->source = source.get();
      return std::unique_ptr<source::Source>(std::move(source));
    };
    deps.make_decoder = [this](const decode::BoundSchema& bound) -> Result<std::unique_ptr<decode::Decoder>> {
      FIRN_ASSIGN(auto decoder, decode::MakeJsonDecoder(bound));
      return std::unique_ptr<decode::Decoder>(
          std::make_unique<WaitingDecoder>(std::move(decoder), &schemas_are_away_));
    };
    deps.make_key_reader = decode::MakeJsonKeyReader;
    deps.infer_schema = [](const std::vector<record::RawBatch>& sample) {
      return decode::InferJsonSchema(sample);
    };
    deps.lanes = 2;
    deps.clock = &runtime::SystemClock();
    deps.ids = &ids_;
    deps.memory = &memory_;
    deps.metrics = &metrics_;
    process->pipeline = MakePipeline(config_, std::move(deps));
    process->result = std::async(std::launch::async, [raw = process.get(), options] {
      return raw->pipeline->Run(options, raw->stop.get_token(), raw->abort.get_token());
    });
    return process;
  }

  static PipelineResult Wait(Process& process) {
    if (process.result.wait_for(kPatience) != std::future_status::ready) {
      ADD_FAILURE() << "the pipeline does not end";
      process.abort.request_stop();
    }
    return process.result.get();
  }
  static PipelineResult Stop(Process& process) {
    process.stop.request_stop();
    return Wait(process);
  }

  PipelineResult CatchUp(RunOptions options = {}) {
    options.until_caught_up = true;
    return Wait(*Start(options));
  }

  static void Eventually(const std::function<bool()>& condition, const char* what) {
    const auto end = std::chrono::steady_clock::now() + kPatience;
    while (!condition()) {
      ASSERT_LT(std::chrono::steady_clock::now(), end) << "waited in vain for: " << what;
      runtime::SystemClock().SleepMs(2);
    }
  }

  iceberg::LoadedTable Table(const std::string& name = "events") {
    auto loaded = catalog_->LoadTable({{"shop"}, name});
    EXPECT_TRUE(loaded.ok()) << loaded.error().ToString();
    return *loaded;
  }
  size_t Snapshots() { return Table().metadata->snapshots.size(); }

  std::vector<int64_t> Column(const std::string& column, const std::string& table_name = "events") {
    const auto table = Table(table_name);
    iceberg::ScanOptions options;
    options.columns = {column};
    auto scan = iceberg::TableScan::Make(table.metadata, table.store, options);
    EXPECT_TRUE(scan.ok()) << scan.error().ToString();
    auto stream = scan->Read();
    EXPECT_TRUE(stream.ok()) << stream.error().ToString();
    std::vector<int64_t> values;
    for (;;) {
      auto batch = (*stream)->Next();
      EXPECT_TRUE(batch.ok()) << batch.error().ToString();
      if (!batch.ok() || *batch == nullptr) break;
      for (int64_t i = 0; i < (*batch)->num_rows(); ++i) {
        auto scalar = (*batch)->column(0)->GetScalar(i).ValueOrDie();
        values.push_back(scalar->is_valid ? Value(*scalar) : -1);
      }
    }
    return values;
  }
  static int64_t Value(const arrow::Scalar& scalar) {
    if (scalar.type->id() == arrow::Type::INT32) return static_cast<const arrow::Int32Scalar&>(scalar).value;
    if (scalar.type->id() == arrow::Type::INT64) return static_cast<const arrow::Int64Scalar&>(scalar).value;
    return static_cast<int64_t>(scalar.ToString().size());
  }

  /// Every id below next_id_ but `except`, once each.
  void ExpectAllOnce(const std::set<int64_t>& except = {}) {
    std::vector<int64_t> expected;
    for (int64_t id = 0; id < next_id_; ++id) {
      if (!except.contains(id)) expected.push_back(id);
    }
    std::vector<int64_t> ids = Column("id");
    std::ranges::sort(ids);
    EXPECT_EQ(ids, expected);
  }

  runtime::SeededIds ids_{7};
  runtime::MemoryBudget memory_{int64_t{1} << 30};
  obs::Metrics metrics_;
  PipelineConfig config_;
  std::shared_ptr<source::MemoryLog> log_ = std::make_shared<source::MemoryLog>();
  std::shared_ptr<store::MemoryStore> store_ = std::make_shared<store::MemoryStore>();
  std::shared_ptr<catalog::MemoryCatalog> catalog_ =
      std::make_shared<catalog::MemoryCatalog>("lake", "memory://lake", store_, runtime::SystemClock());
  int64_t next_id_ = 0;
  std::atomic<bool> schemas_are_away_ = false;
  std::atomic<bool> brokers_are_away_ = false;
};

}  // namespace firn::pipeline
