#pragma once

#include <cstdint>
#include <memory>
#include <stop_token>

#include "firn/base/result.h"
#include "firn/source/kafka/config.h"
#include "firn/source/source.h"

namespace firn::source::kafka {

/// What a Kafka source needs from outside.
struct KafkaDeps {
  int lanes = 1;
  int64_t prefetch_bytes = int64_t{64}
                           << 20;  ///< share of the memory limit that read-ahead may take, over all lanes
  int connect_timeout_ms = 15'000;
  std::stop_token stop;  ///< ends waiting for brokers that do not answer
};

/// An unopened source. Errors are those of the configuration.
Result<std::unique_ptr<Source>> MakeKafkaSource(KafkaConfig config, const KafkaDeps& deps);

}  // namespace firn::source::kafka
