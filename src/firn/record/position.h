#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

namespace firn::record {

/// One partition of a source: a Kafka topic partition, later a shard or a file set.
struct SourcePartition {
  std::string topic;
  int32_t partition = 0;
  auto operator<=>(const SourcePartition&) const = default;
};

/// Which log the positions belong to: a re-created topic or another cluster is another log.
struct SourceIdentity {
  std::string cluster_id;  ///< empty when the broker tells none
  std::string topic_id;    ///< empty when unknown
  bool operator==(const SourceIdentity&) const = default;
};

/// The last record taken, to notice a rewritten log.
struct Fingerprint {
  int64_t offset = 0;  ///< of the record
  int64_t timestamp_ms = 0;
  uint64_t hash = 0;  ///< XXH3-64 over key and value (lengths included)
  bool operator==(const Fingerprint&) const = default;
};

/// What a source needs beside the number to find a position again where its log has no numbers of its own (a
/// set of files, a shard). Opaque to everybody else; travels with the position.
struct SourceCursor {
  int64_t at = 0;    ///< the position it was taken at: the source reads on from there and skips up to `next`
  std::string text;  ///< compact JSON of the source's own
  /// The part of the text that changes seldom, shared by the cursors of many batches; may be null.
  std::shared_ptr<const std::string> base = nullptr;

  bool operator==(const SourceCursor& other) const {
    return at == other.at && text == other.text && base_text() == other.base_text();
  }
  std::string base_text() const { return base == nullptr ? std::string() : *base; }
};

/// Where a pipeline stands in one partition: the next position to read.
struct PartitionPosition {
  int64_t next = 0;
  SourceIdentity identity;
  std::optional<Fingerprint> last;
  std::optional<SourceCursor> cursor = std::nullopt;  ///< at or below `next`
  bool operator==(const PartitionPosition&) const = default;
};

using Positions = std::map<SourcePartition, PartitionPosition>;

/// [from, to): what one batch advanced in one partition. Ranges of one partition join without gap or overlap.
struct PositionRange {
  int64_t from = 0;
  int64_t to = 0;
  SourceIdentity identity;
  std::optional<Fingerprint> last;                    ///< last record below `to`, when the range holds one
  std::optional<SourceCursor> cursor = std::nullopt;  ///< of sources that need one; at or below `to`
  bool empty() const { return from == to; }
  bool operator==(const PositionRange&) const = default;
};

using PositionRanges = std::map<SourcePartition, PositionRange>;

}  // namespace firn::record
