#pragma once

#include <memory>
#include <string>

#include "firn/base/result.h"
#include "firn/cli/run_group.h"
#include "firn/obs/metrics.h"
#include "firn/runtime/clock.h"

namespace firn::cli {

/// What `listen:` of a run serves: `/metrics`, `/health/live`, `/health/ready`, `/status`. Ends with the
/// object, which must not outlive the group.
class Endpoint {
 public:
  virtual ~Endpoint() = default;
  virtual std::string url() const = 0;
};

Result<std::unique_ptr<Endpoint>> StartEndpoint(const std::string& listen, const RunGroup& group,
                                                obs::Metrics& metrics, const runtime::Clock& clock);

/// Ready: every pipeline has begun and none has failed. Otherwise who is not, one per line.
struct Readiness {
  bool ready = true;
  std::string text;
};
Readiness ReadinessOf(const std::vector<pipeline::PipelineStatus>& statuses);

}  // namespace firn::cli
