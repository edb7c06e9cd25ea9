// Whole pipelines from files over an in-memory store and catalog: aborts at any time, and schemas that grow.
#include <arrow/api.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <future>

#include "firn/catalog/memory/memory_catalog.h"
#include "firn/commit/protocol/progress.h"
#include "firn/decode/json/infer_schema.h"
#include "firn/decode/json/json_decoder.h"
#include "firn/decode/json/json_files.h"
#include "firn/iceberg/scan/table_scan.h"
#include "firn/obs/metrics.h"
#include "firn/pipeline/pipeline.h"
#include "firn/runtime/seeded_ids.h"
#include "firn/source/files/files_source.h"
#include "firn/store/memory/memory_store.h"

namespace firn::pipeline {
namespace {

constexpr int64_t kStartMs = 1'700'000'000'000;

class FilesPipelineTest : public ::testing::Test {
 protected:
  FilesPipelineTest() {
    config_.key = config_.id = "p";
    config_.tables.front().name = {"lake", {"shop"}, "events"};
    config_.tables.front().columns = {{.name = "id", .type = "long"}};
    config_.commit.interval_ms = 10;
    config_.dead_letters.table = {"lake", {"shop"}, "events_dead_letters"};
    files_.path = "memory://landing/in";
    files_.min_age_ms = 0;
    files_.poll_interval_ms = 50;
  }

  /// A file with `count` records of new ids; every `every`th has one more field, named after the file.
  void Land(int count, int every = 0) {
    std::string text;
    for (int i = 0; i < count; ++i) {
      const bool more = every > 0 && i % every == every - 1;
      text += fmt::format(R"({{"id":{}{}}})", next_id_++, more ? fmt::format(R"(,"more{}":1)", file_) : "") +
              "\n";
    }
    store_->SetNowMs(kStartMs + file_);
    ASSERT_TRUE(
        store_->WriteAll(fmt::format("memory://landing/in/{}.jsonl", file_++), text, store::IfExists::kFail)
            .ok());
  }

  PipelineDeps Deps() {
    PipelineDeps deps;
    deps.catalogs["lake"] = deps.dead_letter_catalog = catalog_;
    deps.make_source = [this](int lanes) -> Result<std::unique_ptr<source::Source>> {
      source::files::FilesDeps own;
      own.lanes = lanes;
      own.format = decode::MakeJsonFiles();
      own.stores = std::make_shared<store::SingleStoreResolver>(store_);
      own.clock = &runtime::SystemClock();
      return source::files::MakeFilesSource(files_, own);
    };
    deps.make_decoder = decode::MakeJsonDecoder;
    deps.infer_schema = decode::InferJsonSchema;
    deps.lanes = 2;
    deps.clock = &runtime::SystemClock();
    deps.ids = &ids_;
    deps.memory = &memory_;
    deps.metrics = &metrics_;
    return deps;
  }

  /// Runs until the end, or for so long.
  PipelineResult Run(int64_t abort_after_ms = 0) {
    auto pipeline = MakePipeline(config_, Deps());
    RunOptions options;
    options.until_caught_up = true;
    const std::stop_source stop;
    std::stop_source abort;
    auto result = std::async(std::launch::async,
                             [&] { return pipeline->Run(options, stop.get_token(), abort.get_token()); });
    const auto patience = std::chrono::milliseconds(abort_after_ms > 0 ? abort_after_ms : 60'000);
    if (result.wait_for(patience) != std::future_status::ready) {
      EXPECT_GT(abort_after_ms, 0) << "the pipeline does not end";
      abort.request_stop();
    }
    return result.get();
  }

  iceberg::LoadedTable Table() {
    auto loaded = catalog_->LoadTable({{"shop"}, "events"});
    EXPECT_TRUE(loaded.ok()) << loaded.error().ToString();
    return *loaded;
  }

  void ExpectAllOnce() {
    const auto table = Table();
    iceberg::ScanOptions options;
    options.columns = {"id"};
    auto scan = iceberg::TableScan::Make(table.metadata, table.store, options);
    ASSERT_TRUE(scan.ok());
    auto stream = scan->Read();
    ASSERT_TRUE(stream.ok());
    std::vector<int64_t> ids;
    for (;;) {
      auto batch = (*stream)->Next();
      ASSERT_TRUE(batch.ok()) << batch.error().ToString();
      if (*batch == nullptr) break;
      const auto& column = static_cast<const arrow::Int64Array&>(*(*batch)->column(0));
      for (int64_t i = 0; i < column.length(); ++i) ids.push_back(column.Value(i));
    }
    std::ranges::sort(ids);
    std::vector<int64_t> expected(static_cast<size_t>(next_id_));
    for (size_t i = 0; i < expected.size(); ++i) expected[i] = static_cast<int64_t>(i);
    EXPECT_EQ(ids, expected);
  }

  runtime::SeededIds ids_{7};
  runtime::MemoryBudget memory_{int64_t{1} << 30};
  obs::Metrics metrics_;
  PipelineConfig config_;
  source::files::FilesConfig files_;
  std::shared_ptr<store::MemoryStore> store_ = std::make_shared<store::MemoryStore>();
  std::shared_ptr<catalog::MemoryCatalog> catalog_ =
      std::make_shared<catalog::MemoryCatalog>("lake", "memory://lake", store_, runtime::SystemClock());
  int64_t next_id_ = 0;
  int file_ = 0;
};

TEST_F(FilesPipelineTest, CatchesUpAndASecondRunAddsNothing) {
  for (int i = 0; i < 30; ++i) Land(i);
  auto result = Run();
  EXPECT_EQ(result.end, PipelineEnd::kDone) << result.message;
  ExpectAllOnce();
  const size_t snapshots = Table().metadata->snapshots.size();
  EXPECT_EQ(Run().end, PipelineEnd::kDone);
  EXPECT_EQ(Table().metadata->snapshots.size(), snapshots);
  Land(5);
  EXPECT_EQ(Run().end, PipelineEnd::kDone);
  ExpectAllOnce();
}

TEST_F(FilesPipelineTest, AbortsLoseAndDoubleNothing) {
  config_.commit.max_records = 500;
  Land(60'000);
  for (int i = 0; i < 200; ++i) Land(20);
  for (int round = 1; round <= 12; ++round) {
    Run(15 * round);
    Land(7);
  }
  auto result = Run();
  EXPECT_EQ(result.end, PipelineEnd::kDone) << result.message;
  ExpectAllOnce();
}

// A batch is cut where the schema has to grow: the rest of it is read again from the cursor before it.
TEST_F(FilesPipelineTest, AbortsWhileTheSchemaGrowsLoseAndDoubleNothing) {
  config_.tables.front().schema_evolution = decode::Evolution::kAdd;
  config_.commit.max_records = 100;
  for (int i = 0; i < 20; ++i) Land(400, 37);
  for (int round = 1; round <= 12; ++round) Run(10 * round);
  auto result = Run();
  EXPECT_EQ(result.end, PipelineEnd::kDone) << result.message;
  ExpectAllOnce();
  EXPECT_EQ(Table().metadata->schema()->fields().size(), 21U);
}

TEST_F(FilesPipelineTest, ASecondProcessIsRefusedByTheFenceAndReadsAgain) {
  config_.commit.max_records = 50;
  for (int i = 0; i < 40; ++i) Land(50);
  auto first = std::async(std::launch::async, [&] { return Run(); });
  auto second = std::async(std::launch::async, [&] { return Run(); });
  const auto ends = {first.get().end, second.get().end};
  EXPECT_TRUE(std::ranges::find(ends, PipelineEnd::kDone) != ends.end());
  ExpectAllOnce();
}

TEST_F(FilesPipelineTest, WithoutTheProgressPropertyTheStartStops) {
  Land(10);
  EXPECT_EQ(Run().end, PipelineEnd::kDone);
  const auto table = Table();
  iceberg::TableCommit removal{table, {}, {iceberg::update::RemoveProperties{{"firn.progress.p"}}}, "x"};
  ASSERT_TRUE(std::holds_alternative<iceberg::CommitDone>(catalog_->CommitTable(removal)));
  const auto result = Run();
  EXPECT_EQ(result.end, PipelineEnd::kDataStop) << result.message;
  ExpectAllOnce();
}

}  // namespace
}  // namespace firn::pipeline
