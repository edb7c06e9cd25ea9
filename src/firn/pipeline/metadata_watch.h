#pragma once

#include <cstdint>
#include <utility>

namespace firn::pipeline {

/// Watches the size of a table's metadata file: a stream must not bury its table. Most catalogs tell it with
/// a commit (LoadedTable::metadata_bytes); of the others the store is asked once in a while, by the
/// committers (BatchCommitContext). Does no I/O. Control thread only.
class MetadataWatch {
 public:
  static constexpr int64_t kAskEveryMs = 10 * 60'000;
  static constexpr int64_t kLargeBytes = int64_t{10} << 20;

  /// Whether the commit that begins now may ask the store, if the catalog does not tell.
  bool TakeTurn(int64_t now_ns) {
    if (asked_ && now_ns - asked_ns_ < kAskEveryMs * 1'000'000) return false;
    asked_ = true;
    asked_ns_ = now_ns;
    return true;
  }

  /// True when people should hear of it: it is large for the first time.
  bool Saw(int64_t bytes) { return bytes >= kLargeBytes && !std::exchange(told_, true); }

 private:
  bool asked_ = false;
  bool told_ = false;
  int64_t asked_ns_ = 0;
};

}  // namespace firn::pipeline
