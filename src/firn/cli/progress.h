#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "firn/pipeline/status.h"

namespace firn::cli {

/// Composes the live display of `firn run`, one line per pipeline. Rates are over the last few seconds. Not
/// thread-safe.
class Progress {
 public:
  /// Lines of at most `width` columns. `monotonic_ns` and `now_ms`: when the statuses were taken.
  std::string Text(const std::vector<pipeline::PipelineStatus>& statuses, int64_t monotonic_ns,
                   int64_t now_ms, int width);

 private:
  struct Sample {
    int64_t monotonic_ns = 0;
    int64_t rows = 0;
    int64_t bytes = 0;
  };
  struct Rate {
    double rows_per_s = 0;
    double bytes_per_s = 0;
  };
  Rate RateOf(const pipeline::PipelineStatus& status, int64_t monotonic_ns);

  std::map<std::string, std::vector<Sample>> samples_;  ///< by pipeline, oldest first, a few seconds' worth
};

/// One line without a line break, at most `width` columns: `flights  RUNNING  310k rows/s  27.1 MiB/s  lag
/// 12,000 ...`
std::string LiveLine(const pipeline::PipelineStatus& status, double rows_per_s, double bytes_per_s,
                     int64_t now_ms, int width);

}  // namespace firn::cli
