#include "firn/pipeline/pipeline.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "firn/iceberg/scan/row_json.h"
#include "firn/pipeline/controller.h"
#include "firn/pipeline/sample.h"
#include "firn/pipeline/start_plan.h"
#include "firn/pipeline/status_board.h"
#include "firn/pipeline/table_definition.h"
#include "firn/pipeline/table_setup.h"

namespace firn::pipeline {

namespace {

constexpr int64_t kInferenceSample = 10'000;
constexpr int64_t kInferenceWaitMs = 10'000;

PipelineEnd EndOf(const Error& error) {
  switch (error.kind()) {
    case ErrorKind::kDataLoss:
      return PipelineEnd::kDataStop;
    case ErrorKind::kCancelled:
      return PipelineEnd::kInterrupted;
    case ErrorKind::kInvalidArgument:
    case ErrorKind::kNotFound:
    case ErrorKind::kUnsupported:
      return error.domain() == ErrorDomain::kUser ? PipelineEnd::kUserError : PipelineEnd::kFailed;
    default:
      return PipelineEnd::kFailed;
  }
}

class PipelineImpl : public Pipeline {
 public:
  PipelineImpl(PipelineConfig config, PipelineDeps deps)
      : config_(std::move(config)), deps_(std::move(deps)) {
    status_.Write([this](PipelineStatus& s) {
      s.id = config_.id;
      for (const TableConfig& table : config_.tables)
        s.table += (s.table.empty() ? "" : ", ") + table.name.ToString();
      s.catalog_uri = deps_.catalog_uri;
    });
  }

  PipelineResult Run(const RunOptions& options, std::stop_token stop, std::stop_token abort) override {
    Status ended = Ok();
    {
      Controller controller(config_, deps_, options, status_);
      ended = controller.Run(stop, abort);
    }
    const PipelineStatus last = status_.Read();
    if (ended.ok() && options.fail_on_dead_letters && last.dead_letters > 0) {
      ended = Error(ErrorKind::kUnavailable,
                    fmt::format("{} records went to the dead-letter table {}", last.dead_letters,
                                config_.dead_letters.table.ToString()))
                  .WithRetry(RetryHint::kNo);
    }
    if (ended.ok()) {
      status_.Write([](PipelineStatus& s) { s.state = PipelineState::kFinished; });
      return {};
    }
    PipelineResult result{EndOf(ended.error()), ended.error().ToString()};
    // Before the first record was taken it is the set-up that is wrong; later the same error is a failure of
    // the run.
    if (result.end == PipelineEnd::kUserError && last.commits > 0) result.end = PipelineEnd::kFailed;
    status_.Write([&](PipelineStatus& s) {
      s.state = PipelineState::kFailed;
      s.reason = result.message;
    });
    return result;
  }

  PipelineStatus status() const override { return status_.Read(); }

 private:
  PipelineConfig config_;
  PipelineDeps deps_;
  StatusBoard status_;
};

Result<std::vector<record::RawBatch>> SampleFromStart(const PipelineDeps& deps, int64_t records) {
  FIRN_ASSIGN(auto source, deps.make_source(1));
  FIRN_TRY(source->Open());
  FIRN_ASSIGN(auto start, ConfiguredStart(*source));
  FIRN_TRY(source->Subscribe(/*bounded=*/true));
  FIRN_ASSIGN(auto batches, ReadSample(*source, start, records, kInferenceWaitMs, *deps.clock));
  source->Close();
  const bool empty = std::ranges::all_of(batches, [](const auto& batch) { return batch.size() == 0; });
  if (empty) {
    return Error(ErrorKind::kNotFound, "the source holds no records to infer columns from")
        .WithRemedy("Declare `columns`, create the table, or start again when there are records.");
  }
  return batches;
}

}  // namespace

std::unique_ptr<Pipeline> MakePipeline(PipelineConfig config, PipelineDeps deps) {
  return std::make_unique<PipelineImpl>(std::move(config), std::move(deps));
}

Result<decode::InferredSchema> InferFromSource(const PipelineDeps& deps, const Patience& patience) {
  auto batches = SampleFromStart(deps, kInferenceSample);
  if (batches.ok()) return CallPatiently(patience, [&] { return deps.infer_schema(*batches); });
  if (batches.error().kind() != ErrorKind::kNotFound) return std::move(batches).error();
  // A format whose schemas are told elsewhere needs no records.
  auto told = CallPatiently(patience, [&] { return deps.infer_schema({}); });
  if (told.ok() || told.error().retry() == RetryHint::kYes) return told;
  return std::move(batches).error();
}

Result<SourceSample> SampleSource(const PipelineDeps& deps) {
  FIRN_ASSIGN(auto batches, SampleFromStart(deps, kInferenceSample));
  SourceSample sample;
  const Patience patience = BriefPatience(*deps.clock);
  FIRN_ASSIGN(sample.inferred, CallPatiently(patience, [&] { return deps.infer_schema(batches); }));
  decode::BoundSchema bound;
  bound.schema = sample.inferred.schema;
  FIRN_ASSIGN(auto decoder, deps.make_decoder(bound));
  for (const record::RawBatch& raw : batches) {
    FIRN_ASSIGN(auto decoded, CallPatiently(patience, [&] { return decoder->Decode(raw, 0); }));
    if (decoded.batch.rows == nullptr) continue;
    FIRN_ASSIGN(auto rows, iceberg::RowsToJson(*decoded.batch.rows, *bound.schema));
    std::ranges::move(rows, std::back_inserter(sample.rows));
  }
  return sample;
}

}  // namespace firn::pipeline
