#pragma once

#include <atomic>
#include <cstdint>

#include "firn/runtime/ids.h"

namespace firn::runtime {

/// The same ids for the same seed: tests and simulations. Thread-safe, though the order then depends on the
/// threads.
class SeededIds final : public IdSource {
 public:
  explicit SeededIds(uint64_t seed) : state_(seed) {}
  uint64_t Random64() override;

 private:
  std::atomic<uint64_t> state_;
};

}  // namespace firn::runtime
