#pragma once

#include <cstdint>

#include "firn/base/result.h"
#include "firn/pipeline/batch.h"
#include "firn/pipeline/config.h"

namespace firn::pipeline {

/// `dead_letters.fail_above` of one table: a wrong schema must not drain a topic. Looked at over at least
/// `min_records`, before a batch is committed; the past is forgotten after some such windows. Control thread
/// only.
class DeadLetterLimit {
 public:
  explicit DeadLetterLimit(const DeadLetterConfig& config) : config_(config) {}

  /// `records`: those that `part`'s bad records are a share of. An error (never to be retried) names the
  /// share and one of the records: the batch must not be committed.
  Status Check(const BatchPart& part, int64_t records);

 private:
  const DeadLetterConfig& config_;
  int64_t window_records_ = 0;
  int64_t window_bad_ = 0;
};

}  // namespace firn::pipeline
