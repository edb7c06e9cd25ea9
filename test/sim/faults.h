#pragma once

#include <cstdint>

#include "firn/base/result.h"
#include "sim/scheduler.h"

namespace firn::sim {

/// How often things go wrong in one run: one in so many, 0 never. Drawn by the seed; all zero once the run
/// settles.
struct FaultRates {
  int64_t store = 0;   ///< a request of the store fails
  int64_t load = 0;    ///< the catalog does not answer a question
  int64_t commit = 0;  ///< something happens to a commit (see SimCatalog)
  int64_t slow = 0;    ///< a request takes seconds
};

/// The way to a server: takes time, and may lead nowhere.
class Network {
 public:
  Network(Scheduler& scheduler, const FaultRates& rates) : scheduler_(scheduler), rates_(rates) {}

  /// One way of a request. An error where its sender is dead or the fault strikes.
  Status Pass(int64_t fault_rate);
  bool Strikes(int64_t rate) { return rate > 0 && scheduler_.OneIn(rate); }
  Scheduler& scheduler() { return scheduler_; }
  const FaultRates& rates() const { return rates_; }

 private:
  Scheduler& scheduler_;
  const FaultRates& rates_;
};

}  // namespace firn::sim
