#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "firn/record/position.h"

namespace firn::record {

struct RawBatch;

/// Fingerprint of one record. The hash is XXH3-64 over: length of the key as 8 bytes little-endian (-1: no
/// key), key, length of the value likewise, value. It is persisted in tables: never change it.
Fingerprint FingerprintOf(int64_t offset, int64_t timestamp_ms, std::optional<std::string_view> key,
                          std::optional<std::string_view> value);

/// Fingerprint of record `i` of a batch.
Fingerprint FingerprintOf(const RawBatch& batch, size_t i);

}  // namespace firn::record
