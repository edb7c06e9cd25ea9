#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>

#include "firn/obs/metrics.h"
#include "firn/pipeline/config_reader.h"
#include "firn/runtime/clock.h"
#include "firn/runtime/ids.h"
#include "firn/store/store.h"

namespace firn::app {

/// What the plug-ins are made with; outlives everything they make.
struct PluginDeps {
  std::shared_ptr<store::StoreResolver> stores;
  runtime::Clock* clock = nullptr;
  runtime::IdSource* ids = nullptr;
  std::function<int64_t()>
      prefetch_bytes;    ///< share of the memory limit that one source may read ahead; asked when one is made
  std::stop_token stop;  ///< the process is to end: nothing waits for what does not answer
};

/// Every plug-in of the program: sources, formats, kinds of catalogs. A new one is a new row here.
pipeline::Plugins MakePlugins(const PluginDeps& deps);

/// Stores by scheme, metered. One of a kind: locations with equal access share a store, and all S3 stores
/// their connections. After `abort` no store waits for a server any more.
std::shared_ptr<store::StoreResolver> MakeStoreResolver(obs::Metrics& metrics, std::stop_token abort);

}  // namespace firn::app
