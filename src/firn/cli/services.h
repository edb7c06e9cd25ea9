#pragma once

#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "firn/base/result.h"
#include "firn/http/client/http_client.h"
#include "firn/iceberg/catalog.h"
#include "firn/obs/metrics.h"
#include "firn/pipeline/config_reader.h"
#include "firn/pipeline/pipeline.h"
#include "firn/runtime/clock.h"

namespace firn::cli {

/// A library the program is made of, as `firn version` lists it.
struct LibraryVersion {
  std::string name;
  std::string version;
};

/// Requests to end that reach the process from outside.
struct StopRequests {
  std::stop_token stop;   ///< first SIGINT or SIGTERM: finish what is in flight, commit, leave
  std::stop_token abort;  ///< the second one, or RequestAbort: leave at once
};

/// What commands need of the concrete program. app/ implements it over the registered plug-ins; tests bring
/// their own.
class Services {
 public:
  virtual ~Services() = default;
  virtual std::vector<LibraryVersion> Libraries() const = 0;
  virtual const pipeline::Plugins& plugins() const = 0;
  /// Each pipeline owns its source; catalogs are shared and opened once.
  virtual Result<std::shared_ptr<iceberg::Catalog>> OpenCatalog(const pipeline::CatalogSetup& setup) = 0;
  /// For commands that only look, or change what is there: makes nothing. A catalog that is not there yet
  /// answers kNotFound.
  virtual Result<std::shared_ptr<iceberg::Catalog>> OpenExistingCatalog(
      const pipeline::CatalogSetup& setup) = 0;
  virtual Result<std::unique_ptr<pipeline::Pipeline>> MakePipeline(const pipeline::PipelineFile& file,
                                                                   const pipeline::PipelineSetup& setup) = 0;
  virtual Result<std::string> DryRun(const pipeline::PipelineFile& file, const pipeline::PipelineSetup& setup,
                                     int64_t sample_records) = 0;
  /// Opens the pipeline's source, but no catalog.
  virtual Result<pipeline::SourceSample> SampleSource(const pipeline::PipelineFile& file,
                                                      const pipeline::PipelineSetup& setup) = 0;
  virtual StopRequests stop_requests() = 0;
  /// As a second signal: whoever waits for a server gives up.
  virtual void RequestAbort() = 0;
  /// SIGINT or SIGTERM as it came; 0 when none did.
  virtual int stop_signal() const = 0;
  virtual http::HttpClient& http() = 0;
  virtual obs::Metrics& metrics() = 0;
  virtual runtime::Clock& clock() = 0;
};

}  // namespace firn::cli
