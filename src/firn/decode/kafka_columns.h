#pragma once

#include <memory>

#include "firn/decode/decoder.h"

namespace firn::decode {

/// Type of the column `_kafka` (kKafkaColumn), ids 0, all fields optional: struct<topic: string, partition:
/// int, offset: long, timestamp: timestamptz, key: binary, headers: list<struct<key: string, value:
/// binary>>>. Headers are a list, not a map: Kafka lets a name come twice and keeps their order.
iceberg::TypePtr KafkaColumnType();

/// Adds each record's position, time, key and headers to the rows of another decoder, in the column `_kafka`.
/// A table without the column gets it by a schema delta before its first row. A timestamp that the broker
/// does not have (-1) is null; bytes of a header's name that are not UTF-8 become U+FFFD.
///
/// kInvalidArgument with the remedy: the column cannot be added, or is there with another type (it may have
/// fewer fields).
Result<std::unique_ptr<Decoder>> AddKafkaColumns(std::unique_ptr<Decoder> decoder, const BoundSchema& bound);

}  // namespace firn::decode
