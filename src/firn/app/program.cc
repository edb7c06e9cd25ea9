#include "firn/app/program.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include <nlohmann/json.hpp>

#include "firn/app/versions.h"
#include "firn/obs/log.h"
#include "firn/pipeline/pipeline.h"
#include "firn/pipeline/waiting_start.h"
#include "firn/runtime/ids.h"
#include "firn/runtime/limits.h"

namespace firn::app {

namespace {

constexpr int64_t kMaxPrefetchBytes = int64_t{64} << 20;
constexpr int64_t kMinPrefetchBytes = int64_t{4} << 20;
constexpr int64_t kPrefetchShare = 8;  ///< read-ahead takes at most an eighth of the memory
constexpr int64_t kStatusTimeoutMs = 10'000;
constexpr int kSignalBase = 128;

}  // namespace

Program::Program()
    : signals_([this](runtime::StopRequest request, int signal) { OnSignal(request, signal); }) {
  plugins_ = MakePlugins({MakeStoreResolver(metrics_, abort_.get_token()), &runtime::SystemClock(),
                          &runtime::SystemIds(), [this] { return PrefetchBytes(); }, stop_.get_token()});
}

std::vector<cli::LibraryVersion> Program::Libraries() const { return LibraryVersions(); }

Result<std::shared_ptr<iceberg::Catalog>> Program::OpenCatalog(const pipeline::CatalogSetup& setup) {
  OpenedCatalog& entry = EntryOf(setup.key);
  const std::lock_guard lock(entry.mutex);
  if (entry.catalog == nullptr) {
    FIRN_ASSIGN(entry.catalog, setup.open());
  }
  return entry.catalog;
}

Program::OpenedCatalog& Program::EntryOf(const std::string& key) {
  const std::lock_guard lock(mutex_);
  return catalogs_[key];
}

Result<std::shared_ptr<iceberg::Catalog>> Program::OpenExistingCatalog(const pipeline::CatalogSetup& setup) {
  if (!setup.open_existing) return OpenCatalog(setup);
  OpenedCatalog& entry = EntryOf(setup.key);
  const std::lock_guard lock(entry.mutex);
  if (entry.catalog != nullptr) return entry.catalog;
  return setup.open_existing();
}

Program::Resources& Program::ResourcesFor(const pipeline::PipelineFile& file) {
  const std::lock_guard lock(mutex_);
  if (resources_ != nullptr) return *resources_;
  const int64_t memory =
      file.resources.memory_bytes > 0 ? file.resources.memory_bytes : runtime::DefaultMemoryBytes();
  const int32_t threads = file.resources.threads > 0 ? file.resources.threads : runtime::AvailableCpus();
  resources_ = std::make_unique<Resources>(runtime::ReservableBytes(memory), threads);
  sources_ = std::max<size_t>(1, file.pipelines.size());
  memory_hook_ = metrics_.OnRender([this] {
    metrics_.gauge(obs::Metric::kReservedMemory)
        .Set(static_cast<double>(resources_->budget.reserved_bytes()));
    metrics_.gauge(obs::Metric::kMemoryLimit).Set(static_cast<double>(resources_->budget.limit_bytes()));
  });
  return *resources_;
}

void Program::RequestAbort() { abort_.request_stop(); }

int64_t Program::PrefetchBytes() {
  const std::lock_guard lock(mutex_);
  if (resources_ == nullptr) return kMaxPrefetchBytes;
  const int64_t share = resources_->budget.limit_bytes() / kPrefetchShare / static_cast<int64_t>(sources_);
  return std::clamp(share, kMinPrefetchBytes, kMaxPrefetchBytes);
}

pipeline::PipelineDeps Program::ReadingDeps(const pipeline::PipelineFile& file,
                                            const pipeline::PipelineSetup& setup) {
  Resources& resources = ResourcesFor(file);
  pipeline::PipelineDeps deps;
  deps.make_source = [setup](int lanes) { return setup.MakeSource(lanes); };
  deps.make_decoder = setup.decoder.make;
  deps.make_key_reader = setup.decoder.make_key_reader;
  deps.infer_schema = setup.decoder.infer;
  deps.lanes = std::max(1, resources.threads / static_cast<int>(std::max<size_t>(1, file.pipelines.size())));
  deps.clock = &runtime::SystemClock();
  deps.ids = &runtime::SystemIds();
  deps.memory = &resources.budget;
  deps.pool = &resources.pool;
  deps.metrics = &metrics_;
  return deps;
}

Result<pipeline::PipelineDeps> Program::DepsOf(const pipeline::PipelineFile& file,
                                               const pipeline::PipelineSetup& setup, Opener open) {
  const std::string& first = setup.config.tables.front().name.catalog;
  FIRN_ASSIGN(const pipeline::CatalogSetup* catalog, file.FindCatalog(first));
  FIRN_ASSIGN(const pipeline::CatalogSetup* dead_letters,
              file.FindCatalog(setup.config.dead_letters.table.catalog));
  pipeline::PipelineDeps deps = ReadingDeps(file, setup);
  for (const pipeline::TableConfig& rule : setup.config.tables) {
    FIRN_ASSIGN(const pipeline::CatalogSetup* own, file.FindCatalog(rule.name.catalog));
    FIRN_ASSIGN_CTX(deps.catalogs[own->key], (this->*open)(*own), "catalog " + own->key);
  }
  FIRN_ASSIGN_CTX(deps.dead_letter_catalog, (this->*open)(*dead_letters), "catalog " + dead_letters->key);
  deps.catalog_uri = catalog->uri;
  return deps;
}

Result<std::unique_ptr<pipeline::Pipeline>> Program::MakePipeline(const pipeline::PipelineFile& file,
                                                                  const pipeline::PipelineSetup& setup) {
  ResourcesFor(file);
  return pipeline::MakeWaitingPipeline(
      setup.config, [this, file, setup] { return DepsOf(file, setup, &Program::OpenCatalog); },
      runtime::SystemClock());
}

Result<std::string> Program::DryRun(const pipeline::PipelineFile& file, const pipeline::PipelineSetup& setup,
                                    int64_t sample_records) {
  FIRN_ASSIGN(const pipeline::PipelineDeps deps, DepsOf(file, setup, &Program::OpenExistingCatalog));
  return pipeline::DryRun(setup.config, deps, sample_records);
}

Result<pipeline::SourceSample> Program::SampleSource(const pipeline::PipelineFile& file,
                                                     const pipeline::PipelineSetup& setup) {
  return pipeline::SampleSource(ReadingDeps(file, setup));
}

cli::StopRequests Program::stop_requests() {
  stop_is_watched_ = true;
  return {stop_.get_token(), abort_.get_token()};
}

http::HttpClient& Program::http() {
  const std::lock_guard lock(mutex_);
  if (http_ == nullptr) {
    http::HttpClientOptions options;
    options.timeout_ms = kStatusTimeoutMs;
    options.use_proxy = false;  // it asks processes of the same machine or network
    http_ = http::MakeHttpClient(options);
  }
  return *http_;
}

void Program::OnSignal(runtime::StopRequest request, int signal) {
  int none = 0;
  stop_signal_.compare_exchange_strong(none, signal);
  if (!stop_is_watched_)
    ::_exit(kSignalBase + signal);  // a command with nothing in flight: as without a handler
  obs::Log(obs::Level::kInfo,
           request == runtime::StopRequest::kGraceful ? "stopping: committing what is in flight"
                                                      : "stopping at once",
           {{"signal", runtime::SignalName(signal)}});
  stop_.request_stop();
  if (request == runtime::StopRequest::kImmediate) abort_.request_stop();
}

}  // namespace firn::app
