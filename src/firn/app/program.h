#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <vector>

#include "firn/app/registry.h"
#include "firn/cli/services.h"
#include "firn/obs/metrics.h"
#include "firn/record/reserving_pool.h"
#include "firn/runtime/memory_budget.h"
#include "firn/runtime/signals.h"

namespace firn::app {

/// Names the concrete classes behind the commands: plug-ins, memory, metrics, signals. One per process, for
/// its whole life.
class Program final : public cli::Services {
 public:
  Program();

  std::vector<cli::LibraryVersion> Libraries() const override;
  const pipeline::Plugins& plugins() const override { return plugins_; }
  Result<std::shared_ptr<iceberg::Catalog>> OpenCatalog(const pipeline::CatalogSetup& setup) override;
  Result<std::shared_ptr<iceberg::Catalog>> OpenExistingCatalog(const pipeline::CatalogSetup& setup) override;
  Result<std::unique_ptr<pipeline::Pipeline>> MakePipeline(const pipeline::PipelineFile& file,
                                                           const pipeline::PipelineSetup& setup) override;
  Result<std::string> DryRun(const pipeline::PipelineFile& file, const pipeline::PipelineSetup& setup,
                             int64_t sample_records) override;
  Result<pipeline::SourceSample> SampleSource(const pipeline::PipelineFile& file,
                                              const pipeline::PipelineSetup& setup) override;
  cli::StopRequests stop_requests() override;
  void RequestAbort() override;
  int stop_signal() const override { return stop_signal_.load(); }
  http::HttpClient& http() override;
  obs::Metrics& metrics() override { return metrics_; }
  runtime::Clock& clock() override { return runtime::SystemClock(); }

 private:
  /// Memory and lanes of the process, by the first file that runs something.
  struct Resources {
    Resources(int64_t memory_bytes, int32_t thread_count)
        : budget(memory_bytes), pool(&budget), threads(thread_count) {}
    runtime::MemoryBudget budget;
    record::ReservingPool pool;
    const int32_t threads;
  };

  /// Each with a lock of its own: one that does not answer must not keep the others waiting.
  struct OpenedCatalog {
    std::mutex mutex;
    std::shared_ptr<iceberg::Catalog> catalog;
  };

  OpenedCatalog& EntryOf(const std::string& key);
  Resources& ResourcesFor(const pipeline::PipelineFile& file);
  /// All but the catalogs.
  pipeline::PipelineDeps ReadingDeps(const pipeline::PipelineFile& file,
                                     const pipeline::PipelineSetup& setup);
  using Opener = Result<std::shared_ptr<iceberg::Catalog>> (Program::*)(const pipeline::CatalogSetup&);
  Result<pipeline::PipelineDeps> DepsOf(const pipeline::PipelineFile& file,
                                        const pipeline::PipelineSetup& setup, Opener open);
  int64_t PrefetchBytes();
  void OnSignal(runtime::StopRequest request, int signal);

  obs::Metrics metrics_;
  pipeline::Plugins plugins_;
  std::mutex mutex_;
  std::map<std::string, OpenedCatalog> catalogs_;  ///< by key
  std::unique_ptr<http::HttpClient> http_;
  std::unique_ptr<Resources> resources_;
  size_t sources_ = 1;  ///< pipelines that share the read-ahead
  obs::Metrics::Hook memory_hook_;
  std::stop_source stop_;
  std::stop_source abort_;
  std::atomic<bool> stop_is_watched_{false};
  std::atomic<int> stop_signal_{0};
  runtime::SignalThread signals_;
};

}  // namespace firn::app
