#include "firn/record/fingerprint.h"

#include <bit>
#include <memory>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "firn/record/raw_batch.h"

namespace firn::record {

namespace {

static_assert(std::endian::native == std::endian::little, "lengths are hashed as they lie in memory");

void HashPart(XXH3_state_t& state, std::optional<std::string_view> part) {
  const int64_t length = part ? static_cast<int64_t>(part->size()) : -1;
  XXH3_64bits_update(&state, &length, sizeof(length));
  if (part && !part->empty()) XXH3_64bits_update(&state, part->data(), part->size());
}

std::optional<std::string_view> Part(const RawBatch& batch, const Slice& slice) {
  if (slice.is_null()) return std::nullopt;
  return batch.arena.View(slice.begin, slice.length);
}

}  // namespace

Fingerprint FingerprintOf(int64_t offset, int64_t timestamp_ms, std::optional<std::string_view> key,
                          std::optional<std::string_view> value) {
  XXH3_state_t state;
  XXH3_64bits_reset(&state);
  HashPart(state, key);
  HashPart(state, value);
  return {.offset = offset, .timestamp_ms = timestamp_ms, .hash = XXH3_64bits_digest(&state)};
}

Fingerprint FingerprintOf(const RawBatch& batch, size_t i) {
  return FingerprintOf(batch.offsets[i], batch.timestamps_ms[i], Part(batch, batch.keys[i]),
                       Part(batch, batch.values[i]));
}

}  // namespace firn::record
