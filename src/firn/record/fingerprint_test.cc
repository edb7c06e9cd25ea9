#include "firn/record/fingerprint.h"

#include <gtest/gtest.h>

#include "firn/record/raw_batch.h"

namespace firn::record {
namespace {

TEST(FingerprintTest, ValueIsPersistedAndMustNotChange) {
  // Computed with Python's xxhash: xxh3_64(le64(3) + b"key" + le64(5) + b"value").
  EXPECT_EQ(FingerprintOf(7, 9, "key", "value").hash, 0x8f0f9480553cba75ULL);
  EXPECT_EQ(FingerprintOf(7, 9, std::nullopt, "value").hash, 0x9af25a25c06df048ULL);
}

TEST(FingerprintTest, KeepsOffsetAndTimestamp) {
  const Fingerprint print = FingerprintOf(7, 9, std::nullopt, std::nullopt);
  EXPECT_EQ(print.offset, 7);
  EXPECT_EQ(print.timestamp_ms, 9);
}

TEST(FingerprintTest, TellsNullFromEmptyAndKeyFromValue) {
  const auto hash = [](std::optional<std::string_view> key, std::optional<std::string_view> value) {
    return FingerprintOf(0, 0, key, value).hash;
  };
  EXPECT_NE(hash(std::nullopt, "a"), hash("", "a"));
  EXPECT_NE(hash("a", ""), hash("", "a"));
  EXPECT_NE(hash("ab", "c"), hash("a", "bc"));
}

TEST(FingerprintTest, RecordOfABatchEqualsItsParts) {
  RawBatch batch;
  batch.offsets = {41};
  batch.timestamps_ms = {1000};
  const uint32_t value = batch.arena.Append("value");
  batch.keys = {Slice{}};
  batch.values = {Slice{.begin = value, .length = 5}};
  EXPECT_EQ(FingerprintOf(batch, 0), FingerprintOf(41, 1000, std::nullopt, "value"));
}

}  // namespace
}  // namespace firn::record
