#include "sim/worker.h"

#include <utility>

#include "firn/decode/json/json_decoder.h"
#include "firn/decode/json/json_key_reader.h"
#include "sim/sim_store.h"

namespace firn::sim {

Worker::Worker(World& world, std::string name, int64_t skew_ms) : world_(world) {
  process_.name = std::move(name);
  process_.skew_ms = skew_ms;
}

pipeline::PipelineDeps Worker::Deps() {
  auto store = std::make_shared<SimStore>(world_.disk, world_.network);
  pipeline::PipelineDeps deps;
  deps.catalogs["lake"] = deps.dead_letter_catalog =
      std::make_shared<SimCatalog>(world_.catalog, std::move(store), world_.network);
  deps.make_source = [this](int lanes) -> Result<std::unique_ptr<source::Source>> {
    return std::unique_ptr<source::Source>(std::make_unique<SimSource>(world_.broker, world_.network, lanes));
  };
  deps.make_decoder = [](const decode::BoundSchema& bound) { return decode::MakeJsonDecoder(bound); };
  deps.make_key_reader = decode::MakeJsonKeyReader;
  deps.lanes = 2;
  deps.clock = &world_.clock;
  deps.threads = &world_.threads;
  deps.ids = &world_.ids;
  deps.memory = &memory_;
  deps.metrics = &world_.metrics;
  return deps;
}

void Worker::Start(pipeline::RunOptions options) {
  world_.scheduler.Spawn(&process_, [this, options] {
    pipeline_ = pipeline::MakePipeline(world_.config, Deps());
    pipeline::PipelineResult result = pipeline_->Run(options, stop_.get_token(), abort_.get_token());
    pipeline_.reset();
    result_ = std::move(result);
    world_.scheduler.Wake(ended_);
  });
}

void Worker::Kill() {
  process_.dead = true;
  abort_.request_stop();
  world_.scheduler.Continue(process_);
}

void Worker::Wait(int64_t ms) {
  if (!result_) world_.scheduler.Park(ended_, ms);
}

}  // namespace firn::sim
