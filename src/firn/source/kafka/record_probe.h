#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "firn/base/result.h"
#include "firn/record/position.h"
#include "firn/source/kafka/client.h"

namespace firn::source::kafka {

/// Reads single records beside the running source, through a client of its own that never joins the group.
/// Control thread only.
class RecordProbe {
 public:
  static Result<std::unique_ptr<RecordProbe>> Make(const KafkaConfig& config, int connect_timeout_ms);

  /// Fingerprint of the last record in [first, position); empty when the log holds none there (compacted
  /// away, only control records). Looks back in growing steps; bounded by `timeout_ms`.
  Result<std::optional<record::Fingerprint>> LastBelow(const record::SourcePartition& partition,
                                                       int64_t first, int64_t position, int timeout_ms);

 private:
  explicit RecordProbe(std::unique_ptr<Client> client) : client_(std::move(client)) {}
  struct Scan;
  struct Unassign;
  Result<std::optional<record::Fingerprint>> ScanFrom(const record::SourcePartition& partition, int64_t from,
                                                      Scan& scan);

  std::unique_ptr<Client> client_;
};

}  // namespace firn::source::kafka
