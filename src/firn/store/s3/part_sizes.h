#pragma once

#include <cstdint>

namespace firn::store::s3 {

inline constexpr int32_t kMaxParts = 10'000;
inline constexpr int64_t kMaxObjectBytes = int64_t{5} << 40;

/// Size of part `number` (from 1) of a multipart upload whose first parts have `first_bytes`. The first
/// thousand are alike, so that most objects are cut evenly and little is kept in memory; then each is 136 KiB
/// larger than the one before, with which 10,000 parts hold the 5 TiB that an object may have.
constexpr int64_t PartBytes(int32_t number, int64_t first_bytes) {
  constexpr int32_t kAlike = 1000;
  constexpr int64_t kGrowthBytes = 136 << 10;
  return first_bytes + (number > kAlike ? (number - kAlike) * kGrowthBytes : 0);
}

}  // namespace firn::store::s3
