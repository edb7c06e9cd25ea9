#pragma once

#include <functional>
#include <map>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "firn/base/result.h"
#include "firn/decode/decoder.h"
#include "firn/decode/inferred_schema.h"
#include "firn/decode/key_reader.h"
#include "firn/iceberg/catalog.h"
#include "firn/pipeline/config.h"
#include "firn/pipeline/patience.h"
#include "firn/pipeline/status.h"
#include "firn/runtime/clock.h"
#include "firn/runtime/ids.h"
#include "firn/runtime/memory_budget.h"
#include "firn/runtime/threads.h"
#include "firn/source/source.h"

namespace arrow {
class MemoryPool;
}

namespace firn::obs {
class Metrics;
}

namespace firn::pipeline {

using DecoderFactory = std::function<Result<std::unique_ptr<decode::Decoder>>(const decode::BoundSchema&)>;

/// Everything a pipeline needs from outside; built by app/.
struct PipelineDeps {
  std::map<std::string, std::shared_ptr<iceberg::Catalog>>
      catalogs;  ///< of the tables, by what their names begin with
  std::shared_ptr<iceberg::Catalog> dead_letter_catalog;
  /// A new, unopened source for this many lanes (the run itself; a second one reads samples for inference and
  /// `--dry-run`).
  std::function<Result<std::unique_ptr<source::Source>>(int lanes)> make_source;
  DecoderFactory make_decoder;
  decode::KeyReaderFactory make_key_reader = {};  ///< where rules match by field
  std::function<Result<decode::InferredSchema>(const std::vector<record::RawBatch>&)>
      infer_schema;  ///< for tables without declared columns
  int lanes = 1;
  runtime::Clock* clock = nullptr;
  runtime::Threads* threads = &runtime::SystemThreads();
  runtime::IdSource* ids = nullptr;
  runtime::MemoryBudget* memory = nullptr;
  arrow::MemoryPool* pool = nullptr;
  obs::Metrics* metrics = nullptr;
  std::string catalog_uri;
};

struct RunOptions {
  bool until_caught_up = false;
  bool first_run = false;  ///< --first-run: the table was re-created on purpose
  std::string adopt;       ///< --adopt OLD: take over the progress of pipeline id OLD
  bool fail_on_dead_letters = false;
  bool fail_fast = false;  ///< --fail-fast: the first table that fails ends the run
  int64_t shutdown_timeout_ms = 25'000;
};

struct PipelineResult {
  PipelineEnd end = PipelineEnd::kDone;
  std::string message;  ///< empty when kDone
};

/// One pipeline: source -> lanes (sort by table, decode, write) -> committers -> tables. Start, restart and
/// revocation are one code path: positions are read from the table, the source is told to start there,
/// batches are cut at barriers and committed.
class Pipeline {
 public:
  virtual ~Pipeline() = default;
  /// Blocks until stopped (graceful: flush and commit; `abort`: at once), caught up, or failed.
  virtual PipelineResult Run(const RunOptions& options, std::stop_token stop, std::stop_token abort) = 0;
  virtual PipelineStatus status() const = 0;
};

std::unique_ptr<Pipeline> MakePipeline(PipelineConfig config, PipelineDeps deps);

/// Columns found in a sample of the source's records from the configured start; kNotFound when there are
/// none and the format does not know them otherwise. `patience` is for a schema registry that is away.
Result<decode::InferredSchema> InferFromSource(const PipelineDeps& deps, const Patience& patience);

/// What `firn init` shows of a source: the columns found, and the sample's rows under them, as
/// iceberg::RowsToJson gives them.
struct SourceSample {
  decode::InferredSchema inferred;
  std::vector<nlohmann::ordered_json> rows;
};
/// Reads a sample from the configured start; needs of the deps only source, decoder and inference. kNotFound
/// when there are no records.
Result<SourceSample> SampleSource(const PipelineDeps& deps);

/// `firn run --dry-run`: reads and decodes a sample; writes nothing. Text for people.
Result<std::string> DryRun(const PipelineConfig& config, const PipelineDeps& deps, int64_t sample_records);

}  // namespace firn::pipeline
