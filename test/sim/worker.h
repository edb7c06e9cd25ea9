#pragma once

#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "firn/obs/metrics.h"
#include "firn/pipeline/pipeline.h"
#include "firn/store/memory/memory_store.h"
#include "sim/runtime.h"
#include "sim/sim_broker.h"
#include "sim/sim_catalog.h"

namespace firn::sim {

/// What the processes of one run share.
struct World {
  Scheduler& scheduler;
  SimClock& clock;
  SimThreads& threads;
  SimIds& ids;
  Network& network;
  SimCatalogServer& catalog;
  SimBroker& broker;
  std::shared_ptr<store::MemoryStore> disk;
  const pipeline::PipelineConfig& config;
  obs::Metrics& metrics;
};

/// One process that runs the pipeline: the product's own control thread, lanes and committers over fakes.
class Worker {
 public:
  Worker(World& world, std::string name, int64_t skew_ms);
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  void Start(pipeline::RunOptions options);
  /// SIGTERM.
  void Ask() { stop_.request_stop(); }
  /// SIGKILL: from here on nothing that it does reaches anybody.
  void Kill();
  Process& process() { return process_; }
  const std::optional<pipeline::PipelineResult>& result() const { return result_; }
  /// Waits until the run has ended, at most `ms`.
  void Wait(int64_t ms);

 private:
  pipeline::PipelineDeps Deps();

  World& world_;
  Process process_;
  std::stop_source stop_;
  std::stop_source abort_;
  runtime::MemoryBudget memory_{int64_t{1} << 30};
  std::unique_ptr<pipeline::Pipeline> pipeline_;
  std::optional<pipeline::PipelineResult> result_;
  WaitList ended_;
};

}  // namespace firn::sim
