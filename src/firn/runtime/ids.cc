#include "firn/runtime/ids.h"

#include <fmt/format.h>
#include <sys/random.h>

#include <limits>

#include "firn/base/check.h"
#include "firn/runtime/seeded_ids.h"

namespace firn::runtime {

namespace {

class OsIds final : public IdSource {
 public:
  uint64_t Random64() override {
    uint64_t value = 0;
    FIRN_CHECK(getrandom(&value, sizeof(value), 0) == sizeof(value), "getrandom gives 8 bytes");
    return value;
  }
};

/// RFC 9562 layout: version into the high half, variant into the low one.
std::string FormatUuid(uint64_t high, uint64_t low, uint64_t version) {
  high = (high & ~uint64_t{0xF000}) | version << 12U;
  low = (low & ~(uint64_t{3} << 62U)) | uint64_t{2} << 62U;
  return fmt::format("{:08x}-{:04x}-{:04x}-{:04x}-{:012x}", high >> 32U, high >> 16U & 0xFFFFU,
                     high & 0xFFFFU, low >> 48U, low & 0xFFFF'FFFF'FFFFU);
}

}  // namespace

std::string IdSource::Uuid() {
  const uint64_t high = Random64();
  return FormatUuid(high, Random64(), 4);
}

std::string IdSource::UuidV7(int64_t now_ms) {
  const uint64_t high = static_cast<uint64_t>(now_ms) << 16U | (Random64() & 0xFFFU);
  return FormatUuid(high, Random64(), 7);
}

int64_t IdSource::SnapshotId() {
  constexpr auto kMask = static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
  const uint64_t high = Random64();
  const auto id = static_cast<int64_t>((high ^ Random64()) & kMask);
  return id == 0 ? 1 : id;
}

IdSource& SystemIds() {
  static OsIds ids;
  return ids;
}

uint64_t SeededIds::Random64() {
  // SplitMix64: the counter alone is the state, so concurrent callers need no lock.
  uint64_t z = state_.fetch_add(0x9E37'79B9'7F4A'7C15U) + 0x9E37'79B9'7F4A'7C15U;
  z = (z ^ (z >> 30U)) * 0xBF58'476D'1CE4'E5B9U;
  z = (z ^ (z >> 27U)) * 0x94D0'49BB'1331'11EBU;
  return z ^ (z >> 31U);
}

}  // namespace firn::runtime
